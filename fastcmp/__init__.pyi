# The public names, and where each is loaded from: `_lazy.attach` reads them here.

from fastcmp import dask, plot  # noqa: F401  # loaded on use, not by `import *`
from fastcmp import datasets as datasets
from fastcmp import designs as designs
from fastcmp import kernels as kernels
from fastcmp import planning as planning
from fastcmp import records as records
from fastcmp import sequential as sequential
from fastcmp import stream as stream
from fastcmp.core.records import from_dict as from_dict
from fastcmp.counts.label_counts import count_labels as count_labels
from fastcmp.crossval.comparisons import compare_cv as compare_cv
from fastcmp.crossval.comparisons import compare_cv_all as compare_cv_all
from fastcmp.crossval.fold_comparison import compare_folds as compare_folds
from fastcmp.crossval.fold_tests import fold_test as fold_test
from fastcmp.crossval.mcnemar import bcv_mcnemar as bcv_mcnemar
from fastcmp.data import load_demsar as load_demsar
from fastcmp.data import load_digits as load_digits
from fastcmp.data import load_digits_scores as load_digits_scores
from fastcmp.data import load_digits_values as load_digits_values
from fastcmp.datasets.comparison import compare_datasets as compare_datasets
from fastcmp.datasets.strengths import bradley_terry as bradley_terry
from fastcmp.inputs.long_tables import from_long as from_long
from fastcmp.io.logs.battles import read_battles as read_battles
from fastcmp.io.logs.inspection import inspect_results as inspect_results
from fastcmp.io.logs.read_results import read_results as read_results
from fastcmp.items.best_models import best_set as best_set
from fastcmp.items.best_models import model_confidence_set as model_confidence_set
from fastcmp.items.best_models import rank_sets as rank_sets
from fastcmp.items.best_models import superior_ability as superior_ability
from fastcmp.items.best_models import winner_estimate as winner_estimate
from fastcmp.items.compare_means import compare_means as compare_means
from fastcmp.items.compare_means import compare_means_from_moments as compare_means_from_moments
from fastcmp.items.components import variance_components as variance_components
from fastcmp.items.losses import brier_values as brier_values
from fastcmp.items.losses import correct_values as correct_values
from fastcmp.items.losses import log_loss_values as log_loss_values
from fastcmp.items.max_t import max_t as max_t
from fastcmp.items.mean_difference import mean_difference as mean_difference
from fastcmp.items.repeats import g_pass_at_k as g_pass_at_k
from fastcmp.items.repeats import pass_at_k as pass_at_k
from fastcmp.items.repeats import pass_hat_k as pass_hat_k
from fastcmp.items.repeats import pass_variance as pass_variance
from fastcmp.metrics.choice import make_metric as make_metric
from fastcmp.metrics.comparison import compare_metric as compare_metric
from fastcmp.metrics.fleiss import fleiss_kappa as fleiss_kappa
from fastcmp.metrics.kappa import cohen_kappa as cohen_kappa
from fastcmp.metrics.metric import metric as metric
from fastcmp.paired.accuracy_margins import margin_tests_from_counts as margin_tests_from_counts
from fastcmp.paired.cost_test import cost_test as cost_test
from fastcmp.paired.cost_test import cost_test_from_counts as cost_test_from_counts
from fastcmp.paired.holdout import compare_holdout as compare_holdout
from fastcmp.paired.holdout import compare_labels as compare_labels
from fastcmp.paired.margins import margin_decision as margin_decision
from fastcmp.paired.margins import margin_tests as margin_tests
from fastcmp.paired.mcnemar import mcnemar as mcnemar
from fastcmp.paired.mcnemar import mcnemar_clustered_from_counts as mcnemar_clustered_from_counts
from fastcmp.paired.mcnemar import mcnemar_from_counts as mcnemar_from_counts
from fastcmp.paired.mcnemar import mcnemar_stratified_from_counts as mcnemar_stratified_from_counts
from fastcmp.paired.mcnemar import mcnemar_table as mcnemar_table
from fastcmp.paired.symmetry import symmetry as symmetry
from fastcmp.paired.unpaired_accuracies import accuracy_unpaired as accuracy_unpaired
from fastcmp.paired.unpaired_accuracies import (
    accuracy_unpaired_from_counts as accuracy_unpaired_from_counts,
)
from fastcmp.paired.unpaired_means import means_unpaired as means_unpaired
from fastcmp.pairwise.adjust import adjust as adjust
from fastcmp.pairwise.agreement import compare_predictions as compare_predictions
from fastcmp.pairwise.cochran import cochrans_q as cochrans_q
from fastcmp.pairwise.compare_all import compare_all as compare_all
from fastcmp.pairwise.compare_all import compare_all_from_counts as compare_all_from_counts
from fastcmp.pairwise.gate import gate as gate
from fastcmp.pairwise.metric_equality import metric_equality as metric_equality
from fastcmp.pairwise.model_estimates import Estimates as Estimates
from fastcmp.pairwise.simultaneous_pairs import simultaneous_pairs as simultaneous_pairs
from fastcmp.scores.auc import auc as auc
from fastcmp.scores.auc import auc_multiclass as auc_multiclass
from fastcmp.scores.auc import concordance as concordance
from fastcmp.scores.classification import classification_table as classification_table
from fastcmp.scores.classification import (
    classification_table_from_counts as classification_table_from_counts,
)
from fastcmp.scores.classification_report import classification_report as classification_report
from fastcmp.scores.compare_unpaired import compare_unpaired as compare_unpaired
from fastcmp.scores.curves import average_precision as average_precision
from fastcmp.scores.curves import det_curve as det_curve
from fastcmp.scores.curves import precision_recall_curve as precision_recall_curve
from fastcmp.scores.curves import roc_curve as roc_curve
from fastcmp.scores.curves import threshold_sweep as threshold_sweep
from fastcmp.scores.cutpoints import optimal_cutpoint as optimal_cutpoint
from fastcmp.scores.delong import delong as delong
from fastcmp.scores.delong import delong_unpaired as delong_unpaired
from fastcmp.scores.delong import hanley_mcneil as hanley_mcneil
from fastcmp.scores.lift import gain_curve as gain_curve
from fastcmp.scores.lift import ks_statistic as ks_statistic
from fastcmp.scores.lift import lift_table as lift_table
from fastcmp.scores.paired_measures import (
    compare_sensitivity_specificity as compare_sensitivity_specificity,
)
from fastcmp.scores.paired_ratio import screen_positive_ratio as screen_positive_ratio
from fastcmp.scores.resampling import auc_bootstrap as auc_bootstrap
from fastcmp.scores.resampling import auc_permutation_test as auc_permutation_test
from fastcmp.scores.roc_bands import roc_band as roc_band
from fastcmp.scores.roc_bands import venkatraman as venkatraman
from fastcmp.stream.score_state import auc_from_counts as auc_from_counts

__version__: str
from fastcmp.items.signed_rank import signed_rank as signed_rank
