"""The form of an array does not matter: who owns it, its order, strides and bytes.

Every public function that takes arrays gives the same bits for the same numbers, and
leaves what it was given as it was.
"""

import inspect
from copy import deepcopy
from functools import cache

import numpy as np
import pytest
from calls import BY_COUNTS, FUNCTIONS, arguments, function, made, parameters
from cases import thinned
from libraries import sklearn
from same_bits import assert_same

import fastcmp
from fastcmp import designs, planning, sequential, stream
from fastcmp.compat import mlxtend

# Forms.


def frozen(x, _):
    x = x.copy()
    x.flags.writeable = False
    return x


def mapped(x, folder):
    path = folder / f"{len(list(folder.iterdir()))}.npy"
    np.save(path, x)
    return np.load(path, mmap_mode="r")


def every(x, step):
    return x[(slice(None, None, step),) * x.ndim]


def wide(x, step):
    """Make an array of which every second entry is one of x, the others are not."""
    made = np.resize(every(x, -1), [2 * size for size in x.shape]).astype(x.dtype)
    every(made, step)[...] = x
    return made


def swapped(x, _):
    return x.astype(x.dtype.newbyteorder("S"))


def everything(x, folder):
    return every(mapped(np.asfortranarray(wide(swapped(x, folder), -2)), folder), -2)


FORMS = {
    "read-only": frozen,
    "mapped": mapped,
    "strided": lambda x, _: every(wide(x, 2), 2),
    "backwards": lambda x, _: every(wide(x, -2), -2),
    "fortran": lambda x, _: np.asfortranarray(x),
    "swapped bytes": swapped,
    "all at once": everything,
}


def reshaped(value, form, folder):
    """Give all arrays within a value another form."""
    if isinstance(value, np.ndarray):
        return form(value, folder) if value.ndim else value
    if isinstance(value, dict):
        return {key: reshaped(item, form, folder) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(reshaped(item, form, folder) for item in value)
    return value


# What the functions are called with.

RNG = np.random.default_rng(11)
N = 120
TRUTH = RNG.integers(0, 3, N, dtype=np.int32)
PREDS = np.where(RNG.random((4, N)) < 0.6, TRUTH, RNG.integers(0, 3, (4, N))).astype("i4")
A, B = PREDS[:2]
COST = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])
YES = (TRUTH == 1).astype(np.int16)
SCORES = np.round(RNG.normal(size=(3, N)) + 0.8 * YES, 1)
WEIGHTS = RNG.uniform(0.5, 2.0, N)
GROUPS = np.arange(N) // 3
FOLDS = RNG.integers(0, 4, N)
CUTS = RNG.normal(0.02, 0.05, (3, 5, 2))
TABLES = RNG.integers(1, 30, (3, 5, 2, 2, 2))
COUNTS = RNG.integers(0, 40, (3, 5))
MEANS, COVARIANCE = SCORES.mean(axis=1), np.cov(SCORES) / N
TENSOR = fastcmp.count_labels(TRUTH, A, B).counts
HALVES = np.stack([CUTS.swapaxes(1, 2)] * 4, axis=1)
OF_MEANS = fastcmp.Estimates(MEANS, COVARIANCE, n_items=120)
CHANCES = RNG.dirichlet([1.0, 2.0, 1.0], (2, N))
ITEMS = GROUPS.astype(str)
LONG = {"item": GROUPS, "model": np.arange(N) % 3, "value": np.resize(SCORES, N), "w": 1.0 + GROUPS}
FEATURES = RNG.normal(size=(N, 2)) + TRUTH[:, None]

#: As what the same labels may be stored.
LABELS = {
    "bytes": np.uint8,
    "booleans": np.bool_,
    "negative": lambda x: x.astype(np.int64) - 7,
    "sparse": lambda x: x.astype(np.int64) * 10**12,
    "unsigned": lambda x: x.astype(np.uint64) + np.uint64(2**63),
    "floats": lambda x: x / 2,
    "half precision": np.float16,
    "long doubles": np.longdouble,
    "strings": lambda x: np.array(["äh", "b", "cc"])[x],
    "byte strings": lambda x: np.array([b"a", b"b", b"cc"])[x],
    "days": lambda x: np.datetime64("2026-01-01") + x,
    "missing": lambda x: np.where(np.arange(N) % 7, x, np.nan),
}
SCORE_TYPES = {
    "single": np.float32,
    "half": np.float16,
    "whole": lambda x: (10 * x).astype(np.int32),
    "wide": lambda x: (10 * x).astype(np.int64) + 2**60,
    "long": np.longdouble,
}


class Fixed:
    """A classifier that says what it was told."""

    def __init__(self, labels):
        self.labels = labels

    def predict(self, _):
        return self.labels


def convert(kind, array):
    return kind(array) if inspect.isfunction(kind) else array.astype(kind)


def hold_out(y_true, a, b, cost):
    nothing = np.zeros((len(y_true), 1))
    models = Fixed(a), Fixed(b)
    return fastcmp.compare_holdout(*models, nothing, nothing, y_true, cost=cost)


def classifiers():
    bayes = sklearn.naive_bayes.GaussianNB
    return bayes(), bayes(priors=[0.1, 0.2, 0.7])


def cross_validate(function, y, groups):
    models = classifiers() if function is fastcmp.compare_cv else [classifiers()]
    design = designs.repeated_kfold(2, 3, rng=1)
    options = {"test": "bouckaert-frank-t", "design": design, "rng": 1}
    return function(*models, FEATURES, y, groups=groups, **options)


def fitted(name, n_models, *data, **options):
    """Let one of mlxtend's functions fit models."""
    function = getattr(mlxtend, name)
    return function(*classifiers()[:n_models], *data, random_seed=3, **options)


def gathered(kind, y_true, preds):
    """Count two blocks."""
    counts = kind()
    for rows in (slice(0, 50), slice(50, None)):
        counts.update(y_true[rows], preds[..., rows])
    return counts


def refined(y_true, scores):
    counts = stream.ScoreCounts().update(y_true, scores)
    return counts.refine().update(y_true, scores).areas


def fitted_edges(scores):
    return stream.ScoreMap.fit(scores).edges


def dealt(y, groups):
    return designs.kfold(4, stratify=True, rng=5).folds(N, y=y, groups=groups)


def called(function, *arguments, **options):
    return function, arguments, options


F = fastcmp
#: Enough samples for other ways through the package: threads, hashing, merging.
MANY = np.resize(TRUTH, 20_001)
MANY_PREDS = np.stack([np.resize(row, 20_001) for row in PREDS[:, 1:]])
MANY_VALUES = np.random.default_rng(2).normal(size=(100, 20_001))
MANY_SCORES = RNG.normal(size=(2, 20_001)) + (MANY == 1)
#: What proper calls do not have: types of labels and scores, many samples, and options.
CASES = [
    *(
        called(
            F.compare_all,
            convert(kind, TRUTH),
            convert(kind, PREDS) if name != "missing" else PREDS,
        )
        for name, kind in LABELS.items()
    ),
    called(F.compare_all, TRUTH, PREDS, test="cost", cost=COST, keep="significant"),
    called(F.compare_all, TRUTH, PREDS, pairs=np.array([[0, 3], [2, 1]])),
    called(F.compare_all, TRUTH, list(PREDS), classes=np.array([2, 0]), missing="wrong"),
    called(F.compare_all, TRUTH, PREDS, metric="f1_macro", strata=GROUPS % 2),
    called(F.compare_labels, TRUTH, A, B, cost=COST, method="chi-square"),
    called(hold_out, TRUTH, A, B, COST),
    called(F.mcnemar, only_a=COUNTS, only_b=COUNTS[0], both_right=COUNTS, both_wrong=COUNTS),
    called(F.margin_decision, np.sort(SCORES[:2], axis=0), np.sort(SCORES[1:], axis=0), 1),
    called(F.margin_tests, WEIGHTS - 1, WEIGHTS, WEIGHTS / 9, df=WEIGHTS + 5),
    called(
        F.margin_tests,
        only_a=COUNTS,
        only_b=COUNTS[0],
        both_right=COUNTS + 90,
        both_wrong=COUNTS,
        margin=WEIGHTS[:5] / 9,
    ),
    called(planning.power, test="auc", n=COUNTS + 2, auc=0.7, ratio=2.0),
    called(planning.power, test="mean", n=COUNTS + 2, difference=SCORES[0, :5], sd=1.0),
    called(planning.sample_size, p10=CHANCES[0, :5, 0] / 2, p01=0.2, method="connor"),
    called(F.metric, TRUTH, A, metric=["mcc", "kappa"], groups=GROUPS),
    called(F.compare_metric, TRUTH, A, B, metric="f1_macro"),
    called(F.make_metric, "cost", cost=COST),
    called(F.cohen_kappa, table=TENSOR.sum(axis=0), weights=1 - np.eye(3)),
    *(called(F.delong, YES, convert(kind, SCORES)) for kind in SCORE_TYPES.values()),
    called(F.auc, YES, SCORES[0], fpr_range=(0.0, 0.5)),
    called(F.auc_bootstrap, YES, SCORES, fpr_range=(0, 0.4), n_resamples=50, rng=3),
    *(
        called(F.adjust, WEIGHTS.reshape(4, 30) / 2, method=method)
        for method in ("holm", "hommel", "bh", "hochberg")
    ),
    *(called(F.fold_test, CUTS, name) for name in ("alpaydin-f", "bouckaert-frank-t", "kfold-t")),
    called(F.fold_test, CUTS, "blocked-t", rho1=0.1, rho2=0.1),
    called(F.fold_test, CUTS.astype(np.float32), "resampled-t"),
    called(F.fold_test, CUTS, "nadeau-bengio-t", n_train=90, n_test=30),
    called(F.fold_test, SCORES, "bayle-z", folds=FOLDS, variance="in"),
    called(F.fold_test, CUTS[:, 0], "conservative-z", half_differences=HALVES[..., :2]),
    called(F.fold_test, TABLES[:, :, 0], "naive-mcnemar"),
    called(F.fold_test, TABLES[:, 0, 0], "proportion-z"),
    called(F.pass_at_k, COUNTS, COUNTS[:, ::-1] + 50, k=7),
    called(F.variance_components, SCORES.reshape(3, 30, 4) > 0, repeats="pass@k", k=2),
    called(F.compare_means, SCORES > 0, groups=GROUPS, strata=FOLDS % 2),
    called(F.compare_means, SCORES.astype(np.float32), weights=WEIGHTS),
    called(F.compare_means, SCORES.reshape(3, 30, 4), groups=GROUPS[:30]),
    *(
        called(F.compare_means, SCORES, method=method, n_resamples=99, rng=3)
        for method in ("permutation", "bootstrap", "wilcoxon")
    ),
    called(F.model_confidence_set, SCORES, bootstrap_indices=np.stack([FOLDS, GROUPS])),
    *(
        called(function, OF_MEANS, n_resamples=99, rng=3)
        for function in (F.best_set, F.rank_sets, F.model_confidence_set)
    ),
    called(F.superior_ability, OF_MEANS, control=0, rng=3),
    called(F.Estimates, MEANS, COVARIANCE),
    called(F.Estimates, MEANS, influences=SCORES, groups=GROUPS),
    called(F.compare_means, SCORES, adjust="maxt", simultaneous=True, rng=3),
    called(F.compare_means, MANY_VALUES),
    called(F.compare_means, MANY_VALUES > 0),
    called(F.brier_values, TRUTH, CHANCES[0]),
    called(F.log_loss_values, YES, {"a": CHANCES[0, :, 1].astype(np.float32)}),
    called(F.from_long, LONG | {"item": LABELS["strings"](GROUPS % 3) + ITEMS}, weight="w"),
    called(cross_validate, F.compare_cv, TRUTH, GROUPS),
    called(cross_validate, F.compare_cv_all, TRUTH, GROUPS),
    called(dealt, TRUTH, TRUTH * 40 + GROUPS),
    *(
        called(gathered, stream.ScoreCounts, YES, convert(kind, SCORES))
        for kind in [np.float64, *SCORE_TYPES.values()][:-2]
    ),
    called(refined, YES, SCORES),
    called(fitted_edges, SCORES[0]),
    called(F.compare_all, MANY, MANY_PREDS),
    called(F.compare_all, LABELS["strings"](MANY), LABELS["strings"](MANY_PREDS)),
    called(F.compare_predictions, MANY, MANY_PREDS, workers=3),
    called(F.delong, MANY == 1, MANY_SCORES.astype(np.float32), workers=3),
    called(F.adjust, np.resize(WEIGHTS / 2, 300_000), method="holm"),
    called(gathered, stream.PairCounts, MANY, MANY_PREDS),
    called(gathered, stream.LabelCounts, MANY, MANY_PREDS),
    called(gathered, stream.ScoreCounts, MANY == 1, MANY_SCORES),
    called(gathered, stream.ScoreCounts, MANY == 1, MANY_SCORES.astype(np.float16)),
    called(gathered, stream.RocSketch, MANY == 1, MANY_SCORES.astype(np.float32)),
    called(sequential.mean_test, np.tanh(SCORES[0]), method="empirical-bernstein"),
    called(sequential.normal_mixture_boundary, WEIGHTS, optimal_variance=1.0),
    called(mlxtend.mcnemar, TABLES[0, 0, 0]),
    called(mlxtend.mcnemar_tables, TRUTH, *PREDS),
    called(mlxtend.ftest, TRUTH, *PREDS),
    called(mlxtend.confusion_matrix, TRUTH, A),
    called(mlxtend.scoring, YES, A == 1, "matthews_corr_coef"),
    called(mlxtend.permutation_test, SCORES[0, :9], SCORES[1, :8]),
    called(mlxtend.bootstrap, SCORES[0], np.median, num_rounds=20, seed=3),
    called(fitted, "paired_ttest_5x2cv", 2, FEATURES, TRUTH),
    called(fitted, "bootstrap_point632_score", 1, FEATURES, TRUTH, n_splits=4, method=".632+"),
    called(
        *(fitted, "bias_variance_decomp", 1, FEATURES[:80], TRUTH[:80]),
        *(FEATURES[80:], TRUTH[80:]),
        num_rounds=4,
    ),
]


def called_by(case):
    """Name the public function that a case calls."""
    function, arguments, _ = case
    return (arguments[0] if function is cross_validate else function).__name__


@cache
def answer(i):
    function, arguments, options = CASES[i]
    return function(*arguments, **options)


def in_arrays(value):
    """The same with arrays in the place of lists of numbers."""
    if isinstance(value, dict):
        return {key: in_arrays(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    if len({np.shape(item) for item in value}) > 1:
        return [in_arrays(item) for item in value]
    array = np.array(value)
    return array if array.dtype.kind in "bif" else value


def proper_calls(name):
    """Proper calls with arrays: as they are, by counts, with clusters, with weights."""
    given = in_arrays(arguments(name))
    given |= {"rng": 1} if "rng" in parameters(name) else {}
    known = {"groups": np.arange(12) // 2, "weights": WEIGHTS[:12], "sample_weight": WEIGHTS[:12]}
    yield given
    if name in BY_COUNTS:
        yield in_arrays(made(BY_COUNTS[name]))
    for option in known.keys() & parameters(name).keys() - given.keys():
        yield given | {option: known[option]}


#: Their models are compared too, pictures are drawn, and blocks are Dask's own.
OTHERS = ("plot.", "compare_cv", "compare_holdout", "stream.gather")


@pytest.mark.parametrize("name", [x for x in FUNCTIONS if not x.startswith(OTHERS)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_form_of_proper_calls_does_not_matter(name, tmp_path):
    for given in proper_calls(name):
        try:
            wanted = function(name)(**given)
        except (ValueError, TypeError):  # it has no such option with these data
            continue
        other = reshaped(given, everything, tmp_path)
        before = deepcopy(other)
        assert_same(function(name)(**other), wanted)
        assert_same(other, before)


def test_forms_are_what_they_are_called(tmp_path):
    x = np.arange(12.0).reshape(3, 4)
    made = {name: form(x, tmp_path) for name, form in FORMS.items()}
    assert all(np.array_equal(y, x) for y in made.values())
    assert not made["read-only"].flags.writeable
    assert isinstance(made["mapped"], np.memmap)
    assert made["strided"].strides == (128, 16)
    assert made["backwards"].strides == (-128, -16)
    assert made["fortran"].strides == (8, 24)
    assert not made["swapped bytes"].dtype.isnative
    last = made["all at once"]
    assert isinstance(last, np.memmap)
    assert not last.dtype.isnative
    assert not last.flags.writeable
    assert last.strides == (-16, -96)


@pytest.mark.parametrize("form", thinned(reversed(FORMS), len(FORMS)))
@pytest.mark.parametrize("i", range(len(CASES)), ids=lambda i: called_by(CASES[i]))
def test_the_form_does_not_matter(i, form, tmp_path):
    function, *given = CASES[i]
    arguments, options = reshaped(tuple(given), FORMS[form], tmp_path)
    before = deepcopy((arguments, options))
    assert_same(function(*arguments, **options), answer(i))
    assert_same((arguments, options), before)
