"""Resampling designs, under the name that users import."""

from fastcmp.crossval.designs import *
from fastcmp.crossval.designs import __all__
