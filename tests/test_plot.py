"""Pictures: what is drawn is what was computed, and it can be read."""

import math
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from cases import refuses
from libraries import mpl, plt, sklearn

import fastcmp
from fastcmp import datasets, kernels, planning, plot
from fastcmp.sequential import MeanLooks, PairLooks, mcnemar_looks
from fastcmp.stream import PairCounts

WORKSHEET = [12, 10, 2, 2, 1, 4, 3, 2, 1, 3]  # deaths in tenths of 200 patients
MEASURES = ("accuracy", "cost", "AUC", "f1_macro")


def scored(n=200, models=1, seed=0, rate=0.3):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rate).astype(int)
    gains = np.linspace(2, 0.8, models)
    return y, np.round(rng.normal(size=(models, n)) + gains[:, None] * y, 2)


def named(scores):
    return {f"model {i}": row for i, row in enumerate(scores)}


def compared(measure="accuracy", models=8, **options):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 400)
    if measure == "f1_macro":  # as from compare_cv_all(scoring=...)
        return replace(compared("AUC", models, **options), measure=measure)
    if measure == "AUC":
        gains = np.linspace(2, 0.5, models)[:, None]
        scores = rng.normal(size=(models, 400)) + gains * y
        return fastcmp.delong(y, named(scores)).pairwise(**options)
    right = rng.random((models, 400)) < np.linspace(0.95, 0.6, models)[:, None]
    if measure == "cost":
        options |= {"test": "cost", "cost": [[0, 1], [3, 0]]}
    return fastcmp.compare_all(y, named(np.where(right, y, 1 - y)), **options)


@cache
def cross_validated(test, scoring=None):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 3)) + 0.7 * y[:, None]
    models = sklearn.naive_bayes.GaussianNB(), sklearn.tree.DecisionTreeClassifier(max_depth=1)
    return fastcmp.compare_cv(*models, X, y, test=test, scoring=scoring, rng=1)


def holed(models, tasks):
    """Draw scores of models on tasks, of which one is missing."""
    scores = np.random.default_rng(4).random((models, tasks)).round(3)
    scores[1, 2] = np.nan
    return named(scores)


@cache
def over_tasks(method, models=7):
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(models, 30)) + 0.3 * np.arange(models)[:, None]
    return fastcmp.compare_datasets(named(scores), method=method)


@cache
def drawn(models):
    rng = np.random.default_rng(6)
    scores = rng.normal(size=(models, 12)) + 0.3 * np.arange(models)[:, None]
    return datasets.task_bootstrap(named(scores), n_resamples=500, rng=1)


def looks(alpha=0.05):
    only_a, only_b = [1, 5, 12, 19, 30], [1, 2, 4, 5, 8]
    n = [40, 90, 150, 210, 300]
    return mcnemar_looks(only_a, only_b, n_samples=n, alpha=alpha)


def table():
    y = np.concatenate([np.arange(20) < count for count in WORKSHEET]).astype(int)
    return fastcmp.lift_table(y, np.linspace(1, 0, y.size))


def line(ax, label):
    return next(x for x in ax.get_lines() if x.get_label() == label)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def seen_ticks(axis):
    """Labels of the ticks within the axes."""
    low, high = sorted(axis.get_view_interval())
    return [t.label1 for t in axis.get_major_ticks() if low <= t.get_loc() <= high]


def boxes(artists):
    """Where artists were drawn that show something."""
    found = [x.get_window_extent() for x in artists if x is not None]
    return [box for box in found if box.width > 1 and box.height > 1]


Y, S = scored()
Y5, S5 = scored(300, 5)
Y20, S20 = scored(300, 20)
LONG = {f"a rather long name, number {i}": row for i, row in enumerate(S20)}
SCORES = {
    "roc of 20 with cuts": lambda **o: plot.roc(Y20, LONG, cutoff="youden", **o),
    "roc of 20": lambda **o: plot.roc(Y20, LONG, **o),
    "roc below chance": lambda **o: plot.roc(Y, -S[0], cutoff="youden", **o),
    "precision_recall of 20": lambda **o: plot.precision_recall(Y20, LONG, **o),
    "roc": lambda **o: plot.roc(Y, S[0], cutoff="youden", band=True, **o),
    "cutoffs": lambda **o: plot.cutoffs(Y, S[0], **o),
    "precision_recall": lambda **o: plot.precision_recall(Y, S[0], **o),
    "lift": lambda **o: plot.lift(table(), **o),
    "captured": lambda **o: plot.lift(table(), kind="captured", cumulative=True, **o),
}
OF_PAIRS = (plot.leaderboard, plot.pvalue_map, plot.critical_difference)
KINDS = {f"by {measure}": {"measure": measure} for measure in ("accuracy", "AUC")}
KINDS |= {"of a control": {"control": 3}, "of some pairs": {"pairs": [(0, 1), (3, 4), (1, 7)]}}
PAIRS = {
    f"{f.__name__} {kind}": lambda f=f, some=some, **o: f(compared(**some), **o)
    for f in OF_PAIRS
    for kind, some in KINDS.items()
}
PAIRS |= {
    f"{f.__name__} over tasks": lambda f=f, **o: f(over_tasks("nemenyi"), **o) for f in OF_PAIRS
}
FOLDS = {
    f"folds of {test}": lambda test=test, **o: plot.folds(cross_validated(test), **o)
    for test in ("bcv-mcnemar", "bouckaert-t")
}
LOOKS = {
    "evidence": lambda **o: plot.evidence(looks(), **o),
    "evidence without a decision": lambda **o: plot.evidence(looks(alpha=1e-9), **o),
}
PLANS = {
    "one": lambda: planning.sample_size(p10=0.15, p01=0.05),
    "wanted": lambda: planning.sample_size(p10=0.15, p01=0.05, power=[0.8, 0.9]),
    "several": lambda: planning.sample_size(difference=[0.02, 0.1], discordant=0.15),
    "pilot": lambda: planning.power(n=100, pilot=(30, 10, 200)),
    "detectable": lambda: planning.detectable_difference(n=[100, 300], discordant=0.2),
    "margin": lambda: planning.sample_size(p10=0.1, p01=0.1, margin=[0.05, 0.1]),
    "means": lambda: planning.power("mean", n=[50, 99], sd=1, difference=0.3),
    "areas": lambda: planning.sample_size("auc", auc=[0.65, 0.8], ratio=3),
    "so far": lambda: planning.power(n=80, p10=0.2, p01=0.1, so_far=(12, 5, 80)),
    "folds": lambda: planning.power(
        "cv", accuracy_a=0.9, accuracy_b=0.8, n=100, agreement=0.8, n_resamples=50, rng=1
    ),
    "leaderboard": lambda: planning.power(
        "leaderboard", accuracies=[0.9, 0.8], n=90, agreement=0.8, n_resamples=50, rng=1
    ),
}
POWERS = {
    f"power of {kind}": lambda make=make, **o: plot.power_curve(make(), **o)
    for kind, make in PLANS.items()
    if kind in ("one", "pilot", "folds")
}
MAPS = {
    "task_scores": lambda **o: plot.task_scores(
        fastcmp.load_demsar()[1], tasks=fastcmp.load_demsar()[0], **o
    ),
    "task_scores of many": lambda **o: plot.task_scores(holed(50, 150), **o),
    "task_scores of a result": lambda **o: plot.task_scores(over_tasks("t"), **o),
    "rank_distribution": lambda **o: plot.rank_distribution(drawn(4), **o),
    "rank_distribution of many": lambda **o: plot.rank_distribution(drawn(40), **o),
    "task_scores by score": lambda **o: plot.task_scores(
        holed(6, 9), kind="score", lower_is_better=True, **o
    ),
}


def trade_offs(n_models):
    rng = np.random.default_rng(3)
    right = rng.random((n_models, 200)) < np.linspace(0.6, 0.9, n_models)[:, None]
    times = rng.gamma(4.0, np.linspace(0.5, 2.0, n_models)[:, None], (n_models, 50))
    return fastcmp.pareto_set({"quality": right + 0.0, "time": times}, lower_is_better=["time"])


def sliced(n_models, n_slices):
    rng = np.random.default_rng(4)
    right = rng.random((n_models, 600)) < np.linspace(0.6, 0.9, n_models)[:, None]
    return fastcmp.compare_slices(right + 0.0, rng.random((n_slices, 600)) < 0.5)


TRADE_OFFS = {
    "pareto": lambda **o: plot.pareto(trade_offs(5), **o),
    "pareto of many": lambda **o: plot.pareto(trade_offs(40), x="quality", y="time", **o),
    "slice_map": lambda **o: plot.slice_map(sliced(4, 6), **o),
    "slice_map of many, with a control": lambda **o: plot.slice_map(
        sliced(15, 20), control="model_3", **o
    ),
}
PICTURES = TRADE_OFFS | POWERS | SCORES | PAIRS | FOLDS | LOOKS | MAPS
#: A picture by each function.
ONE_EACH = [*{name.split()[0]: name for name in reversed(PICTURES)}.values()]


@pytest.fixture(autouse=True)
def closed():
    """Close all figures afterwards, and see that no global setting was changed."""
    before = dict(mpl.rcParams), mpl.get_backend()
    yield
    plt.close("all")
    assert (dict(mpl.rcParams), mpl.get_backend()) == before


# All pictures.


@pytest.mark.parametrize("name", PICTURES)
def test_pictures(name):
    """Drawn where it is asked for, the same each time, with ink, and no text is covered."""
    plt.close("all")  # of other tests
    ax = mpl.figure.Figure(layout="constrained").subplots()
    assert PICTURES[name](ax=ax) is ax
    assert not plt.get_fignums()
    assert ax.get_xlabel()
    ax = PICTURES[name]()
    assert plt.get_fignums() == [ax.figure.number]
    colours = pixels(ax.figure)
    if name in ONE_EACH:
        np.testing.assert_array_equal(colours, pixels(PICTURES[name]().figure))
    grey = colours @ [0.299, 0.587, 0.114]
    assert np.mean(grey < 0.9) > 0.01  # there is ink
    assert np.mean(grey > 0.9) > 0.15  # and paper
    blue = np.array([0.0, 0x72, 0xB2]) / 255
    assert (np.abs(colours - blue).max(axis=2) < 0.3).sum() > 20
    ticks = seen_ticks(ax.yaxis)
    drawn = [*ax.texts, *ticks, *seen_ticks(ax.xaxis), ax.xaxis.label, ax.get_legend()]
    page = ax.figure.bbox.padded(1)
    for box in boxes([*drawn, ax.yaxis.label]):
        assert page.containsx(box.x0)
        assert page.containsx(box.x1)
        assert page.containsy(box.y0)
        assert page.containsy(box.y1)
    assert not overlap([*ax.texts, *ticks])


def test_names_of_any_kind():
    names = ["_a", "a$b$", "$x_1", "100 %", "two\nlines", "x" * 90]
    y, scores = scored(60, len(names))
    models = dict(zip(names, scores, strict=True))
    result = fastcmp.compare_all(y, {key: (row > 1).astype(int) for key, row in models.items()})
    axes = [plot.roc(y, models), plot.precision_recall(y, models)]
    axes += [plot.leaderboard(result), plot.critical_difference(result)]
    for name in names:
        written = name.replace("\n", r"\n").replace("$", r"\$")[:20]
        assert any(written in text for text in legend(axes[0]))
        assert any(written in text for text in labels(axes[2].yaxis))
    for ax in axes:
        ax.figure.canvas.draw()
    assert max(map(len, labels(axes[2].yaxis))) <= 42


# Curves.


def test_weights_of_pictures():
    y, (row, _), weights = tied()
    ax = plot.cutoffs(y, row, sample_weight=weights)
    found = fastcmp.optimal_cutpoint(y, row, criterion="accuracy", sample_weight=weights)
    assert f"best accuracy {found.value:.3f} at {found.cutoff:.4g}" in legend(ax)
    ax = plot.roc(y, row, sample_weight=weights, cutoff="youden")
    found = fastcmp.optimal_cutpoint(y, row, sample_weight=weights)
    assert f"cut at {found.cutoff:.4g}: sensitivity" in legend(ax)[1]
    ax = plot.precision_recall(y, row, sample_weight=weights)
    assert f"base rate {np.average(y, weights=weights):.3f}" in legend(ax)
    with pytest.raises(ValueError, match="band=True has no interval for sample_weight"):
        plot.roc(y, row, sample_weight=weights, band=True)


def test_other_labels():
    words = np.where(Y == 1, "ill", "well")
    turned = plot.roc(words, -S[0], positive="well")
    assert legend(turned) == [f"AUC {fastcmp.auc(1 - Y, -S[0]):.3f}"]
    refuses(ValueError, "positive=", plot.roc, words, S[0])
    for draw in (plot.cutoffs, plot.precision_recall):
        assert draw(words, S[0], positive="ill").get_legend()


@pytest.mark.parametrize("criterion", ["youden", "accuracy", "closest-topleft"])
def test_best_cut_is_marked(criterion):
    ax = plot.roc(Y, S[0], cutoff=criterion)
    found = fastcmp.optimal_cutpoint(Y, S[0], criterion=criterion)
    text = legend(ax)[1]
    assert text.startswith(f"cut at {found.cutoff:.4g}: ")
    mark = line(ax, text)
    np.testing.assert_allclose(mark.get_xdata(), 1 - found.specificity)
    np.testing.assert_allclose(mark.get_ydata(), found.sensitivity)
    # The curve of that cutoff alone has the area (Se + Sp) / 2.
    x, y = next(x for x in ax.get_lines() if len(x.get_xdata()) == 3).get_data()
    area = np.diff(x) @ (y[1:] + y[:-1]) / 2
    assert math.isclose(area, (found.sensitivity[0] + found.specificity[0]) / 2)


def test_band():
    ax = plot.roc(Y, S[0], band=True)
    (polygon,) = ax.patches
    corners = polygon.get_xy()
    curve, m = fastcmp.roc_curve(Y, S[0]), len(np.unique(S[0])) + 1
    n1, n0 = Y.sum(), (1 - Y).sum()
    upper, lower = corners[1 : m + 1], corners[m + 2 : 2 * m + 2][::-1]
    for i in (0, 1, m // 3, m // 2, m - 2, m - 1):
        x, y = (
            kernels.wilson_interval(round(rate * n), n, math.sqrt(0.95))
            for rate, n in ((curve.fpr[i], n0), (curve.tpr[i], n1))
        )
        np.testing.assert_allclose([*upper[i], *lower[i]], (x[0], y[1], x[1], y[0]), atol=1e-12)
    assert len(plot.roc(Y5, S5, band=True).patches) == 5


@pytest.mark.full
def test_band_covers_cutoffs():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(300):
        score = np.concatenate([rng.random(60), 1 - rng.random(40) ** 2])
        y = np.repeat([0, 1], [60, 40])
        corners = plot.roc(y, score, band=True, ax=mpl.figure.Figure().subplots()).patches[0]
        k = 1 + np.count_nonzero(score >= 0.5)  # of the points, and the origin
        left, high = corners.get_xy()[k]
        right, low = corners.get_xy()[2 * 101 + 2 - k]
        hits += left <= 0.5 <= right and low <= math.sqrt(0.5) <= high
    assert hits >= 0.9 * 300


@pytest.mark.parametrize("n", [20, 300])
def test_cutoffs_are_the_sweep(n):
    y, (score,) = scored(n)
    ax = plot.cutoffs(y, score)
    sweep = fastcmp.threshold_sweep(y, score)
    n1, n0 = sweep.n_positives, sweep.n_negatives
    for label, values, ends in (
        ("accuracy", (sweep.tp + sweep.tn) / n, (n1 / n, n0 / n)),
        ("sensitivity", sweep.tp / n1, (1, 0)),
        ("specificity", sweep.tn / n0, (0, 1)),
    ):
        x, drawn = line(ax, label).get_data()
        np.testing.assert_array_equal(x[1:-1], sweep.thresholds[::-1])
        np.testing.assert_allclose(drawn[1:-1], values[::-1])
        np.testing.assert_allclose(drawn[[0, -1]], ends)
        assert x[0] < x[1]
        assert x[-2] < x[-1]
        assert line(ax, label).get_drawstyle() == "steps-pre"
    assert len({x.get_linestyle() for x in ax.get_lines()[:3]}) == 3


def test_best_cutoffs_are_marked():
    ax = plot.cutoffs(Y, S[0])
    best = fastcmp.optimal_cutpoint(Y, S[0], criterion="accuracy")
    equal = fastcmp.optimal_cutpoint(Y, S[0], criterion="sensitivity=specificity")
    *_, first, second = legend(ax)
    assert first == f"best accuracy {best.value:.3f} at {best.cutoff:.4g}"
    se, sp = equal.sensitivity[0], equal.specificity[0]
    assert second == f"crossing {se:.3f}, {sp:.3f} at {equal.cutoff:.4g}"
    np.testing.assert_array_equal(line(ax, first).get_xdata(), best.cutoffs)
    np.testing.assert_allclose(line(ax, first).get_ydata(), best.value)
    np.testing.assert_allclose(
        line(ax, second).get_ydata(), (equal.sensitivity + equal.specificity) / 2
    )


def test_cutoffs_of_odd_scores():
    best = "best accuracy 0.750 at inf"  # by calling nobody positive
    ax = plot.cutoffs([0, 0, 0, 1], [4, 3, 2, 1])
    assert best in legend(ax)
    assert line(ax, best).get_xdata() == line(ax, "accuracy").get_xdata()[-1]
    infinite = plot.cutoffs([0, 1, 0, 1], [-math.inf, math.inf, 1, 2])
    x, y = line(infinite, "sensitivity").get_data()
    assert x[1:-1].tolist() == [1, 2]
    assert y.tolist() == [1, 1, 1, 0.5]
    assert line(plot.cutoffs([0, 1], [3, 3]), "accuracy").get_xdata().size == 3
    wide = np.array([2**62, 2**62 + 1, 2**61, 2**60])
    assert line(plot.cutoffs([1, 1, 0, 0], wide), "accuracy").get_xdata()[-2] == 2**62
    refuses(ValueError, "must have finite values", plot.cutoffs, [0, 1], [-math.inf, math.inf])


# Lift.


@pytest.mark.parametrize("cumulative", [False, True])
@pytest.mark.parametrize("kind", ["lift", "response", "captured"])
def test_lift_is_the_table(kind, cumulative):
    ax = plot.lift(table(), kind=kind, cumulative=cumulative)
    rates = table().cumulative if cumulative else table().by_group
    name, scale = {"response": ("response_rate", 100), "captured": (kind, 100)}.get(kind, (kind, 1))
    values = scale * getattr(rates, name)
    if cumulative:
        x, drawn = ax.get_lines()[0].get_data()
        np.testing.assert_allclose(x, np.arange(10, 101, 10))
    else:
        drawn = [bar.get_height() for bar in ax.patches]
        assert [round(bar.get_center()[0]) for bar in ax.patches] == list(range(1, 11))
        assert labels(ax.xaxis) == [str(i) for i in range(1, 11)]
    np.testing.assert_allclose(drawn, values)
    (bars,) = ax.collections
    ends = np.array([segment[:, 1] for segment in bars.get_segments()]).T
    np.testing.assert_allclose(
        ends, scale * np.array(getattr(rates, f"{name}_interval")), atol=1e-12
    )
    chance = {"lift": 1, "response": 20, "captured": 10}[kind]
    expected = np.full(10, chance)
    if cumulative and kind == "captured":
        expected = np.arange(10, 101, 10)
    np.testing.assert_allclose(line(ax, "chance").get_ydata(), expected)
    assert ("%" in ax.get_ylabel()) == (kind != "lift")
    assert "highest scores" in ax.get_xlabel()


# Many models.


@pytest.mark.parametrize("measure", MEASURES)
def test_leaderboard_is_the_board(measure):
    result = compared(measure)
    board, scale = result.leaderboard, 100 if measure == "accuracy" else 1
    ax = plot.leaderboard(result)
    assert labels(ax.yaxis) == list(board.names)
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the best on top
    points = np.concatenate([c.lines[0].get_xydata() for c in ax.containers], axis=0)
    points = points[np.argsort(points[:, 1])]
    np.testing.assert_array_equal(points[:, 1], range(8))
    np.testing.assert_allclose(points[:, 0], scale * board.score)
    segments = [s for c in ax.containers for s in c.lines[2][0].get_segments()]
    segments.sort(key=lambda s: s[0, 1])
    drawn = [s[:, 0] for s in segments]
    np.testing.assert_allclose(drawn, scale * board.interval, atol=1e-12)
    filled = ax.containers[0].lines[0].get_ydata()
    assert [board.names[int(row)] for row in filled] == list(result.best)
    assert measure.lower() in ax.get_xlabel().lower()
    assert "95%" in ax.get_xlabel()


def test_leaderboard_tells_ranks_and_ties():
    result = compared()
    ax = plot.leaderboard(result)
    spans = [f"{a}" if a == b else f"{a}-{b}" for a, b in result.leaderboard.rank_interval]
    assert texts(ax)[:11] == ["ranks", *spans, "ties", "a"]
    assert legend(ax) == [
        "the best, and models not significantly different from it",
        "significantly worse than the best",
    ]
    assert legend(plot.leaderboard(compared(keep=2))) == legend(ax)
    without = texts(plot.leaderboard(compared(adjust="bh")))
    assert without[0] == "ties"
    assert "ranks" not in without


def drawn_models(ax, board, label):
    """Names of the models that the legend calls so."""
    found = [c for c in ax.containers if c.get_label() == label]
    return [board.names[int(row)] for c in found for row in c.lines[0].get_ydata()]


def test_leaderboard_of_some_pairs():
    result = compared(pairs=[(0, 1), (1, 7)])
    ax = plot.leaderboard(result)
    assert "ties" not in texts(ax)
    lost = "significantly worse in a tested pair"
    assert legend(ax) == ["significantly worse in no tested pair", lost, "not tested"]
    best = drawn_models(ax, result.leaderboard, legend(ax)[0])
    assert best == list(result.best)
    assert drawn_models(ax, result.leaderboard, lost) == ["model 1", "model 7"]
    untested = drawn_models(ax, result.leaderboard, "not tested")
    assert sorted(untested) == [f"model {i}" for i in range(2, 7)]


def test_leaderboard_of_a_control():
    result = compared(control=3)
    table = result.against_control()
    said = dict(zip(table["model"], table["result"], strict=True)) | {"model 3": "control"}
    shown = texts(plot.leaderboard(result))
    assert shown[9] == "against control"
    assert shown[10:] == [said[name] for name in result.leaderboard.names]
    assert set(said.values()) >= {"better", "worse"}


@pytest.mark.parametrize("measure", MEASURES)
def test_pvalue_map_is_the_matrix(measure):
    result = compared(measure)
    ax = plot.pvalue_map(result)
    order = result.leaderboard.models
    expected = result.matrix("pvalue_adjusted")[np.ix_(order, order)]
    drawn = ax.images[0].get_array()
    assert drawn.mask.diagonal().all()
    off = ~np.eye(8, dtype=bool)
    np.testing.assert_allclose(drawn[off], expected[off], rtol=1e-12)
    names = list(result.leaderboard.names)
    assert labels(ax.yaxis) == labels(ax.xaxis) == names
    told = result.matrix("significant")[np.ix_(order, order)]
    shown = {tuple(map(round, t.get_position()[::-1])): t for t in ax.texts}
    assert len(shown) == 8 * 7
    for place, text in shown.items():
        assert text.get_text().endswith("*") == told[place]
        assert (text.get_weight() == "bold") == told[place]
        number = text.get_text().rstrip("*")
        if not number.startswith("<"):
            assert abs(float(number) - expected[place]) < 0.00051


def test_pvalue_map_frames_neighbours():
    result = compared()
    frames = [
        (round(p.get_x() + 0.5), round(p.get_x() + p.get_width() - 0.5))
        for p in plot.pvalue_map(result).patches
    ]
    rank = np.argsort(result.leaderboard.models)
    groups = [sorted(int(rank[i]) for i in group) for group in result.groups.groups]
    runs = [g for g in groups if len(g) > 1 and g[-1] - g[0] + 1 == len(g)]
    assert frames == [(g[0], g[-1]) for g in runs]
    assert frames


def test_pvalue_map_of_an_edge():
    # p equal to alpha is significant, and drawn as the bin below alpha.
    result = fastcmp.compare_all([1] * 12, [[1] * 12, [0] * 5 + [1] * 7], method="exact")
    p = result.pvalue_adjusted[0]
    edge = fastcmp.compare_all(
        [1] * 12, [[1] * 12, [0] * 5 + [1] * 7], method="exact", alpha=float(p)
    )
    assert edge.significant.all()
    image = plot.pvalue_map(edge).images[0]
    below, above = image.norm([image.get_array()[0, 1], p + 1e-9])
    assert below + 1 == above


@pytest.mark.parametrize(("models", "stars"), [(20, True), (45, False)])
def test_pvalue_map_of_many(models, stars):
    result = compared(models=models)
    ax = plot.pvalue_map(result)
    told = 2 * int(result.significant.sum())
    assert texts(ax) == (["*"] * told if stars else [])
    assert ("*" in ax.get_xlabel()) == stars
    if not stars:
        assert not ax.patches
        assert ax.collections  # the outline


def hatched(ax):
    """Cells of the map that are hatched."""
    found = set()
    for collection in ax.collections:
        assert collection.get_hatch()
        for path in collection.get_paths():
            (x0, y0), (x1, y1) = path.vertices.min(axis=0), path.vertices.max(axis=0)
            assert y1 == y0 + 1
            found |= {(round(y0 + 0.5), round(x)) for x in np.arange(x0 + 0.5, x1)}
    return found


@pytest.mark.parametrize("some", [{"control": 0}, {"pairs": [(0, 5), (6, 5)]}])
def test_pvalue_map_of_some_pairs(some):
    result = compared(**some)
    ax = plot.pvalue_map(result)
    mask = ax.images[0].get_array().mask
    assert np.count_nonzero(~mask) == 2 * len(result.pairs)
    order = result.leaderboard.models
    tested = {frozenset(pair) for pair in result.pairs.tolist()}
    cells = np.ndindex(8, 8)
    untested = {(i, j) for i, j in cells if {order[i], order[j]} not in tested and i != j}
    assert hatched(ax) == untested
    assert len(untested) == 8 * 7 - 2 * len(result.pairs)
    assert ax.get_xlabel().endswith("hatched: not tested")


def test_pvalue_map_of_what_was_not_kept():
    whole, some = compared(), compared(keep=2)
    ax = plot.pvalue_map(some)
    assert not ax.collections
    assert ax.get_xlabel().endswith("grey: p-value not kept")
    stars = sum(text.endswith("*") for text in texts(ax))
    assert stars == 2 * int(whole.significant.sum())
    assert "kept" not in plot.pvalue_map(whole).get_xlabel()


@pytest.mark.parametrize("measure", MEASURES)
def test_critical_difference_is_the_ranking(measure):
    result = compared(measure)
    scale = 100 if measure == "accuracy" else 1
    ax = plot.critical_difference(result)
    score = dict(zip(result.names, scale * result.score, strict=True))
    for text in ax.texts:
        name = next(name for name in result.names if name in text.get_text())
        digits = 2 if measure == "accuracy" else 4
        assert f"{score.pop(name):.{digits}f}" in text.get_text()
    assert not score
    hung = [x for x in ax.get_lines() if len(x.get_xdata()) == 3]
    hung = [x for x in hung if x.get_marker() == "None"]
    np.testing.assert_allclose(
        sorted(x.get_xdata()[0] for x in hung), np.sort(scale * result.score)
    )
    dots = [x for x in ax.get_lines() if x.get_marker() == "o"]
    groups = [g for g in result.groups.groups if len(g) > 1]
    assert len(dots) == len(groups)
    for dotted, group in zip(dots, groups, strict=True):
        np.testing.assert_allclose(dotted.get_xdata(), np.sort(scale * result.score[list(group)]))
    assert "0.05" in ax.get_xlabel()


def test_critical_difference_joins_only_what_was_tested():
    result = compared(control=3)
    ax = plot.critical_difference(result)
    dots = [x for x in ax.get_lines() if x.get_marker() == "o"]
    tied = result.pairs[~result.significant]
    assert len(dots) == len(tied) > 0
    expect = [np.sort(100 * result.score[pair]).tolist() for pair in tied]
    assert sorted(d.get_xdata().tolist() for d in dots) == sorted(expect)
    assert "21 pairs were not tested" in ax.get_xlabel()
    assert "not tested" not in plot.critical_difference(compared()).get_xlabel()


def at(ax, *places):
    """Colours of pixels at data coordinates, once drawn."""
    image = pixels(ax.figure)
    columns, rows = ax.transData.transform(places).T.astype(int)
    return [mpl.colors.to_hex(x) for x in image[image.shape[0] - 1 - rows, columns]]


# One comparison over time.


def test_evidence_is_that_of_the_looks():
    result = looks()
    ax = plot.evidence(result)
    x, y = line(ax, "a look").get_xydata().T
    np.testing.assert_array_equal(x, result.n_samples)
    np.testing.assert_allclose(y, np.log10(result.evalue))
    limit = line(ax, "1 / alpha = 20").get_ydata()
    np.testing.assert_allclose(limit, np.log10(20))
    mark = line(ax, "decided at 300").get_xydata()[0]
    np.testing.assert_allclose(mark, [x[4], y[4]])
    assert result.first_rejection == 4
    assert ax.get_xlabel() == "Samples"
    later = plot.evidence(looks(alpha=1e-9))
    assert legend(later) == ["1 / alpha = 1e+09", "a look"]


def test_evidence_of_discordant_samples_and_of_no_evidence():
    ax = plot.evidence(mcnemar_looks([3, 9], [1, 2]))
    assert ax.get_xlabel() == "Discordant samples"
    state = MeanLooks(bets=[1.0])  # which loses all with the first -1
    ax = state.update([-1.0]).look().plot()
    assert np.isfinite(line(ax, "a look").get_ydata()).all()


def test_a_look_at_all_pairs_is_drawn_as_a_comparison():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 400)
    counts = PairCounts().update(y, named(np.where(rng.random((3, 400)) < 0.8, y, 0)))
    for kind in ("leaderboard", "pvalues", "critical-difference"):
        assert PairLooks().look(counts).plot(kind).figure


# Two models on folds.


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
def test_folds_are_the_differences(scoring):
    result = cross_validated("nadeau-bengio-t", scoring)
    scale = 100 if scoring is None else 1
    ax = plot.folds(result)
    points = ax.lines[-1].get_xydata()
    first, second = scale * result.scores()
    np.testing.assert_allclose(points[:, 0], (first - second).ravel())
    np.testing.assert_array_equal(points[:, 1], range(1, 16))
    assert ax.lines[-2].get_xdata()[0] == pytest.approx((first - second).mean())
    low, high = result.tests["nadeau-bengio-t"].confidence_interval()
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    np.testing.assert_allclose([band.x0, band.x1], [scale * low, scale * high])
    assert ("(percentage points)" in ax.get_xlabel()) == (scoring is None)
    assert legend(ax) == ["95% CI", "mean", "a fold"]


def test_folds_of_a_test_without_an_interval_or_of_another():
    result = cross_validated("alpaydin-f")
    assert legend(plot.folds(result)) == ["mean", "a fold"]
    assert legend(plot.folds(result, test="yildiz-t"))[0] == "95% CI"
    refuses(ValueError, "'kfold-t' needs kfold", plot.folds, result, test="kfold-t")


# Plans.


def rings(ax):
    return [
        tuple(point)
        for x in ax.lines
        if x.get_marker() == "o" and x.get_linestyle() == "None"
        for point in x.get_xydata()
    ]


@pytest.mark.parametrize("kind", PLANS)
def test_power_curves_pass_through_what_was_planned(kind):
    plan = PLANS[kind]()
    ax = plot.power_curve(plan)
    planned = np.stack([np.ravel(plan.n), np.ravel(plan.power)], axis=1)
    np.testing.assert_array_equal(rings(ax), planned)
    drawn = np.concatenate([x.get_xydata() for x in ax.lines if x.get_xdata().size > 4])
    for n, power in rings(ax):
        at_n = drawn[drawn[:, 0] == n, 1]
        assert np.min(np.abs(at_n - power)) < 1e-12
    assert ax.get_ylabel() == "Power"


def test_a_power_curve_is_the_power():
    ax = plot.power_curve(PLANS["one"]())
    n, power = ax.lines[0].get_data()
    np.testing.assert_array_equal(planning.power(n=n, p10=0.15, p01=0.05).power, power)
    assert power[-1] == pytest.approx(0.99, abs=0.01)
    assert n[0] == 2
    assert legend(ax) == ["n = 152 (80%)"]
    assert ax.get_legend().get_title().get_text() == "McNemar's mid-p test"
    assert ax.get_xscale() == "linear"
    ax = mpl.figure.Figure().subplots()
    assert PLANS["one"]().plot(ax=ax) is ax


def test_power_curves_are_named_by_what_differs():
    assert legend(plot.power_curve(PLANS["several"]())) == [
        "difference 0.02: n = 2,934 (80%)",
        "difference 0.1: n = 107 (80%)",
    ]
    assert legend(plot.power_curve(PLANS["wanted"]())) == ["n = 152 (80%), n = 199 (90.1%)"]
    alone = planning.sample_size(accuracy_a=0.82, accuracy_b=0.8)
    ax = plot.power_curve(alone)
    assert legend(ax)[0] == "discordant 0.02: n = 335 (80.1%)"
    assert ax.get_xscale() == "log"
    grid = planning.power(n=100, p10=[0.1, 0.2], p01=[[0.05], [0.15]])
    found = [text.split(":")[0] for text in legend(plot.power_curve(grid))]
    assert found[0] == "difference 0.05, discordant 0.15"
    assert found[3] == "difference 0.05, discordant 0.35"
    both = {m: planning.sample_size(p10=0.2, p01=0.1, method=m) for m in ("exact", "midp")}
    ax = plot.power_curve(both)
    assert [text.split(":")[0] for text in legend(ax)] == ["exact", "midp"]
    assert ax.get_legend().get_title().get_text() == ""


def test_a_pilot_has_a_band_and_simulations_have_bars():
    plan = PLANS["pilot"]()
    ax = plot.power_curve(plan)
    assert legend(ax)[1] == "mean over what the pilot leaves open"
    corners = ax.collections[0].get_paths()[0].vertices
    at_n = corners[corners[:, 0] == 100][:, 1]
    np.testing.assert_allclose([min(at_n), max(at_n)], plan.interval)
    mean = line(ax, legend(ax)[1]).get_xydata()
    assert mean[mean[:, 0] == 100][0, 1] == pytest.approx(plan.assurance)
    plan = PLANS["folds"]()
    bars = plot.power_curve(plan).containers[0].lines[2][0].get_segments()
    (at_n,) = (bar[:, 1] for bar in bars if bar[0, 0] == 100)
    half = 1.96 * plan.power_standard_error
    assert tuple(at_n) == pytest.approx((plan.power - half, plan.power + half))


def test_power_curves_without_an_answer():
    ax = plot.power_curve(planning.sample_size(p10=0.1, p01=0.1))
    assert rings(ax) == []
    assert legend(ax) == ["power"]
    some = planning.detectable_difference(n=[10, 300], discordant=0.1)
    assert len(rings(plot.power_curve(some))) == 1
    for make, wanted in (
        (
            lambda: planning.detectable_difference(n=10, discordant=0.1),
            r"^result must have a difference that is fou",
        ),
        (
            lambda: planning.power(n=50, p10=np.linspace(0.2, 0.3, 21), p01=0.1),
            r"^power_curve draws at most 20 curves, got 21",
        ),
        (
            lambda: {"a": PLANS["one"](), "b": PLANS["areas"]()},
            r"count the same .*, got samples, positives$",
        ),
    ):
        refuses(ValueError, wanted, plot.power_curve, make())
    refuses(TypeError, r"^power_curve draws a Plan, or several", plot.power_curve, {"a": 1})


# Models by tasks.


def test_task_scores_are_written_in_the_order_of_mean_ranks():
    tasks, areas = fastcmp.load_demsar()
    ax = plot.task_scores(areas, tasks=tasks)
    rows = ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]  # Demsar's mean ranks
    assert labels(ax.yaxis) == rows
    assert labels(ax.xaxis) == tasks
    assert texts(ax) == [f"{x:.3f}" for name in rows for x in areas[name]]
    assert ax.get_xlabel().startswith("dark: best of the task, light: worst\n")


@pytest.mark.parametrize("lower_is_better", [False, True])
@pytest.mark.parametrize("kind", ["rank", "score"])
def test_shades_of_tasks_are_ranks_or_scores(kind, lower_is_better):
    scores = np.array([[0.5, 0.9, np.nan], [0.7, 0.9, 0.2], [0.1, 0.9, 0.4]])
    scores = -scores if lower_is_better else scores
    options = {"names": ["a", "b", "c"], "lower_is_better": lower_is_better}
    ax = plot.task_scores(scores, kind=kind, **options)
    assert labels(ax.yaxis) == ["b", "a", "c"]
    (image,) = ax.get_images()
    wanted = [[5 / 6, 0.5, 0.25], [0.5, 0.5, np.nan], [1 / 6, 0.5, 0.75]]
    if kind == "score":
        wanted = (np.abs(scores)[[1, 0, 2]] - 0.1) / 0.8
    np.testing.assert_allclose(image.get_array().filled(np.nan), wanted)
    assert ax.get_xlabel().count("grey: no score") == 1


def test_mean_ranks_are_on_the_line_best_at_the_right():
    result = over_tasks("nemenyi")
    ax = plot.critical_difference(result)
    assert ax.get_xlabel() == (
        "Mean rank on 30 data sets (1 is best)\n"
        "bars join models not significantly different at 0.05"
    )
    written = {text for text in texts(ax) if not text.startswith("CD")}
    for i, rank in enumerate(result.mean_rank):
        assert written & {f"model {i}  {rank:.2f}", f"{rank:.2f}  model {i}"}
    best, worst = (text.get_text() for text in ax.texts[2:4]), ax.texts[0].get_text()
    assert worst == f"model 0  {result.mean_rank.max():.2f}"
    assert f"{result.mean_rank.min():.2f}  model 6" in list(best)
    ax.figure.canvas.draw()
    assert not any(label.startswith(("-", "\u2212")) for label in labels(ax.xaxis))
    left, right = ax.get_xlim()
    assert left < -result.mean_rank.max() < -result.mean_rank.min() < right


def test_the_critical_difference_is_as_long_as_it_is():
    result = over_tasks("nemenyi")
    ax = plot.critical_difference(result)
    (bar,) = [x for x in ax.get_lines() if x.get_marker() == "|"]
    assert np.ptp(bar.get_xdata()) == pytest.approx(result.critical_difference)
    (label,) = [x for x in ax.texts if x.get_text() == f"CD = {result.critical_difference:.3g}"]
    ax.figure.canvas.draw()
    assert label.get_window_extent().x0 > ax.bbox.x1  # where no line of a model crosses it
    assert not overlap(ax.texts)
    ax = plot.critical_difference(over_tasks("wilcoxon"))
    assert not [x for x in ax.get_lines() if x.get_marker() == "|"]
    assert not any("CD" in text for text in texts(ax))


def test_rank_distribution_is_that_of_the_draws():
    result = drawn(4)
    ax = plot.rank_distribution(result)
    order = np.argsort(result.rank_distribution @ np.arange(1, 5))
    assert labels(ax.yaxis) == [result.names[i] for i in order]
    assert labels(ax.xaxis) == ["1", "2", "3", "4"]
    (image,) = ax.get_images()
    chance = result.rank_distribution[order]
    np.testing.assert_allclose(image.get_array(), chance / chance.max())
    frames = [(p.get_x() + 1.5, p.get_width()) for p in ax.patches]
    wanted = [(low, high - low + 1) for low, high in result.rank_interval[order]]
    np.testing.assert_allclose(frames, wanted)
    assert result.plot().get_xlabel() == ax.get_xlabel()


def overlap(artists):
    """Whether two of the artists that show something cover each other."""
    found = boxes(artists)
    return any(a.overlaps(b) for i, a in enumerate(found) for b in found[i + 1 :])


def pixels(figure):
    """Draw a figure; give its colours from 0 to 1."""
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3] / 255


@pytest.mark.parametrize("name", ONE_EACH)
def test_without_matplotlib(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refuses(ImportError, r"^drawing needs .* 'fastcmp\[plot\]'$", PICTURES[name])


@pytest.mark.parametrize("models", [1, 2, 6, 20])
def test_curves_are_those_of_the_functions(models):
    y, scores = scored(200, models)
    weights = {"sample_weight": np.arange(200) % 7} if models == 6 else {}
    given = scores[0] if models == 1 else named(scores)
    ax, other = plot.roc(y, given, **weights), plot.precision_recall(y, given, **weights)
    for i, row in enumerate(scores):
        area, precision = (f(y, row, **weights) for f in (fastcmp.auc, fastcmp.average_precision))
        if models == 1:
            wanted = f"AUC {area:.3f}", f"average precision {precision:.3f}"
        else:
            wanted = f"{area:.3f}  model {i}", f"{precision:.3f}  model {i}"
        assert (legend(ax)[i], legend(other)[i]) == wanted
        curve, drawn = fastcmp.roc_curve(y, row, **weights), line(ax, wanted[0])
        np.testing.assert_array_equal(drawn.get_data(), (curve.fpr, curve.tpr))
        assert drawn.get_drawstyle() == "default"
        curve, drawn = fastcmp.precision_recall_curve(y, row, **weights), line(other, wanted[1])
        np.testing.assert_array_equal(drawn.get_data(), (curve.recall, curve.precision))
        assert drawn.get_drawstyle() == "steps-post"
    assert legend(ax)[models:] == []
    rate = np.average(y, weights=weights.get("sample_weight"))
    assert legend(other)[models:] == [f"base rate {rate:.3f}"]
    np.testing.assert_allclose(line(other, legend(other)[models]).get_ydata(), rate)
    assert len(ax.get_lines()) == len(other.get_lines()) == models + 1  # and the diagonal
    assert "specificity" in ax.get_xlabel()
    assert "sensitivity" in ax.get_ylabel()


def tied(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 60)
    return y, (rng.normal(size=(2, 60)) + y).round(), rng.random(60)


def test_given_cutoffs():
    for cutoff in (0.4, 1, -math.inf, math.inf, np.float64(1.5)):
        ax = plot.roc(Y, S[0], cutoff=cutoff)
        called = S[0] >= cutoff
        (x,), (y,) = line(ax, legend(ax)[1]).get_data()
        assert (x, y) == (called[Y == 0].mean(), called[Y == 1].mean())
    y, score = [0, 0, 1, 1], [math.inf, 1, 2, 3]
    ax = plot.roc(y, score, cutoff=math.inf)
    (x,), (height,) = line(ax, legend(ax)[1]).get_data()
    assert (x, height) == (0.5, 0)
    assert plot.cutoffs(y, score).get_legend()


@pytest.mark.parametrize("draw", OF_PAIRS)
def test_models_that_do_not_differ_and_areas(draw):
    y = np.arange(20) % 2
    grey = pixels(draw(fastcmp.compare_all(y, {"a": y, "b": y})).figure).mean(axis=2)
    assert 0 < np.mean(grey < 0.9) < 0.9  # drawn, and not all over
    refuses(TypeError, r"got DelongResult; pass its pairwise\(\)$", draw, fastcmp.delong(Y5, S5))
