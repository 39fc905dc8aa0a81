"""What every public kernel promises, whatever it computes.

`EXAMPLES` holds arguments for each kernel; a new kernel without an example fails.
"""

import inspect
import math
import pkgutil
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from cases import thinned
from public_names import public_functions, refuse

from fastcmp import kernels
from fastcmp.kernels import CR2, CR3, EXACT, F_BETA, INVALID, MACRO, TWO_SIDED, Interval, MetricSpec

N_ITERATIONS = 5


class Example(NamedTuple):
    """Arguments of a kernel, and the arrays it writes, which follow them."""

    inputs: tuple
    outputs: tuple = ()


def ints(*values):
    return np.array(values, np.int64)


def zeros(*shape, dtype=np.int64):
    return np.zeros(shape, dtype)


def floats(*shape):
    return np.zeros(shape)


def example_words():
    """Three models over 70 samples, packed."""
    labels = np.random.default_rng(4).integers(0, 2, (4, 70), np.uint8)
    right = np.pad(labels[1:] == labels[0], ((0, 0), (0, 58)))
    return np.packbits(right, axis=1, bitorder="little").view(np.uint64)


Y, A, B = np.random.default_rng(3).integers(0, 3, (3, 200), np.uint8)
DEALT = Y.reshape(2, 100).astype(np.int16) - 1
WORDS = example_words()
TABLE = np.array([[20, 10, 5], [3, 30, 15], [0, 5, 40]])
#: A metric of a confusion matrix: macro F1 of three classes.
F1 = (MetricSpec(F_BETA, MACRO), np.ones(3, np.uint8), np.empty((0, 0)))
CONFUSION = TABLE.astype(float)
FOLD_TABLES = np.array([[[[9, 8], [1, 2]], [[7, 3], [6, 4]]], [[[9, 0], [0, 2]]] * 2])
FOLDS = np.random.default_rng(7).normal(0.01, 0.03, (10, 10))
FIVE_BY_TWO = FOLDS[0].reshape(5, 2)
UNITS = (FOLDS[0, :4], np.array([1.0, 2.0, 3.0, 2.0]), ints(0, 0, 1, 1), FOLDS[0, :2])
CODES = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 1]])
COSTS = np.array([-5.0, -1.0, 0.0, 1.0, 5.0])
SAMPLES = np.array([1.0, 12.0, 80.0, 25.0, 2.0])
SCORES = np.random.default_rng(5).normal(size=200).round(1)
POSITIVE = np.random.default_rng(6).integers(0, 2, 200, np.uint8)
#: Order, ties and classes of the scores, and how often each sample is drawn.
ROC = (np.argsort(SCORES), zeros(200, dtype=np.uint8), POSITIVE, np.arange(200) % 3)
ROWS = ROC[0][np.newaxis], ROC[1][np.newaxis], POSITIVE
NEGATIVES, POSITIVES = (np.sort(SCORES[flags]) for flags in (POSITIVE < 1, POSITIVE > 0))

VALUES = np.random.default_rng(8).normal(size=(2, 70))
SIZES = np.array([2.0, 3.0, 1.0, 4.0])
#: Three draws of three models, and two of their pairs.
DRAWS = np.array([[1.0, -2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
PAIRS = np.array([[0, 2], [0, 1]], np.int32)
NONE = floats(0)

EXAMPLES = {
    "dirichlet_largest": Example((13.0, 5.0, 3.0)),
    "gammainc": Example((2.0, 1.0)),
    "random_exponentials": Example((1, 0, 0), (floats(9, 3),)),
    "random_gamma": Example((2.5, 1, 0, 0)),
    "add_cluster_sums": Example((VALUES[0], VALUES[1], NONE, np.arange(70) % 4), (floats(4),)),
    "cluster_factors": Example((SIZES, SIZES, CR2), (floats(4),)),
    "clustered_mean": Example((SIZES**2, SIZES, SIZES, CR3)),
    "difference_moments": Example(tuple(VALUES), (floats(10),)),
    "mean_t": Example((0.25, 0.01, 10.0, TWO_SIDED)),
    "residual_squares": Example((SIZES**2, SIZES, np.ones(4))),
    "t_quantile": Example((10.0, 0.95)),
    "anytime_difference_interval": Example((11, 1, 100, 0.95)),
    "anytime_mean_interval": Example((VALUES[0] / 4, 0.95)),
    "anytime_proportion_interval": Example((11, 1, 0.5, 0.5, 0.95)),
    "bet_on_values": Example((VALUES[0] / 4, 0.1, np.array([0.5, -0.25])), (floats(2),)),
    "difference_log_evalue": Example((11, 1, 100, 0.05)),
    "dirichlet_difference_interval": Example((11, 1, 100, 0.95, (0.5, 0.5, 0.5))),
    "dirichlet_log_evalue": Example((11, 1, 100, 0.05, (0.5, 0.5, 0.5))),
    "e_holm_sorted": Example((np.array([0.5, 1.0, 7.0, 25.0]),)),
    "empirical_bernstein_limits": Example((np.abs(VALUES[0]) / 4, 0.025, 0.5), (floats(70),)),
    "log_mean_exp": Example((np.array([800.0, -3.0]),)),
    "mcnemar_log_evalue": Example((11, 1, 0.5, 0.5, 1)),
    "normal_mixture_boundary": Example((50.0, 6.3, 0.05, 1)),
    "two_class_exchange_pvalue": Example(
        (np.arange(8.0).reshape(2, 2, 2), F1[0], F1[1][:2].copy(), F1[2], 0, 1e-9)
    ),
    "alpaydin_f": Example((FIVE_BY_TWO,)),
    "margin_power": Example((40, 0.05, 0.05, 0.1, 0.05, 0)),
    "mcnemar_assurance": Example((400, 5, 2, 100, 0.05, EXACT, 1)),
    "mcnemar_conditional_power": Example((20, 0.15, 0.05, 0.05, EXACT, 0, True)),
    "mcnemar_interim_power": Example((12, 6, 100, (0.12, 0.06), 0.05, EXACT)),
    "mcnemar_power": Example((60, 0.02, 0.12, 0.05, EXACT, 0, False)),
    "mcnemar_predictive_power": Example((12, 6, 100, 100, 0.05, EXACT)),
    "barnard_exact": Example((7, 8, 3, 9, 1, False)),
    "basic_interval": Example((np.arange(9.0), 5.0, 0.5)),
    "bayle_z_in": Example((FOLDS[0], np.arange(10) % 3, 3)),
    "bayle_z_out": Example((FOLDS[0], 1)),
    "bca_interval": Example((np.arange(9.0), 4.0, 0.1, 0.5)),
    "bca_levels": Example((1150, 3, 1999, 0.00334, 0.95)),
    "bcv_factor": Example((5, 0.5, 0.5)),
    "bcv_mcnemar": Example((6.9, 12.7, 1.8, -1)),
    "betainc": Example((2.0, 3.0, 0.4)),
    "betaincinv": Example((2.0, 3.0, 0.4)),
    "bootstrap_pvalue": Example((np.arange(-1.0, 8.0), 3.0, 2, 0.1, 1e-12, 1)),
    "binomial_half": Example((130.0, 300.0)),
    "blocked_constants": Example((5, 0.5, 0.5)),
    "blocked_t": Example((FIVE_BY_TWO, 1.1, 9.0)),
    "bonett_price_interval": Example((11, 1, 100, 0.95)),
    "bootstrap_aucs": Example((*ROWS, 1, 0), (floats(3, 1),)),
    "bootstrap_rocs": Example((*ROWS, True, np.array([0.5, 0.9]), False, 1, 0), (floats(3, 1, 2),)),
    "boschloo_exact": Example((7, 8, 3, 9)),
    "bouckaert_frank_t": Example((FOLDS, 0.1, -1)),
    "bouckaert_t": Example((FOLDS,)),
    "bowker": Example((TABLE,)),
    "calibrated_f": Example((FIVE_BY_TWO,)),
    "chdtrc": Example((2.0, 7.5)),
    "class_rate": Example((F_BETA, 3.0, 4.0, 5.0, 20.0, 1.0)),
    "cluster_bits": Example((WORDS[0], ints(3, 40, 70)), (floats(3),)),
    "cochrans_q": Example((ints(84, 92, 92), 770, 100)),
    "conservative_z": Example((FOLDS[0], FOLDS[2:8].reshape(3, 2, 10))),
    "corrected_factor": Example((10, 0.1)),
    "count_wins": Example(
        (np.array([[1, 2, 1.5], [2, 1, 1.5], [3, 3, np.nan]], np.float32), 0, 3), (zeros(3, 3),)
    ),
    "count_agreement": Example((A, B), (zeros(3, 3),)),
    "count_bits": Example((WORDS[0],)),
    "count_clusters": Example((Y, A, B, np.arange(200) % 7), (zeros(4, 7),)),
    "count_common_bits": Example((WORDS[0], WORDS[1])),
    "count_folds": Example(
        (DEALT, *((x > 1).view(np.uint8).reshape(2, 100) for x in (A, B))), (zeros(2, 2, 2, 2),)
    ),
    "simulate_folds": Example((DEALT, SAMPLES[:3] / 100, 0.5, 0.05, 1, 0), (zeros(3, 2, 2, 2, 2),)),
    "add_difference": Example((np.ones(1), ints(1, 2, 4))),
    "midranks_sorted": Example(
        (np.array([0.1, 0.3, 0.3, np.nan]), ints(2, 0, 3, 1), np.zeros(4)), (floats(4),)
    ),
    "count_labels": Example((Y, A, B), (zeros(3, 3, 3),)),
    "count_paired": Example((Y, A, B), (zeros(2, 2),)),
    "concordance_sorted": Example((np.append(NEGATIVES, np.inf), np.append(POSITIVES, np.inf))),
    "cost_chi_square": Example((COSTS, SAMPLES, True)),
    "cost_likelihood": Example((COSTS, SAMPLES, 5.0)),
    "cost_profile_interval": Example((COSTS, SAMPLES, 130.0, 5.0, 0.95)),
    "cost_wald_interval": Example((COSTS, SAMPLES, 130.0, 5.0, 0.95)),
    "dietterich_t": Example((FIVE_BY_TWO, 1)),
    "deal": Example(
        (np.arange(5, dtype=np.int16), ints(3, 0, 4, 1, 2)), (zeros(5, dtype=np.int16),)
    ),
    "count_units": Example((np.array([[0, 2, 2], [1, 0, 1]]),), (floats(2, 3),)),
    "cell_tables": Example((CODES, np.ones((2, 4))), (floats(2, 2, 2, 2),)),
    "draw_cells": Example((ints(90, 30, 7, 2), ints(0, 0, 1, 1), 1, 0), (floats(3, 4),)),
    "draw_units": Example((ints(0, 0, 1, 1, 1), 1, 0), (floats(2, 5),)),
    "fdtrc": Example((2.0, 10.0, 4.1)),
    "flip_sums": Example((FOLDS, np.array([[5, 9, 1023]], np.uint64)), (floats(10, 3),)),
    "fold_t": Example((FOLDS[0], 0.02, 4.5)),
    "bergmann_hommel": Example((np.array([0.01, 0.03, 0.2]), 3)),
    "fewest_models": Example((10,)),
    "step_down": Example(
        (DRAWS, PAIRS, np.ones(2), np.array([0.0, 2.0]), TWO_SIDED), (zeros(2), floats(3))
    ),
    "step_down_tails": Example(
        (DRAWS, SIZES[:3], PAIRS, np.ones(2), np.array([0.5, 2.0]), (2.0, np.inf, TWO_SIDED)),
        (floats(2),),
    ),
    "radial_tail": Example((2.0, np.array([1.0, 0.5]), np.array([1.0, 2.0]), 2.0, np.inf)),
    "radial_quantile": Example((np.array([1.0, 0.5]), np.array([1.0, 2.0]), 2.0, 9.0, 0.05)),
    "hommel_sorted": Example((np.array([0.01, 0.02, 0.03, 0.9]),)),
    "hodges_lehmann": Example((np.arange(9.0) ** 2,)),
    "jackknife_acceleration": Example((*UNITS,)),
    "kfold_t": Example((FOLDS[0],)),
    "log1pmx": Example((0.01,)),
    "metric_influence": Example((CONFUSION, *F1), (np.empty((3, 3)),)),
    "metric_influences": Example((np.stack([CONFUSION] * 2), *F1), (np.empty((2, 3, 3)),)),
    "metric_leave_one_out": Example((CONFUSION, *F1), (np.empty((3, 3)),)),
    "metric_value": Example((CONFUSION, *F1)),
    "metric_values": Example((np.stack([CONFUSION] * 2), *F1), (np.empty(2),)),
    "mcnemar_asymptotic": Example((25, 15, 0)),
    "mcnemar_corrected": Example((25, 15, 1)),
    "mcnemar_exact": Example((25, 15, -1)),
    "mcnemar_midp": Example((25, 15, 0)),
    "mcnemar_unconditional": Example((1, 7, 21, 0)),
    "miettinen_nurminen": Example((56, 70, 48, 80, -0.1, 1)),
    "miettinen_nurminen_interval": Example((56, 70, 48, 80, 0.95)),
    "nadeau_bengio_t": Example((FOLDS[0], 90.0, 10.0)),
    "naive_mcnemar": Example((FOLD_TABLES[0],)),
    "ndtri": Example((0.975,)),
    "newcombe_interval": Example((1, 1, 7, 12, 0.9)),
    "newcombe_unpaired_interval": Example((56, 70, 48, 80, 0.95)),
    "odds_ratio_exact_interval": Example((11, 1, 0.95)),
    "odds_ratio_midp_interval": Example((11, 1, 0.95)),
    "g_pass_at_k": Example((4, 9, 3, 0.5)),
    "pass_at_k": Example((2, 9, 3)),
    "pass_at_k_variance": Example((2, 9, 3)),
    "pass_hat_k": Example((7, 9, 3)),
    "pass_hat_k_variance": Example((7, 9, 3)),
    "pack_equal": Example((Y, A), (zeros(4, dtype=np.uint64),)),
    "percentile_interval": Example((np.arange(9.0), 0.5)),
    "permuted_differences": Example(
        (ints(0, 3, 2, 1), zeros(4, dtype=np.uint8), np.array([0, 1], np.uint8), 1, 0), (floats(4),)
    ),
    "highest_at": Example((np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.8, 1.0]), 0.6)),
    "partial_area": Example((np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.8, 1.0]), 0.1, 0.6)),
    "placements": Example((np.argsort(SCORES), SCORES, POSITIVE), (floats(200),)),
    "proportion_z": Example((24, 58, 175, 0)),
    "quantile_sorted": Example((np.arange(9.0), 0.3)),
    "random_signs": Example((1, 0, 2), (zeros(2, 5, dtype=np.uint64),)),
    "random_below": Example((1, 0, 3, 6)),
    "random_binomial": Example((1, 0, 3, 1000, 0.3)),
    "difference_maxima": Example(
        (FOLDS[:6].copy(), np.ones((3, 6)), ints(0, 3, 5), ints(1, 0, 1)), (floats(2, 10),)
    ),
    "random_normals": Example((1, 0, 2), (floats(3, 5),)),
    "resampled_mean": Example((*UNITS, np.array([2.0, 1.0, 0.0, 2.0]))),
    "resampled_t": Example((FOLDS[0], 1)),
    "row_square_sum": Example((WORDS,)),
    "shuffle": Example((1, 0), (np.arange(9),)),
    "shuffle_within": Example((1, 0, ints(3, 7)), (np.arange(9),)),
    "signed_rank_quantile": Example((0.025, 12)),
    "signed_rank_z": Example((2, 86, 6.0, 14, 1, True, 0)),
    "signed_sum_pvalue": Example((ints(8, 42, -2, -4, 16, 20),)),
    "score_exact_interval": Example((3, 4, 1, 5, 0.9)),
    "score_exact": Example((9, 10, 7, 11, -0.1, 1)),
    "sign_flip_floats": Example((FOLDS[0], 1)),
    "sign_flip_whole": Example((ints(4, -1, 3, 2, 0, 5, -2), 0)),
    "snedecor_tail": Example((7.0, 5.0, 1.5)),
    "stdtr": Example((5.0, -2.0)),
    "stdtrit": Example((5.0, 0.025)),
    "student_tails": Example((9.0, -1.5)),
    "studentized_range_isf": Example((0.05, 5)),
    "studentized_range_sf": Example((3.0, 5)),
    "studentized_interval": Example((np.arange(-3.0, 6.0), 10.0, 2.0, 0.5)),
    "bhapkar": Example((TABLE,)),
    "stuart_maxwell": Example((TABLE,)),
    "sweep_sorted": Example((NEGATIVES, POSITIVES), (floats(200), zeros(200), zeros(200))),
    "swap_cells": Example((ints(900, 300, 70, 20), ints(0, 2, 1, 3), 1, 0), (floats(3, 4),)),
    "tango_exact": Example((3, 0, 30, -0.1, 0.0)),
    "tango_interval": Example((0, 1, 44, 0.9)),
    "tango_test": Example((0, 1, 44, -0.05, 1)),
    "wald_interval": Example((5, 5, 23, 0.95)),
    "venkatraman_exchanges": Example(
        (np.stack([np.argsort(SCORES), np.arange(200)]), POSITIVE, 1, 0), (zeros(4),)
    ),
    "venkatraman_statistic": Example((POSITIVE, POSITIVE[::-1].copy())),
    "weighted_roc": Example(ROC, (floats(2, 201),)),
    "weighted_auc": Example(ROC),
    "wilson_interval": Example((90, 100, 0.95)),
    "yildiz_t": Example((FIVE_BY_TWO, -1)),
}

takes_arrays = [
    name
    for name, example in EXAMPLES.items()
    if any(isinstance(value, np.ndarray) for value in example.inputs)
]


def run(kernel, example):
    """Call a kernel; return its answer and what it wrote into copies of the outputs."""
    outputs = tuple(out.copy() for out in example.outputs)
    return kernel(*example.inputs, *outputs), outputs


def assert_same(found, wanted):
    np.testing.assert_equal(found[0], wanted[0])
    for one, other in zip(found[1], wanted[1], strict=True):
        np.testing.assert_array_equal(one, other)


# Names.


def test_every_kernel_has_an_example():
    named = {name.rpartition(".")[2] for name, _ in public_functions("fastcmp.kernels")}
    refuse(
        f"{name}: new kernel? add a call of it to EXAMPLES in tests/kernels/test_contract.py"
        if name in named
        else f"{name} is no kernel: remove it from EXAMPLES in tests/kernels/test_contract.py"
        for name in named ^ EXAMPLES.keys()
    )


def test_no_kernel_has_the_name_of_a_module():
    # The import of a module would put it in place of the kernel.
    modules = {info.name for info in pkgutil.iter_modules(kernels.__path__)}
    assert not modules & set(kernels.__all__)


def test_kernels_are_compiled_without_gil_or_threads_and_show_how_to_use_them():
    wrong = []
    for name in EXAMPLES:
        kernel = getattr(kernels, name)
        options = dict(kernel.targetoptions)
        wanted = {"nopython": True, "nogil": True, "error_model": "numpy"}
        if not wanted.items() <= options.items() or options.keys() & {"parallel", "fastmath"}:
            wrong += [f"{name} is compiled with {options}: use @kernel of fastcmp._jit"]
        imports = [line for line in kernel.__doc__.splitlines() if "from fastcmp.kernels" in line]
        if not any(name in line for line in imports):
            wrong += [f"{name}: show its import and a call under Examples of its docstring"]
    refuse(wrong)


# Calls from a user's compiled code.


def compiled(source, *, parallel=False, **names):
    import numba

    scope = {"prange": numba.prange, **names}
    exec(source, scope)
    return numba.njit(parallel=parallel)(scope["user"])


@pytest.mark.parametrize("name", thinned(EXAMPLES, 4))
def test_callable_from_a_users_njit(name):
    kernel, example = getattr(kernels, name), EXAMPLES[name]
    user = compiled("def user(*arguments):\n    return kernel(*arguments)", kernel=kernel)
    assert_same(run(user, example), run(kernel, example))


#: Kernels that take a MetricSpec: numba passes no tuple of several types into the body
#: of a parallel loop, so there it is made.
WITH_SPEC = {
    *("metric_value", "metric_values", "metric_influence", "metric_influences"),
    *("metric_leave_one_out", "two_class_exchange_pvalue"),
    *("dirichlet_difference_interval", "dirichlet_log_evalue"),
    *("mcnemar_interim_power", "step_down_tails"),
}


@pytest.mark.full
def test_metrics_in_a_users_prange():
    source = """def user(table, listed, penalty, out):
    for i in prange(out.size):
        out[i] = metric_value(table, MetricSpec(4, 1, 0, 1.0, 0.0, 0), listed, penalty)"""
    user = compiled(source, parallel=True, metric_value=kernels.metric_value, MetricSpec=MetricSpec)
    table, out = np.array([[4.0, 1.0], [2.0, 3.0]]), np.zeros(7)
    user(table, np.ones(2, np.uint8), np.empty((0, 0)), out)
    assert out == pytest.approx(np.full(7, 23 / 33), rel=1e-14)  # macro F1


@pytest.mark.parametrize("name", thinned([x for x in EXAMPLES if x not in WITH_SPEC], 20))
def test_callable_from_a_users_prange(name):
    kernel, example = getattr(kernels, name), EXAMPLES[name]
    answer, wanted = run(kernel, example)
    outputs = [np.stack([out] * N_ITERATIONS) for out in example.outputs]
    if outputs:
        body = f"kernel(*arguments, {', '.join(f'outputs[{k}][i]' for k in range(len(outputs)))})"
    else:
        outputs, wanted = [np.full((N_ITERATIONS, np.size(answer)), -1.0)], [np.ravel(answer)]
        body = "outputs[0][i, :] = kernel(*arguments)"
        if isinstance(answer, tuple):
            stores = (f"outputs[0][i, {k}] = answer[{k}]" for k in range(len(answer)))
            body = "; ".join(["answer = kernel(*arguments)", *stores])
    source = f"def user(arguments, outputs, n):\n    for i in prange(n):\n        {body}"
    user = compiled(source, parallel=True, kernel=kernel)
    user(example.inputs, tuple(outputs), N_ITERATIONS)
    for stack, once in zip(outputs, wanted, strict=True):
        for row in stack:
            np.testing.assert_array_equal(row, once)


# Arrays as users have them.


def read_only(value):
    """Forbid writing, which numba then refuses to compile."""
    if not isinstance(value, np.ndarray):
        return value
    frozen = value.copy()
    frozen.flags.writeable = False
    return frozen


def strided(value):
    """Copy an array into one with gaps, and with its rows in Fortran's order."""
    if not isinstance(value, np.ndarray):
        return value
    wide = np.full(tuple(3 * size for size in value.shape), 1, value.dtype, order="F")
    view = wide[tuple(slice(1, None, 3) for _ in value.shape)]
    view[...] = value
    return view


@pytest.mark.full
@pytest.mark.parametrize("layout", [read_only, strided])
@pytest.mark.parametrize("name", takes_arrays)
def test_any_layout_of_the_inputs(name, layout):
    kernel, example = getattr(kernels, name), EXAMPLES[name]
    other = Example(tuple(map(layout, example.inputs)), example.outputs)
    assert_same(run(kernel, other), run(kernel, example))


@pytest.mark.full
@pytest.mark.parametrize("name", [n for n, e in EXAMPLES.items() if e.outputs])
def test_strided_outputs(name):
    kernel, example = getattr(kernels, name), EXAMPLES[name]
    _, written = run(kernel, example)
    outputs = tuple(map(strided, example.outputs))
    kernel(*example.inputs, *outputs)
    for found, wanted in zip(outputs, written, strict=True):
        np.testing.assert_array_equal(found, wanted)


# Input without a meaning.

NAN = float("nan")
NEGATIVE_TABLE = np.array([[1, -2], [3, 4]])
#: Numbers of samples, the largest cost, and a level, which an interval of costs cannot have.
NO_INTERVAL = [
    *((COSTS, weights, 130.0, 5.0, 0.95) for weights in (-SAMPLES, SAMPLES * NAN)),
    *((COSTS + bad, SAMPLES, 130.0, 5.0, 0.95) for bad in (NAN, math.inf)),
    *((COSTS, SAMPLES, n, 5.0, 0.95) for n in (119.0, NAN, math.inf)),
    *((COSTS, SAMPLES, 130.0, largest, 0.95) for largest in (4.9, NAN, -5.0)),
    *((COSTS, SAMPLES, 130.0, 5.0, level) for level in (0.0, 1.0, -0.5, 1.5, NAN)),
    *((NONE, NONE, n, 1.0, 0.95) for n in (0.0, -3.0)),
]
IMPOSSIBLE = {
    "alpaydin_f": [(FOLDS,), (FIVE_BY_TWO * NAN,)],
    "barnard_exact": [(9, 8, 3, 9), (-1, 8, 3, 9), (0, 0, 0, 1), (1, 5001, 1, 2)],
    "anytime_difference_interval": [(-1, 5, 9, 0.95), (5, 5, 9, 0.95), (1, 1, 9, 1.0)],
    "anytime_mean_interval": [(np.array([0.5, 1.1]), 0.95), (FOLDS[0], NAN)],
    "anytime_proportion_interval": [(-1, 5, 0.5, 0.5, 0.95), (1, 5, 0.0, 0.5, 0.95)],
    "dirichlet_difference_interval": [
        (-1, 5, 9, 0.95, (0.5, 0.5, 0.5)),
        (1, 5, 9, 0.95, (0.5, 0.5, 0.0)),
    ],
    "bayle_z_in": [
        *((FOLDS[0], np.arange(10) // size, k) for size, k in ((1, 10), (9, 2), (5, 3), (5, 1))),
        *((FOLDS[0] * bad, np.arange(10) // 5, 2) for bad in (NAN, math.inf)),
        (FOLDS[0], np.arange(9) // 5, 2),
    ],
    "bayle_z_out": [(FOLDS[0, :1],), (FOLDS[0] * NAN,)],
    "bcv_mcnemar": [(-1.0, 0.5, 1.8), (NAN, 1.0, 1.8), (1.0, 2.0, 0.0), (1, 2, NAN)],
    "blocked_constants": [(5, -1.1, 0.0), (5, 0.5, -0.1), (5, 0.5, 0.76), (1, 0.5, 0.5)],
    "blocked_t": [(FIVE_BY_TWO, 0.0, 9.0), (FIVE_BY_TWO, 1.0, 0.0), (FIVE_BY_TWO * NAN, 1.0, 9.0)],
    "bonett_price_interval": [(-3, 4, 10, 0.95), (1, 1, 0, 0.95), (1, 1, 9, NAN), (9, 0, 5, 0.9)],
    "boschloo_exact": [(7, 8, 10, 9), (7, 8, -1, 9), (0, 1, 0, 0), (1, 2, 1, 5001)],
    "bouckaert_frank_t": [(FOLDS[:1, :1], 0.1), (FOLDS, 0.0), (FOLDS, NAN)],
    "bouckaert_t": [(FOLDS[:9],), (FOLDS[:, :9],), (FOLDS * NAN,)],
    "bowker": [(NEGATIVE_TABLE,)],
    "calibrated_f": [(FOLDS,), (FIVE_BY_TWO * np.inf,)],
    "cochrans_q": [(ints(5), 25, 10), (ints(5, 5), 50, 0), (ints(), 0, 5)],
    "conservative_z": [
        *((x, FOLDS[2:8].reshape(3, 2, 10)) for x in (FOLDS[0] * NAN, FOLDS[0, :0])),
        *((FOLDS[0], x) for x in (FOLDS[2:8].reshape(3, 2, 10) * np.inf, floats(0, 2, 10))),
    ],
    "cost_chi_square": [
        *((COSTS, SAMPLES * bad, True) for bad in (-1, NAN, math.inf)),
        *((COSTS + bad, SAMPLES, False) for bad in (NAN, math.inf)),
    ],
    "cost_likelihood": [
        *((COSTS, SAMPLES * bad, 5.0) for bad in (-1, NAN, math.inf)),
        *((COSTS + bad, SAMPLES, 0.0) for bad in (NAN, math.inf, -math.inf)),
        (COSTS, SAMPLES, 4.9),
    ],
    "cost_profile_interval": NO_INTERVAL,
    "cost_wald_interval": NO_INTERVAL,
    "dietterich_t": [(FOLDS,), (FIVE_BY_TWO * NAN,)],
    "fold_t": [
        *((FOLDS[0, :1], 0.1, 9.0), (FOLDS[0], -0.1, 9.0), (FOLDS[0], 0.1, NAN)),
        *((np.append(FOLDS[0], np.inf), 0.1, 9.0), (np.append(FOLDS[0], NAN), 0.1, 9.0)),
    ],
    "kfold_t": [(FOLDS[0, :1],), (FOLDS[0] * np.inf,)],
    "mcnemar_asymptotic": [(-1, 1), (3, -1)],
    "mcnemar_corrected": [(-1, 1), (3, -1)],
    "mcnemar_exact": [(-1, 1), (3, -1)],
    "mcnemar_midp": [(-1, 1), (3, -1)],
    "mcnemar_unconditional": [(-1, 1, 5), (3, -1, 5), (3, 4, 6), (1, 1, 10**7), (0, 0, -1)],
    "miettinen_nurminen": [(9, 8, 3, 9), (1, 2, 1, 2, 1.0), (1, 2, 1, 2, NAN)],
    "miettinen_nurminen_interval": [(9, 8, 3, 9, 0.9), (1, 2, 0, 0, 0.9), (*[1] * 5,)],
    "nadeau_bengio_t": [(FOLDS[0, :1], 9, 1), (FOLDS[0], 0, 1), (FOLDS[0], 9, NAN)],
    "naive_mcnemar": [(NEGATIVE_TABLE[np.newaxis],), (zeros(0, 2, 2),)],
    "newcombe_interval": [(-1, 5, 3, 2, 0.9), (0, 0, 0, 0, 0.9), (1, 1, 1, 1, 1.0)],
    "newcombe_unpaired_interval": [(9, 8, 3, 9, 0.9), (-1, 2, 1, 2, 0.9), (*[1] * 5,)],
    "odds_ratio_exact_interval": [(-1, 1, 0.95), (1, 1, 0.0), (1, 1, NAN)],
    "odds_ratio_midp_interval": [(-1, 1, 0.95), (1, 1, 1.0), (1, 1, NAN)],
    "proportion_z": [(-1, 2, 5), (6, 2, 5), (2, 6, 5), (0, 0, 0)],
    "resampled_t": [(FOLDS[0, :1],), (FOLDS[0] * NAN,)],
    "score_exact_interval": [(9, 8, 3, 9, 0.9), (1, 2, 1, 5001, 0.9), (*[1] * 5,)],
    "score_exact": [(9, 8, 3, 9, 0.1), (1, 2, 1, 2, -1.0), (1, 2, 1, 5001, 0.1)],
    "sign_flip_floats": [(np.ones(41), 0), (FOLDS[0] * NAN, 0)],
    "sign_flip_whole": [(ints(2**28, 1), 0)],
    "bhapkar": [(NEGATIVE_TABLE,)],
    "stuart_maxwell": [(NEGATIVE_TABLE,)],
    "tango_exact": [(-1, 5, 10, 0.1), (1, 1, 0, 0.1), (5, 5, 9, 0.1), (1, 1, 9, 1.0)],
    "tango_test": [(-1, 5, 10, 0.1), (1, 1, 0, 0.1), (5, 5, 9, 0.1), (1, 1, 9, NAN)],
    "tango_interval": [(-1, 5, 10, 0.95), (1, 1, 0, 0.95), (5, 5, 10, -0.1)],
    "wald_interval": [(-5, 0, 10, 0.95), (20, 0, 10, 0.95), (1, 1, 10, 2.0)],
    "wilson_interval": [(11, 10, 0.95), (-1, 10, 0.95), (3, -1, 0.95), (0, 0, 0.95), (1, 2, NAN)],
    "yildiz_t": [(FOLDS,), (FIVE_BY_TWO * np.inf,)],
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_invalid_input_gives_nan_and_its_status(name):
    for arguments in IMPOSSIBLE[name]:
        answer = getattr(kernels, name)(*arguments)
        assert np.isnan(answer[0]), arguments
        assert np.isnan(answer[1]), arguments
        if not isinstance(answer, Interval):
            assert answer.status == INVALID, arguments


@pytest.mark.full
def test_every_kernel_that_can_say_invalid_is_asked():
    answers = {name: run(getattr(kernels, name), EXAMPLES[name])[0] for name in EXAMPLES}
    records = {name for name, answer in answers.items() if hasattr(answer, "_fields")}
    # These take their numbers on trust: others call them in their inner loops.
    trusting = {"binomial_half", "concordance_sorted"}
    assert records - trusting == IMPOSSIBLE.keys()


def test_the_table_of_the_documentation_has_all_kernels_and_their_signatures():
    page = Path(__file__).parents[2] / "docs" / "reference" / "kernels.md"
    rows = re.findall(r"^\| (`\w+\(.*?) \|", page.read_text(), flags=re.MULTILINE)
    listed = {found for row in rows for found in re.findall(r"`(\w+\(.*?\))`", row)}
    calls = set()
    for name in EXAMPLES:
        kernel = getattr(kernels, name)
        parameters = inspect.signature(getattr(kernel, "py_func", kernel)).parameters.values()
        words = (p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters)
        calls.add(f"{name}({', '.join(words)})")
    refuse(f"docs/reference/kernels.md has no `{call}`" for call in calls - listed)
    refuse(f"docs/reference/kernels.md has `{call}`, which is no kernel" for call in listed - calls)
