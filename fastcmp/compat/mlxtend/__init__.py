"""Functions of `mlxtend.evaluate` under their own names and signatures.

Write ``from fastcmp.compat.mlxtend import mcnemar`` in place of ``from mlxtend.evaluate
import mcnemar``. Names, arguments, defaults and what is returned are those of mlxtend
0.25; the numbers are fastcmp's. Where they differ, the Notes of the function say why.
Random draws are those of mlxtend for the same seed.

Errors are ValueError or TypeError, also where mlxtend raises AttributeError or
NotImplementedError. Labels may be lists, series and whatever else fastcmp reads. A
missing one is refused (mlxtend counts NaN as wrong, and None as a label like others).
So are labels that can never be equal, such as 1 and "1" (it counts them as wrong).
Estimators are cloned before they are fitted (mlxtend fits those that it is given).

Not here: `BootstrapOutOfBag`, `GroupTimeSeriesSplit`, `PredefinedHoldoutSplit`,
`RandomHoldoutSplit`, `create_counterfactual`, `feature_importance_permutation`.
"""

from fastcmp.compat.mlxtend.fitted import (
    bias_variance_decomp,
    bootstrap_point632_score,
    combined_ftest_5x2cv,
    paired_ttest_5x2cv,
    paired_ttest_kfold_cv,
    paired_ttest_resampled,
)
from fastcmp.compat.mlxtend.labels import (
    accuracy_score,
    cochrans_q,
    confusion_matrix,
    ftest,
    lift_score,
    mcnemar,
    mcnemar_table,
    mcnemar_tables,
    scoring,
)
from fastcmp.compat.mlxtend.samples import bootstrap, permutation_test, proportion_difference

__all__ = [
    "accuracy_score",
    "bias_variance_decomp",
    "bootstrap",
    "bootstrap_point632_score",
    "cochrans_q",
    "combined_ftest_5x2cv",
    "confusion_matrix",
    "ftest",
    "lift_score",
    "mcnemar",
    "mcnemar_table",
    "mcnemar_tables",
    "paired_ttest_5x2cv",
    "paired_ttest_kfold_cv",
    "paired_ttest_resampled",
    "permutation_test",
    "proportion_difference",
    "scoring",
]
