"""Resampling designs, under the name that users import."""

from fastcmp.crossval.designs import *  # noqa: F403
from fastcmp.crossval.designs import __all__  # noqa: F401
