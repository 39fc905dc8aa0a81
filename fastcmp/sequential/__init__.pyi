# The public names, and where each is loaded from.

from fastcmp.sequential.evalues import e_adjust as e_adjust
from fastcmp.sequential.evalues import normal_mixture_boundary as normal_mixture_boundary
from fastcmp.sequential.looks_result import LooksResult as LooksResult
from fastcmp.sequential.mcnemar_tests import EvalueResult as EvalueResult
from fastcmp.sequential.mcnemar_tests import McNemarLooks as McNemarLooks
from fastcmp.sequential.mcnemar_tests import mcnemar as mcnemar
from fastcmp.sequential.mcnemar_tests import mcnemar_looks as mcnemar_looks
from fastcmp.sequential.mean_tests import MeanEvalueResult as MeanEvalueResult
from fastcmp.sequential.mean_tests import MeanLooks as MeanLooks
from fastcmp.sequential.mean_tests import mean_test as mean_test
from fastcmp.sequential.pair_looks import PairLooks as PairLooks
from fastcmp.sequential.pair_looks import PairLooksResult as PairLooksResult
