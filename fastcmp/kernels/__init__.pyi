# The public names, and where each is loaded from.

from fastcmp.kernels.binomial import HalfBinomial as HalfBinomial
from fastcmp.kernels.binomial import binomial_half as binomial_half
from fastcmp.kernels.binomial import random_binomial as random_binomial
from fastcmp.kernels.bits import cluster_bits as cluster_bits
from fastcmp.kernels.bits import count_bits as count_bits
from fastcmp.kernels.bits import count_clusters as count_clusters
from fastcmp.kernels.bits import count_common_bits as count_common_bits
from fastcmp.kernels.bits import pack_equal as pack_equal
from fastcmp.kernels.bits import row_square_sum as row_square_sum
from fastcmp.kernels.bootstrap_intervals import BASIC as BASIC
from fastcmp.kernels.bootstrap_intervals import BCA as BCA
from fastcmp.kernels.bootstrap_intervals import PERCENTILE as PERCENTILE
from fastcmp.kernels.bootstrap_intervals import STUDENTIZED as STUDENTIZED
from fastcmp.kernels.bootstrap_intervals import basic_interval as basic_interval
from fastcmp.kernels.bootstrap_intervals import bca_interval as bca_interval
from fastcmp.kernels.bootstrap_intervals import bca_levels as bca_levels
from fastcmp.kernels.bootstrap_intervals import bootstrap_pvalue as bootstrap_pvalue
from fastcmp.kernels.bootstrap_intervals import (
    percentile_interval as percentile_interval,
)
from fastcmp.kernels.bootstrap_intervals import quantile_sorted as quantile_sorted
from fastcmp.kernels.bootstrap_intervals import (
    studentized_interval as studentized_interval,
)
from fastcmp.kernels.bounded_means import (
    anytime_mean_interval as anytime_mean_interval,
)
from fastcmp.kernels.bounded_means import bet_on_values as bet_on_values
from fastcmp.kernels.bounded_means import (
    empirical_bernstein_limits as empirical_bernstein_limits,
)
from fastcmp.kernels.bounded_means import log_mean_exp as log_mean_exp
from fastcmp.kernels.class_exchanges import (
    two_class_exchange_pvalue as two_class_exchange_pvalue,
)
from fastcmp.kernels.cluster_means import CR0 as CR0
from fastcmp.kernels.cluster_means import CR1 as CR1
from fastcmp.kernels.cluster_means import CR2 as CR2
from fastcmp.kernels.cluster_means import CR3 as CR3
from fastcmp.kernels.cluster_means import add_cluster_sums as add_cluster_sums
from fastcmp.kernels.cluster_means import cluster_factors as cluster_factors
from fastcmp.kernels.cluster_means import clustered_mean as clustered_mean
from fastcmp.kernels.cluster_means import mean_t as mean_t
from fastcmp.kernels.cluster_means import residual_squares as residual_squares
from fastcmp.kernels.cluster_means import t_quantile as t_quantile
from fastcmp.kernels.cost import CostOutcome as CostOutcome
from fastcmp.kernels.cost import cost_chi_square as cost_chi_square
from fastcmp.kernels.cost import cost_likelihood as cost_likelihood
from fastcmp.kernels.cost import cost_profile_interval as cost_profile_interval
from fastcmp.kernels.cost import cost_wald_interval as cost_wald_interval
from fastcmp.kernels.count_draws import cell_tables as cell_tables
from fastcmp.kernels.count_draws import draw_cells as draw_cells
from fastcmp.kernels.count_draws import swap_cells as swap_cells
from fastcmp.kernels.counts import count_agreement as count_agreement
from fastcmp.kernels.counts import count_labels as count_labels
from fastcmp.kernels.counts import count_paired as count_paired
from fastcmp.kernels.difference_evalues import (
    anytime_difference_interval as anytime_difference_interval,
)
from fastcmp.kernels.difference_evalues import (
    difference_log_evalue as difference_log_evalue,
)
from fastcmp.kernels.difference_evalues import (
    dirichlet_difference_interval as dirichlet_difference_interval,
)
from fastcmp.kernels.difference_evalues import (
    dirichlet_log_evalue as dirichlet_log_evalue,
)
from fastcmp.kernels.dirichlet import dirichlet_largest as dirichlet_largest
from fastcmp.kernels.dirichlet import random_exponentials as random_exponentials
from fastcmp.kernels.dirichlet import random_gamma as random_gamma
from fastcmp.kernels.evalues import (
    anytime_proportion_interval as anytime_proportion_interval,
)
from fastcmp.kernels.evalues import mcnemar_log_evalue as mcnemar_log_evalue
from fastcmp.kernels.evalues import (
    normal_mixture_boundary as normal_mixture_boundary,
)
from fastcmp.kernels.fold_counts import count_folds as count_folds
from fastcmp.kernels.fold_counts import simulate_folds as simulate_folds
from fastcmp.kernels.fold_t_tests import BlockedConstants as BlockedConstants
from fastcmp.kernels.fold_t_tests import FoldOutcome as FoldOutcome
from fastcmp.kernels.fold_t_tests import alpaydin_f as alpaydin_f
from fastcmp.kernels.fold_t_tests import blocked_constants as blocked_constants
from fastcmp.kernels.fold_t_tests import blocked_t as blocked_t
from fastcmp.kernels.fold_t_tests import bouckaert_frank_t as bouckaert_frank_t
from fastcmp.kernels.fold_t_tests import bouckaert_t as bouckaert_t
from fastcmp.kernels.fold_t_tests import calibrated_f as calibrated_f
from fastcmp.kernels.fold_t_tests import corrected_factor as corrected_factor
from fastcmp.kernels.fold_t_tests import dietterich_t as dietterich_t
from fastcmp.kernels.fold_t_tests import fold_t as fold_t
from fastcmp.kernels.fold_t_tests import kfold_t as kfold_t
from fastcmp.kernels.fold_t_tests import nadeau_bengio_t as nadeau_bengio_t
from fastcmp.kernels.fold_t_tests import resampled_t as resampled_t
from fastcmp.kernels.fold_t_tests import yildiz_t as yildiz_t
from fastcmp.kernels.fold_tables import ProportionOutcome as ProportionOutcome
from fastcmp.kernels.fold_tables import bcv_factor as bcv_factor
from fastcmp.kernels.fold_tables import bcv_mcnemar as bcv_mcnemar
from fastcmp.kernels.fold_tables import naive_mcnemar as naive_mcnemar
from fastcmp.kernels.fold_tables import proportion_z as proportion_z
from fastcmp.kernels.fold_z import bayle_z_in as bayle_z_in
from fastcmp.kernels.fold_z import bayle_z_out as bayle_z_out
from fastcmp.kernels.fold_z import conservative_z as conservative_z
from fastcmp.kernels.friedman_exact import add_difference as add_difference
from fastcmp.kernels.intervals import bonett_price_interval as bonett_price_interval
from fastcmp.kernels.intervals import newcombe_interval as newcombe_interval
from fastcmp.kernels.intervals import tango_interval as tango_interval
from fastcmp.kernels.intervals import tango_test as tango_test
from fastcmp.kernels.intervals import wald_interval as wald_interval
from fastcmp.kernels.intervals import wilson_interval as wilson_interval
from fastcmp.kernels.item_bootstrap import count_units as count_units
from fastcmp.kernels.item_bootstrap import draw_units as draw_units
from fastcmp.kernels.item_bootstrap import (
    jackknife_acceleration as jackknife_acceleration,
)
from fastcmp.kernels.item_bootstrap import resampled_mean as resampled_mean
from fastcmp.kernels.item_values import difference_moments as difference_moments
from fastcmp.kernels.margins_exact import MARGIN_EXACT_MAX_N as MARGIN_EXACT_MAX_N
from fastcmp.kernels.margins_exact import tango_exact as tango_exact
from fastcmp.kernels.max_t import difference_maxima as difference_maxima
from fastcmp.kernels.max_t import radial_quantile as radial_quantile
from fastcmp.kernels.max_t import radial_tail as radial_tail
from fastcmp.kernels.max_t import step_down as step_down
from fastcmp.kernels.max_t import step_down_tails as step_down_tails
from fastcmp.kernels.mcnemar_plans import (
    mcnemar_detectable_difference as mcnemar_detectable_difference,
)
from fastcmp.kernels.mcnemar_plans import (
    mcnemar_discordant_size as mcnemar_discordant_size,
)
from fastcmp.kernels.mcnemar_plans import mcnemar_sample_size as mcnemar_sample_size
from fastcmp.kernels.metric_jackknife import (
    metric_leave_one_out as metric_leave_one_out,
)
from fastcmp.kernels.metric_rates import F_BETA as F_BETA
from fastcmp.kernels.metric_rates import FOWLKES_MALLOWS as FOWLKES_MALLOWS
from fastcmp.kernels.metric_rates import INFORMEDNESS as INFORMEDNESS
from fastcmp.kernels.metric_rates import JACCARD as JACCARD
from fastcmp.kernels.metric_rates import LR_MINUS as LR_MINUS
from fastcmp.kernels.metric_rates import LR_PLUS as LR_PLUS
from fastcmp.kernels.metric_rates import MARKEDNESS as MARKEDNESS
from fastcmp.kernels.metric_rates import NPV as NPV
from fastcmp.kernels.metric_rates import ODDS_RATIO as ODDS_RATIO
from fastcmp.kernels.metric_rates import PRECISION as PRECISION
from fastcmp.kernels.metric_rates import RECALL as RECALL
from fastcmp.kernels.metric_rates import SPECIFICITY as SPECIFICITY
from fastcmp.kernels.metric_rates import class_rate as class_rate
from fastcmp.kernels.metric_slopes import metric_influence as metric_influence
from fastcmp.kernels.metric_slopes import metric_influences as metric_influences
from fastcmp.kernels.metrics import ACCURACY as ACCURACY
from fastcmp.kernels.metrics import COST as COST
from fastcmp.kernels.metrics import GEOMETRIC as GEOMETRIC
from fastcmp.kernels.metrics import KAPPA as KAPPA
from fastcmp.kernels.metrics import LISTED as LISTED
from fastcmp.kernels.metrics import MACRO as MACRO
from fastcmp.kernels.metrics import MCC as MCC
from fastcmp.kernels.metrics import MICRO as MICRO
from fastcmp.kernels.metrics import OF_MEANS as OF_MEANS
from fastcmp.kernels.metrics import ONE_CLASS as ONE_CLASS
from fastcmp.kernels.metrics import SCOTT_PI as SCOTT_PI
from fastcmp.kernels.metrics import TRUTH as TRUTH
from fastcmp.kernels.metrics import UNION as UNION
from fastcmp.kernels.metrics import WEIGHTED as WEIGHTED
from fastcmp.kernels.metrics import MetricSpec as MetricSpec
from fastcmp.kernels.metrics import metric_value as metric_value
from fastcmp.kernels.metrics import metric_values as metric_values
from fastcmp.kernels.multiplicity import bergmann_hommel as bergmann_hommel
from fastcmp.kernels.multiplicity import e_holm_sorted as e_holm_sorted
from fastcmp.kernels.multiplicity import fewest_models as fewest_models
from fastcmp.kernels.multiplicity import hommel_sorted as hommel_sorted
from fastcmp.kernels.paired import ASYMPTOTIC as ASYMPTOTIC
from fastcmp.kernels.paired import CORRECTED as CORRECTED
from fastcmp.kernels.paired import EXACT as EXACT
from fastcmp.kernels.paired import MIDP as MIDP
from fastcmp.kernels.paired import mcnemar_asymptotic as mcnemar_asymptotic
from fastcmp.kernels.paired import mcnemar_corrected as mcnemar_corrected
from fastcmp.kernels.paired import mcnemar_exact as mcnemar_exact
from fastcmp.kernels.paired import mcnemar_midp as mcnemar_midp
from fastcmp.kernels.paired import odds_ratio_exact_interval as odds_ratio_exact_interval
from fastcmp.kernels.paired import odds_ratio_midp_interval as odds_ratio_midp_interval
from fastcmp.kernels.planned_margins import EQUIVALENCE as EQUIVALENCE
from fastcmp.kernels.planned_margins import NONINFERIORITY as NONINFERIORITY
from fastcmp.kernels.planned_margins import SUPERIORITY as SUPERIORITY
from fastcmp.kernels.planned_margins import (
    margin_detectable_difference as margin_detectable_difference,
)
from fastcmp.kernels.planned_margins import margin_power as margin_power
from fastcmp.kernels.planned_margins import margin_sample_size as margin_sample_size
from fastcmp.kernels.planned_mcnemar import mcnemar_assurance as mcnemar_assurance
from fastcmp.kernels.planned_mcnemar import (
    mcnemar_conditional_power as mcnemar_conditional_power,
)
from fastcmp.kernels.planned_mcnemar import (
    mcnemar_interim_power as mcnemar_interim_power,
)
from fastcmp.kernels.planned_mcnemar import mcnemar_power as mcnemar_power
from fastcmp.kernels.planned_mcnemar import (
    mcnemar_predictive_power as mcnemar_predictive_power,
)
from fastcmp.kernels.repeats import g_pass_at_k as g_pass_at_k
from fastcmp.kernels.repeats import pass_at_k as pass_at_k
from fastcmp.kernels.repeats import pass_at_k_variance as pass_at_k_variance
from fastcmp.kernels.repeats import pass_hat_k as pass_hat_k
from fastcmp.kernels.repeats import pass_hat_k_variance as pass_hat_k_variance
from fastcmp.kernels.resample import bootstrap_aucs as bootstrap_aucs
from fastcmp.kernels.resample import bootstrap_rocs as bootstrap_rocs
from fastcmp.kernels.resample import highest_at as highest_at
from fastcmp.kernels.resample import partial_area as partial_area
from fastcmp.kernels.resample import permuted_differences as permuted_differences
from fastcmp.kernels.resample import weighted_auc as weighted_auc
from fastcmp.kernels.resample import weighted_roc as weighted_roc
from fastcmp.kernels.rng import deal as deal
from fastcmp.kernels.rng import random_below as random_below
from fastcmp.kernels.rng import random_normals as random_normals
from fastcmp.kernels.rng import shuffle as shuffle
from fastcmp.kernels.rng import shuffle_within as shuffle_within
from fastcmp.kernels.roc import Concordance as Concordance
from fastcmp.kernels.roc import concordance_sorted as concordance_sorted
from fastcmp.kernels.roc import placements as placements
from fastcmp.kernels.roc import sweep_sorted as sweep_sorted
from fastcmp.kernels.roc import venkatraman_exchanges as venkatraman_exchanges
from fastcmp.kernels.roc import venkatraman_statistic as venkatraman_statistic
from fastcmp.kernels.sign_flips import SIGN_FLIP_MAX_FLOATS as SIGN_FLIP_MAX_FLOATS
from fastcmp.kernels.sign_flips import SIGN_FLIP_MAX_SUM as SIGN_FLIP_MAX_SUM
from fastcmp.kernels.sign_flips import flip_sums as flip_sums
from fastcmp.kernels.sign_flips import random_signs as random_signs
from fastcmp.kernels.sign_flips import sign_flip_floats as sign_flip_floats
from fastcmp.kernels.sign_flips import sign_flip_whole as sign_flip_whole
from fastcmp.kernels.signed_ranks import PRATT as PRATT
from fastcmp.kernels.signed_ranks import WILCOX as WILCOX
from fastcmp.kernels.signed_ranks import ZSPLIT as ZSPLIT
from fastcmp.kernels.signed_ranks import signed_rank_z as signed_rank_z
from fastcmp.kernels.signed_ranks import signed_sum_pvalue as signed_sum_pvalue
from fastcmp.kernels.special import betainc as betainc
from fastcmp.kernels.special import betaincinv as betaincinv
from fastcmp.kernels.special import chdtrc as chdtrc
from fastcmp.kernels.special import fdtrc as fdtrc
from fastcmp.kernels.special import gammainc as gammainc
from fastcmp.kernels.special import log1pmx as log1pmx
from fastcmp.kernels.special import ndtri as ndtri
from fastcmp.kernels.special import snedecor_tail as snedecor_tail
from fastcmp.kernels.special import stdtr as stdtr
from fastcmp.kernels.special import stdtrit as stdtrit
from fastcmp.kernels.special import student_tails as student_tails
from fastcmp.kernels.special import (
    studentized_range_isf as studentized_range_isf,
)
from fastcmp.kernels.special import (
    studentized_range_pdf as studentized_range_pdf,
)
from fastcmp.kernels.special import (
    studentized_range_sf as studentized_range_sf,
)
from fastcmp.kernels.status import DEGENERATE as DEGENERATE
from fastcmp.kernels.status import GREATER as GREATER
from fastcmp.kernels.status import INVALID as INVALID
from fastcmp.kernels.status import LESS as LESS
from fastcmp.kernels.status import NOT_CONVERGED as NOT_CONVERGED
from fastcmp.kernels.status import OK as OK
from fastcmp.kernels.status import TWO_SIDED as TWO_SIDED
from fastcmp.kernels.status import UNDEFINED as UNDEFINED
from fastcmp.kernels.status import Interval as Interval
from fastcmp.kernels.status import Outcome as Outcome
from fastcmp.kernels.status import Status as Status
from fastcmp.kernels.symmetry import ChiSquareOutcome as ChiSquareOutcome
from fastcmp.kernels.symmetry import CochranOutcome as CochranOutcome
from fastcmp.kernels.symmetry import bhapkar as bhapkar
from fastcmp.kernels.symmetry import bowker as bowker
from fastcmp.kernels.symmetry import cochrans_q as cochrans_q
from fastcmp.kernels.symmetry import stuart_maxwell as stuart_maxwell
from fastcmp.kernels.task_ranks import count_wins as count_wins
from fastcmp.kernels.task_ranks import midranks_sorted as midranks_sorted
from fastcmp.kernels.unconditional import UNCONDITIONAL_MAX_N as UNCONDITIONAL_MAX_N
from fastcmp.kernels.unconditional import mcnemar_unconditional as mcnemar_unconditional
from fastcmp.kernels.unpaired import miettinen_nurminen as miettinen_nurminen
from fastcmp.kernels.unpaired import (
    miettinen_nurminen_interval as miettinen_nurminen_interval,
)
from fastcmp.kernels.unpaired import (
    newcombe_unpaired_interval as newcombe_unpaired_interval,
)
from fastcmp.kernels.unpaired_exact import UNPAIRED_EXACT_MAX_N as UNPAIRED_EXACT_MAX_N
from fastcmp.kernels.unpaired_exact import barnard_exact as barnard_exact
from fastcmp.kernels.unpaired_exact import boschloo_exact as boschloo_exact
from fastcmp.kernels.unpaired_exact import score_exact as score_exact
from fastcmp.kernels.unpaired_exact import (
    score_exact_interval as score_exact_interval,
)
from fastcmp.kernels.walsh_averages import hodges_lehmann as hodges_lehmann
from fastcmp.kernels.walsh_averages import signed_rank_quantile as signed_rank_quantile
