"""Compiled kernels, callable from Python and from a user's own ``@njit`` code.

They take counts, codes or packed bits, never raise, hold no GIL and start no threads.
Where there is no answer they return NaN and say why in ``status``.
"""

from __future__ import annotations

from fastcmp.kernels.binomial import HalfBinomial, binomial_half
from fastcmp.kernels.bits import (
    LINE_WORDS,
    TILE_ROWS,
    allocate_words,
    count_bits,
    count_common_bits,
    discordant_pairs,
    discordant_tile,
    pack_equal,
    row_square_sum,
)
from fastcmp.kernels.cochran import CochranOutcome, cochrans_q
from fastcmp.kernels.counts import count_agreement, count_paired
from fastcmp.kernels.intervals import (
    BONETT_PRICE,
    NEWCOMBE,
    TANGO,
    WALD,
    bonett_price_interval,
    difference_interval_many,
    newcombe_interval,
    odds_ratio_exact_interval,
    odds_ratio_midp_interval,
    tango_interval,
    wald_interval,
    wilson_interval,
)
from fastcmp.kernels.multiplicity import hommel_sorted
from fastcmp.kernels.paired import (
    ASYMPTOTIC,
    CORRECTED,
    EXACT,
    MIDP,
    mcnemar_asymptotic,
    mcnemar_corrected,
    mcnemar_exact,
    mcnemar_many,
    mcnemar_midp,
)
from fastcmp.kernels.roots import itp_step
from fastcmp.kernels.special import betainc, betaincinv, chdtrc, erfcx, fdtrc, ndtri
from fastcmp.kernels.status import (
    DEGENERATE,
    GREATER,
    INVALID,
    LESS,
    NOT_CONVERGED,
    OK,
    TWO_SIDED,
    Interval,
    Outcome,
    Status,
)
from fastcmp.kernels.symmetry import ChiSquareOutcome, bowker, stuart_maxwell
from fastcmp.kernels.unconditional import UNCONDITIONAL_MAX_N, mcnemar_unconditional

__all__ = [
    "ASYMPTOTIC",
    "BONETT_PRICE",
    "CORRECTED",
    "DEGENERATE",
    "EXACT",
    "GREATER",
    "INVALID",
    "LESS",
    "LINE_WORDS",
    "MIDP",
    "NEWCOMBE",
    "NOT_CONVERGED",
    "OK",
    "TANGO",
    "TILE_ROWS",
    "TWO_SIDED",
    "UNCONDITIONAL_MAX_N",
    "WALD",
    "ChiSquareOutcome",
    "CochranOutcome",
    "HalfBinomial",
    "Interval",
    "Outcome",
    "Status",
    "allocate_words",
    "betainc",
    "betaincinv",
    "binomial_half",
    "bonett_price_interval",
    "bowker",
    "chdtrc",
    "cochrans_q",
    "count_agreement",
    "count_bits",
    "count_common_bits",
    "count_paired",
    "difference_interval_many",
    "discordant_pairs",
    "discordant_tile",
    "erfcx",
    "fdtrc",
    "hommel_sorted",
    "itp_step",
    "mcnemar_asymptotic",
    "mcnemar_corrected",
    "mcnemar_exact",
    "mcnemar_many",
    "mcnemar_midp",
    "mcnemar_unconditional",
    "ndtri",
    "newcombe_interval",
    "odds_ratio_exact_interval",
    "odds_ratio_midp_interval",
    "pack_equal",
    "row_square_sum",
    "stuart_maxwell",
    "tango_interval",
    "wald_interval",
    "wilson_interval",
]
