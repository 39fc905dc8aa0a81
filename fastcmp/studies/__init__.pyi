# The public names, and where each is loaded from.

from fastcmp.studies import algorithms as algorithms
from fastcmp.studies import populations as populations
from fastcmp.studies.algorithms import TrueError as TrueError
from fastcmp.studies.algorithms import predict_folds as predict_folds
from fastcmp.studies.algorithms import true_error as true_error
from fastcmp.studies.correlation_study import CorrelationStudy as CorrelationStudy
from fastcmp.studies.error_study import ErrorStudy as ErrorStudy
from fastcmp.studies.power_study import PowerStudy as PowerStudy
from fastcmp.studies.run import Options as Options
from fastcmp.studies.run import correlation as correlation
from fastcmp.studies.run import errors as errors
from fastcmp.studies.run import power as power
from fastcmp.studies.run import table5 as table5
from fastcmp.studies.type_one_errors import TypeOneErrors as TypeOneErrors
