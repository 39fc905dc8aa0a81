"""Which of these classifiers is really better?

Tests, intervals and rankings for classifiers on the same samples, from two models to
thousands, on Numba kernels that are public in `fastcmp.kernels`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastcmp import designs, kernels, stream
    from fastcmp.agreement import compare_predictions
    from fastcmp.agreement_result import AgreementResult
    from fastcmp.areas import ConcordanceResult, auc, concordance
    from fastcmp.auc_comparison import AUCComparison, ContrastResult
    from fastcmp.batch import compare_all, compare_all_from_counts
    from fastcmp.classification import (
        classification_table,
        classification_table_from_counts,
        compare_sensitivity_specificity,
    )
    from fastcmp.classification_result import ClassificationTable
    from fastcmp.cochran import CochranResult, cochrans_q, cochrans_q_from_counts
    from fastcmp.cost import cost_test, cost_test_from_counts
    from fastcmp.cost_result import CostResult
    from fastcmp.crossval.bcv_result import BCVMcNemarResult, BetaPosterior
    from fastcmp.crossval.comparison_result import CVComparison, CVPairwiseResult
    from fastcmp.crossval.comparisons import compare_cv, compare_cv_all
    from fastcmp.crossval.mcnemar import bcv_mcnemar, naive_mcnemar, proportion_z
    from fastcmp.crossval.result import FoldTestResult
    from fastcmp.crossval.t_tests import (
        bouckaert_frank_t,
        bouckaert_t,
        kfold_t,
        nadeau_bengio_t,
        resampled_t,
    )
    from fastcmp.crossval.two_fold import (
        alpaydin_f,
        blocked_t,
        calibrated_f,
        dietterich_t,
        yildiz_t,
    )
    from fastcmp.crossval.z_tests import bayle_z, conservative_z
    from fastcmp.cutpoints import optimal_cutpoint
    from fastcmp.cutpoints_result import CutpointResult
    from fastcmp.data import load_digits, load_digits_scores
    from fastcmp.delong_result import DelongResult
    from fastcmp.delongs import delong, delong_unpaired, hanley_mcneil
    from fastcmp.det import DetCurve, det_curve
    from fastcmp.holdout import compare_holdout, compare_labels
    from fastcmp.holdout_result import HoldoutResult
    from fastcmp.label_counts import LabelCounts, count_labels
    from fastcmp.lift import GainCurve, KsResult, gain_curve, ks_statistic, lift_table
    from fastcmp.lift_result import LiftTable
    from fastcmp.multiclass import auc_multiclass
    from fastcmp.multiplicity import adjust
    from fastcmp.paired import mcnemar, mcnemar_from_counts, mcnemar_table
    from fastcmp.pairwise import PairwiseResult
    from fastcmp.predictive_values import MeasureComparison, PredictiveValueTest
    from fastcmp.resample import (
        BootstrapResult,
        PermutationResult,
        auc_bootstrap,
        auc_permutation_test,
    )
    from fastcmp.results import (
        ConfidenceInterval,
        McNemarResult,
        SymmetryResult,
    )
    from fastcmp.roc import (
        PrecisionRecallCurve,
        RocCurve,
        average_precision,
        precision_recall_curve,
        roc_curve,
    )
    from fastcmp.roc_bands import RocBand, roc_band
    from fastcmp.roc_equality import VenkatramanResult, venkatraman
    from fastcmp.stream.area_from_counts import auc_from_counts
    from fastcmp.stream.score_bounds import AreaBounds
    from fastcmp.sweeps import ThresholdSweep, threshold_sweep
    from fastcmp.symmetry import (
        bowker,
        bowker_from_counts,
        stuart_maxwell,
        stuart_maxwell_from_counts,
    )
    from fastcmp.unpaired import (
        UnpairedResult,
        accuracy_unpaired,
        accuracy_unpaired_from_counts,
    )

__version__ = "0.1.0"

#: Where each public name lives; loaded when it is first asked for.
_HOMES = {
    "AUCComparison": "auc_comparison",
    "AgreementResult": "agreement_result",
    "AreaBounds": "stream.score_bounds",
    "BCVMcNemarResult": "crossval.bcv_result",
    "BetaPosterior": "crossval.bcv_result",
    "BootstrapResult": "resample",
    "CVComparison": "crossval.comparison_result",
    "CVPairwiseResult": "crossval.comparison_result",
    "ClassificationTable": "classification_result",
    "CochranResult": "cochran",
    "ConcordanceResult": "areas",
    "ConfidenceInterval": "results",
    "ContrastResult": "auc_comparison",
    "CostResult": "cost_result",
    "CutpointResult": "cutpoints_result",
    "DelongResult": "delong_result",
    "DetCurve": "det",
    "FoldTestResult": "crossval.result",
    "GainCurve": "lift",
    "HoldoutResult": "holdout_result",
    "KsResult": "lift",
    "LabelCounts": "label_counts",
    "LiftTable": "lift_result",
    "McNemarResult": "results",
    "MeasureComparison": "predictive_values",
    "PairwiseResult": "pairwise",
    "PermutationResult": "resample",
    "PrecisionRecallCurve": "roc",
    "PredictiveValueTest": "predictive_values",
    "RocBand": "roc_bands",
    "RocCurve": "roc",
    "SymmetryResult": "results",
    "ThresholdSweep": "sweeps",
    "UnpairedResult": "unpaired",
    "VenkatramanResult": "roc_equality",
    "accuracy_unpaired": "unpaired",
    "accuracy_unpaired_from_counts": "unpaired",
    "adjust": "multiplicity",
    "alpaydin_f": "crossval.two_fold",
    "auc": "areas",
    "auc_bootstrap": "resample",
    "auc_from_counts": "stream.area_from_counts",
    "auc_multiclass": "multiclass",
    "auc_permutation_test": "resample",
    "average_precision": "roc",
    "bayle_z": "crossval.z_tests",
    "bcv_mcnemar": "crossval.mcnemar",
    "blocked_t": "crossval.two_fold",
    "bouckaert_frank_t": "crossval.t_tests",
    "bouckaert_t": "crossval.t_tests",
    "bowker": "symmetry",
    "bowker_from_counts": "symmetry",
    "calibrated_f": "crossval.two_fold",
    "classification_table": "classification",
    "classification_table_from_counts": "classification",
    "cochrans_q": "cochran",
    "cochrans_q_from_counts": "cochran",
    "compare_all": "batch",
    "compare_all_from_counts": "batch",
    "compare_cv": "crossval.comparisons",
    "compare_cv_all": "crossval.comparisons",
    "compare_holdout": "holdout",
    "compare_labels": "holdout",
    "compare_predictions": "agreement",
    "compare_sensitivity_specificity": "classification",
    "concordance": "areas",
    "conservative_z": "crossval.z_tests",
    "cost_test": "cost",
    "cost_test_from_counts": "cost",
    "count_labels": "label_counts",
    "delong": "delongs",
    "delong_unpaired": "delongs",
    "det_curve": "det",
    "dietterich_t": "crossval.two_fold",
    "gain_curve": "lift",
    "hanley_mcneil": "delongs",
    "kfold_t": "crossval.t_tests",
    "ks_statistic": "lift",
    "lift_table": "lift",
    "load_digits": "data",
    "load_digits_scores": "data",
    "mcnemar": "paired",
    "mcnemar_from_counts": "paired",
    "mcnemar_table": "paired",
    "nadeau_bengio_t": "crossval.t_tests",
    "naive_mcnemar": "crossval.mcnemar",
    "optimal_cutpoint": "cutpoints",
    "precision_recall_curve": "roc",
    "proportion_z": "crossval.mcnemar",
    "resampled_t": "crossval.t_tests",
    "roc_band": "roc_bands",
    "roc_curve": "roc",
    "stuart_maxwell": "symmetry",
    "stuart_maxwell_from_counts": "symmetry",
    "threshold_sweep": "sweeps",
    "venkatraman": "roc_equality",
    "yildiz_t": "crossval.two_fold",
}

__all__ = [
    "AUCComparison",
    "AgreementResult",
    "AreaBounds",
    "BCVMcNemarResult",
    "BetaPosterior",
    "BootstrapResult",
    "CVComparison",
    "CVPairwiseResult",
    "ClassificationTable",
    "CochranResult",
    "ConcordanceResult",
    "ConfidenceInterval",
    "ContrastResult",
    "CostResult",
    "CutpointResult",
    "DelongResult",
    "DetCurve",
    "FoldTestResult",
    "GainCurve",
    "HoldoutResult",
    "KsResult",
    "LabelCounts",
    "LiftTable",
    "McNemarResult",
    "MeasureComparison",
    "PairwiseResult",
    "PermutationResult",
    "PrecisionRecallCurve",
    "PredictiveValueTest",
    "RocBand",
    "RocCurve",
    "SymmetryResult",
    "ThresholdSweep",
    "UnpairedResult",
    "VenkatramanResult",
    "__version__",
    "accuracy_unpaired",
    "accuracy_unpaired_from_counts",
    "adjust",
    "alpaydin_f",
    "auc",
    "auc_bootstrap",
    "auc_from_counts",
    "auc_multiclass",
    "auc_permutation_test",
    "average_precision",
    "bayle_z",
    "bcv_mcnemar",
    "blocked_t",
    "bouckaert_frank_t",
    "bouckaert_t",
    "bowker",
    "bowker_from_counts",
    "calibrated_f",
    "classification_table",
    "classification_table_from_counts",
    "cochrans_q",
    "cochrans_q_from_counts",
    "compare_all",
    "compare_all_from_counts",
    "compare_cv",
    "compare_cv_all",
    "compare_holdout",
    "compare_labels",
    "compare_predictions",
    "compare_sensitivity_specificity",
    "concordance",
    "conservative_z",
    "cost_test",
    "cost_test_from_counts",
    "count_labels",
    "delong",
    "delong_unpaired",
    "designs",
    "det_curve",
    "dietterich_t",
    "gain_curve",
    "hanley_mcneil",
    "kernels",
    "kfold_t",
    "ks_statistic",
    "lift_table",
    "load_digits",
    "load_digits_scores",
    "mcnemar",
    "mcnemar_from_counts",
    "mcnemar_table",
    "nadeau_bengio_t",
    "naive_mcnemar",
    "optimal_cutpoint",
    "precision_recall_curve",
    "proportion_z",
    "resampled_t",
    "roc_band",
    "roc_curve",
    "stream",
    "stuart_maxwell",
    "stuart_maxwell_from_counts",
    "threshold_sweep",
    "venkatraman",
    "yildiz_t",
]


def __getattr__(name: str) -> Any:
    if name in {"dask", "designs", "kernels", "plot", "stream"}:
        return import_module(f"fastcmp.{name}")
    if name not in _HOMES:
        message = f"module 'fastcmp' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"fastcmp.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
