"""Compiled kernels, callable from Python and from a user's own ``@njit`` code.

They take counts, codes or packed bits, never raise, hold no GIL and start no threads.
Where there is no answer they return NaN and say why in ``status``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: The kernels of each module, which is loaded when one of them is first asked for: the
#: special functions alone take a quarter of a second.
_KERNELS = {
    "binomial": ("HalfBinomial", "binomial_half"),
    "bits": (
        "LINE_WORDS",
        "TILE_ROWS",
        "allocate_words",
        "common_tile",
        "count_bits",
        "count_common_bits",
        "discordant_pairs",
        "pack_equal",
        "row_square_sum",
    ),
    "buckets": ("BUCKET_CELLS", "count_cells", "fill_buckets", "put_back"),
    "cochran": ("CochranOutcome", "cochrans_q"),
    "counts": ("count_agreement", "count_labels", "count_paired"),
    "cost": (
        "CHI_SQUARE",
        "LIKELIHOOD",
        "CostOutcome",
        "cost_chi_square",
        "cost_likelihood",
        "cost_test_many",
    ),
    "cost_interval": (
        "COST_PROFILE",
        "COST_WALD",
        "cost_interval_many",
        "cost_profile_interval",
        "cost_wald_interval",
    ),
    "crossval": ("FoldOutcome", "fold_t", "fold_t_many"),
    "crossval_z": (
        "bayle_z_in",
        "bayle_z_many",
        "bayle_z_out",
        "conservative_z",
        "conservative_z_many",
    ),
    "fold_counts": ("count_folds",),
    "fold_tables": (
        "ProportionOutcome",
        "bcv_factor",
        "bcv_mcnemar",
        "bcv_mcnemar_many",
        "naive_mcnemar",
        "naive_mcnemar_many",
        "proportion_z",
        "proportion_z_many",
    ),
    "intervals": (
        "BONETT_PRICE",
        "NEWCOMBE",
        "TANGO",
        "WALD",
        "bonett_price_interval",
        "difference_interval_many",
        "newcombe_interval",
        "tango_interval",
        "wald_interval",
        "wilson_interval",
    ),
    "multiplier": ("Multiplier", "find_multiplier"),
    "multiplicity": ("hommel_sorted",),
    "odds": ("odds_ratio_exact_interval", "odds_ratio_midp_interval"),
    "order": ("pack_order", "unpack_order"),
    "paired": (
        "ASYMPTOTIC",
        "CORRECTED",
        "EXACT",
        "MIDP",
        "mcnemar_asymptotic",
        "mcnemar_corrected",
        "mcnemar_exact",
        "mcnemar_many",
        "mcnemar_midp",
    ),
    "partition": ("deal", "deal_halves", "shuffle", "shuffle_within"),
    "placements": ("placements",),
    "resample": ("bootstrap_aucs", "permuted_differences", "weighted_auc"),
    "resampled": (
        "bouckaert_frank_t",
        "bouckaert_t",
        "corrected_factor",
        "kfold_t",
        "nadeau_bengio_t",
        "resampled_t",
    ),
    "rng": ("random_below",),
    "roc": (
        "PAIR_BASE",
        "ClassCounts",
        "Concordance",
        "concordance_sorted",
        "split_scores",
        "sweep_sorted",
    ),
    "roc_resample": ("bootstrap_rocs", "highest_at", "partial_area", "weighted_roc"),
    "roots": ("itp_step",),
    "score_bins": ("BinTables", "count_score_bins", "find_score_bins"),
    "slices": (
        "count_slices",
        "gather_codes",
        "order_by_class",
        "pack_slices",
        "slice_tile",
    ),
    "special": (
        "betainc",
        "betaincinv",
        "chdtrc",
        "fdtrc",
        "log1pmx",
        "ndtri",
        "stdtr",
        "stdtrit",
    ),
    "status": (
        "DEGENERATE",
        "GREATER",
        "INVALID",
        "LESS",
        "NOT_CONVERGED",
        "OK",
        "TWO_SIDED",
        "UNDEFINED",
        "Interval",
        "Outcome",
        "Status",
    ),
    "symmetry": (
        "ChiSquareOutcome",
        "bowker",
        "bowker_many",
        "stuart_maxwell",
        "stuart_maxwell_many",
    ),
    "tails": ("snedecor_tail", "student_tails"),
    "two_fold": (
        "ALPAYDIN_F",
        "CALIBRATED_F",
        "DIETTERICH_T",
        "YILDIZ_T",
        "BlockedConstants",
        "alpaydin_f",
        "blocked_constants",
        "blocked_t",
        "calibrated_f",
        "dietterich_t",
        "two_fold_many",
        "yildiz_t",
    ),
    "unconditional": ("UNCONDITIONAL_MAX_N", "mcnemar_unconditional"),
    "venkatraman": ("venkatraman_exchanges", "venkatraman_statistic"),
}
_HOMES = {name: module for module, names in _KERNELS.items() for name in names}

__all__ = sorted(_HOMES)  # noqa: PLE0605  # one list of names, not two


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        message = f"module 'fastcmp.kernels' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"fastcmp.kernels.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
