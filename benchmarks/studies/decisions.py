"""How often the tests that plan and decide err: docs/studies/decisions.*.

    python -m benchmarks.studies decisions

Where all data sets can be listed, the largest error rate over the accuracies; else by
simulation. Half an hour on one core, most of it for metrics.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, gammaln, ndtr, ndtri, stdtr, xlog1py, xlogy

import fastcmp
from fastcmp import planning
from fastcmp.kernels import GREATER, score_exact, tango_exact, tango_test
from fastcmp.paired.margins import BoundedUnits, bounded_score
from fastcmp.sequential import mcnemar_looks

from . import decision_page

ALPHA, SEED, RUNS, DRAWS, GRID = 0.05, 1, 2_000, 999, 1_001
SIZES, MARGINS, UNPAIRED = (30, 50, 100, 200), (0.05, 0.1), ((20, 30), (50, 50))
METHODS = ("score", "miettinen-nurminen", "barnard", "boschloo")
LOOKS, EVEN = 30, (0.1, 0.1, 0.8)
EQUAL, APART = np.full(8, 0.8), np.linspace(0.7, 0.84, 8)
#: Setting, samples, accuracies; or chances of only a right, only b, neither or both.
SETTINGS = {
    "looks": (("equal", 1200, EVEN), ("5 points apart", 1200, (0.15, 0.1, 0.75))),
    "family": (("equal", 100, EQUAL), ("equal", 500, EQUAL)),
    "best": (("equal", 200, EQUAL), ("2 points apart", 200, APART)),
    "winner": tuple(
        (f"{m} models, accuracy {p}", n, np.full(m, p))
        for m, n, p in (
            (10, 50, 0.9),
            (10, 100, 0.95),
            (5, 20, 0.79),
            (5, 50, 0.8),
            (10, 50, 0.05),
            (10, 1000, 0.9),
        )
    ),
    "numbers": tuple((f"{m} models", n, np.zeros(m)) for m in (4, 10, 20) for n in (20, 50, 200)),
}
METRICS = ("recall", "precision", "balanced_accuracy", "f1_macro", "mcc", "kappa")
#: Of model b, where a makes more errors until the metric is lower by the margin.
RECALLS, METRIC_MARGIN = (0.98, 0.9), 0.1
METRIC_SIZES, PREVALENCES = (50, 100, 200, 500, 1000), (0.02, 0.05, 0.1, 0.2, 0.5)
KINDS = (
    *("whole clusters fail", "large clusters fail"),
    *("whole clusters fail, others differ by chance",),
    *("correlation 0.3 in clusters", "no correlation in clusters"),
)
CLUSTERS, UNIT_MARGINS, LARGE = (5, 10, 20, 30, 50), (0.08, 0.2), 25
DESIGNS = ((39, 0.3, 0.05), (152, 0.15, 0.05), (769, 0.06, 0.03))


def rejects(pvalues):
    return np.asarray(pvalues) <= ALPHA * (1.0 + 1e-12)


def paired_size(n, difference, rejected):
    """Largest chance of the rejected (only_a, only_b), by how often only b is right."""
    a, b = np.array(rejected).T
    rest = n - a - b
    ways = gammaln(n + 1) - gammaln(a + 1) - gammaln(b + 1) - gammaln(rest + 1)
    largest = 0.0
    for q in np.linspace(max(0.0, -difference), (1.0 - difference) / 2.0, GRID):
        p = q + difference
        logs = ways + xlogy(a, p) + xlogy(b, q) + xlogy(rest, max(1.0 - p - q, 0.0))
        largest = max(largest, np.exp(logs).sum())
    return largest


def margins():
    """Sizes of the tests of accuracies on the same samples against a margin."""
    for n in SIZES:
        tables = [(a, b) for a in range(n + 1) for b in range(n + 1 - a)]
        for margin in MARGINS:
            for sign, claim in ((-1.0, "not worse"), (1.0, "better by more")):
                null = sign * margin
                found = {"score": [tango_test(*t, n, null, GREATER) for t in tables]}
                if n <= 100:  # of more, all tables take long
                    found["exact"] = [tango_exact(*t, n, null) for t in tables]
                for how, tests in found.items():
                    each = zip(tables, tests, strict=True)
                    rejected = [t for t, test in each if rejects(test.pvalue)]
                    size = paired_size(n, null, rejected)
                    yield f"margin {margin}", n, f"{how}: {claim}", size


def unpaired_size(n_a, n_b, difference, rejected):
    """Largest chance of the rejected tables of two independent accuracies."""
    p = np.linspace(max(0.0, -difference), min(1.0, 1.0 - difference), GRID)
    chances = []
    for n, rates in ((n_a, p + difference), (n_b, p)):
        k, rate = np.arange(n + 1)[:, np.newaxis], np.clip(rates, 0.0, 1.0)
        ways = -np.log(n + 1) - betaln(k + 1, n - k + 1)
        chances.append(np.exp(ways + xlogy(k, rate) + xlog1py(n - k, -rate)))
    return np.einsum("ig,ij,jg->g", chances[0], rejected, chances[1]).max()


def unpaired():
    """Sizes of the tests of accuracies on different samples."""
    test = fastcmp.accuracy_unpaired
    for n_a, n_b in UNPAIRED:
        n, sides = f"{n_a} + {n_b}", (n_a + 1, n_b + 1)
        a, b = np.indices(sides)
        for how in METHODS:
            found = rejects(test(counts=(a, n_a, b, n_b), method=how).pvalue)
            yield "H0: equal", n, how, unpaired_size(n_a, n_b, 0.0, found)
        options = {"alternative": "greater", "null_difference": -0.1}
        score = test(counts=(a, n_a, b, n_b), method=METHODS[1], **options).pvalue
        chan = [score_exact(x, n_a, y, n_b, -0.1, 1) for x, y in np.ndindex(sides)]
        exact = np.reshape([each.pvalue for each in chan], sides)
        for how, pvalue in ((METHODS[1], score), ("Chan", exact)):
            size = unpaired_size(n_a, n_b, -0.1, rejects(pvalue))
            yield "H0: worse by 0.1", n, how, size


def differences(kind, rng, sizes, margin):
    """Sums of differences of clusters, whose mean over samples is -margin."""
    chance = margin
    if kind == "large clusters fail":
        large = sizes > LARGE
        share = (large * sizes).sum(axis=1, keepdims=True) / sizes.sum(axis=1, keepdims=True)
        chance = np.where(share > margin, large * margin / np.maximum(share, margin), margin)
    failed = rng.random(sizes.shape) < chance
    if kind in KINDS[:2]:
        return -sizes * failed
    if kind == "whole clusters fail, others differ by chance":
        better = rng.binomial(sizes, 0.05)
        return np.where(failed, -sizes, better - rng.binomial(sizes - better, 0.05 / 0.95))
    if kind == "correlation 0.3 in clusters":
        return -rng.binomial(sizes, rng.beta(margin * 7 / 3, (1 - margin) * 7 / 3, sizes.shape))
    return -rng.binomial(sizes, margin)


def units(runs):
    """Sizes of tests against a margin by clusters, and of weighted and stratified samples.

    "t" is what standard errors alone would give.
    """
    for margin in UNIT_MARGINS:
        for place, kind in enumerate(KINDS):
            for n in CLUSTERS:
                rng = generator(place)
                sizes = rng.integers(1, 50, (runs, n)) if n != 10 else np.full((runs, n), 20)
                sums, each = differences(kind, rng, sizes, margin), sizes.astype(float)
                score = bounded_score(BoundedUnits(sums, each), -margin)
                total = each.sum(axis=1, keepdims=True)
                part, mean = each / total, sums.sum(axis=1, keepdims=True) / total
                variance = ((sums - each * mean) ** 2 / (1 - part)).sum(axis=1) / total[:, 0] ** 2
                u = each * part / (1 - part)
                df = total[:, 0] ** 2 / ((each**2).sum(1) + u.sum(1) ** 2 - (u**2).sum(1))
                with np.errstate(divide="ignore"):
                    t = (mean[:, 0] + margin) / np.sqrt(variance)
                setting = f"{kind}, margin {margin}"
                yield setting, f"{n} clusters", "t", rejects(stdtr(df, -t)).mean()
                yield setting, f"{n} clusters", "not worse", rejects(ndtr(score)).mean()
        for heavy in (False, True):
            for n in (50, 100, 200):
                weight = np.where(np.arange(n) < n // 5, 4.0, 1.0)  # half of the weight
                chance = np.where(weight > 1.0, 2.0 * margin, 0.0) if heavy else margin
                lost = 1.0 * (generator(n).random((runs, n)) < chance)
                score = bounded_score(BoundedUnits(-lost * weight, weight), -margin)
                mean = -(lost @ weight) / weight.sum()
                rest = (-lost - mean[:, np.newaxis]) * weight
                error = np.sqrt((rest**2).sum(axis=1)) / weight.sum()
                with np.errstate(divide="ignore"):
                    t = (mean + margin) / error
                name = f"{'heavy' if heavy else 'all'} samples fail, margin {margin}"
                yield name, f"{n} samples", "t", rejects(stdtr(n - 1, -t)).mean()
                yield name, f"{n} samples", "not worse", rejects(ndtr(score)).mean()


def generator(run):
    """Random numbers of one data set: a function of its number."""
    return np.random.Generator(np.random.Philox(key=SEED, counter=[0, 0, 0, run]))


def looks(run, n, chances):
    """Look 30 times: was there an error of E, of the intervals, of mid-p?"""
    drawn = generator(run).multinomial(n // LOOKS, chances, size=LOOKS)
    a, b, none = drawn.cumsum(axis=0).T
    found = mcnemar_looks(a, b, n_samples=a + b + none, alpha=ALPHA)
    truth = chances[0] - chances[1]
    wrong = {"intervals": np.any((found.low > truth) | (found.high < truth))}
    if truth == 0.0:
        midp = rejects(fastcmp.mcnemar(only_a=a, only_b=b, method="midp").pvalue)
        wrong |= {"E": found.decided, "mid-p": midp.any(), "mid-p, last": midp[-1]}
    return wrong


def right_answers(run, n, accuracies):
    """Draw which samples each model gets right: some samples are easy for all."""
    z = generator(run).normal(size=(len(accuracies) + 1, n))
    return (z[0] + z[1:]) / 2.0**0.5 < ndtri(accuracies)[:, np.newaxis]


def family(run, n, accuracies):
    """Compare equal models: is any pair significant?"""
    truth = np.zeros(n, int)
    wrong = (~right_answers(run, n, accuracies)).astype(int)
    options = {"classes": [0, 1], "workers": 1, "rng": run, "n_resamples": DRAWS}
    maxt = fastcmp.compare_all(truth, wrong, adjust="maxt", **options)
    holm = fastcmp.compare_all(truth, wrong, classes=[0, 1], workers=1)
    return {
        "max-T": rejects(maxt.pvalue_adjusted).any(),
        "Holm": rejects(holm.pvalue_adjusted).any(),
        "not adjusted": rejects(holm.pvalue).any(),
    }


def best(run, n, truth):
    """Rank eight models: what does not hold?"""
    values = right_answers(run, n, truth).astype(float)
    options = {"rng": run, "n_resamples": DRAWS, "workers": 1}
    ranks = fastcmp.rank_sets(values, **options)
    chosen = fastcmp.best_set(values, **options)
    winner = fastcmp.winner_estimate(values, **options)
    own, gaps = truth[winner.index], truth[:, np.newaxis] - truth
    least, most = 1 + (gaps < 0).sum(axis=1), len(truth) - (gaps > 0).sum(axis=1)
    ends, naive = winner.interval, winner.naive_interval
    return {
        "rank sets": np.any((ranks.lower > least) | (ranks.upper < most)),
        "best set": not chosen.may_be_best[np.argmax(truth)],
        "winner's interval, naive": not naive.low <= own <= naive.high,
        "corrected": not ends.low <= own <= ends.high,
        "winner's estimate too high": winner.estimate > own,
        "median too high": winner.median > own,
    }


def winner(run, n, truth):
    """Is the accuracy of the best of equal models in its interval?"""
    values = right_answers(run, n, truth).astype(float)
    found = fastcmp.winner_estimate(values, rng=run, n_resamples=DRAWS, workers=1)
    own, ends, naive = truth[found.index], found.interval, found.naive_interval
    return {
        "interval too high": ends.low > own,
        "interval too low": ends.high < own,
        "naive interval too high": naive.low > own,
        "median too high": found.median > own,
        "tie": found.method == "projection",
    }


def numbers(run, n, means):
    """Equal models with normal values: is any of them shown to be worse?"""
    values = generator(run).normal(size=(len(means), n))
    options = {"rng": run, "n_resamples": DRAWS, "workers": 1}
    ranks = fastcmp.rank_sets(values, **options)
    return {
        "rank sets": np.any((ranks.lower > 1) | (ranks.upper < len(means))),
        "best set": not fastcmp.best_set(values, **options).may_be_best[0],
        "confidence set": bool(
            np.any(fastcmp.model_confidence_set(values, **options).pvalue <= ALPHA)
        ),
    }


def population(metric, prevalence):
    """Chances of [true, a, b] where a is worse by just the margin.

    It misses more positives, for precision it has more false alarms. Half of the errors
    that both could make together are made together.
    """

    def chances(recalls):
        found = np.zeros((2, 2, 2))
        rows = zip((1 - prevalence, prevalence), recalls, RECALLS, strict=True)
        for t, (p, a, b) in enumerate(rows):
            both = 0.5 * (a * b + min(a, b))
            found[t, t, t], found[t, t, 1 - t] = p * both, p * (a - both)
            found[t, 1 - t, t], found[t, 1 - t, 1 - t] = p * (b - both), p * (1 - a - b + both)
        return found

    def loss(share):
        recalls = np.array(RECALLS)
        recalls[int(metric != "precision")] *= share
        found = np.round(1e12 * chances(recalls)).astype(int)
        values = (
            fastcmp.metric(table=found.sum(axis=2 - model), metric=metric).value for model in (0, 1)
        )
        return np.subtract(*values) + METRIC_MARGIN, chances(recalls)

    low, high = 0.0, 1.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if loss(middle)[0] < 0.0 else (low, middle)
    return loss(high)[1]


def metric_margins(runs):
    """Sizes of the tests of metrics against a margin, and what their intervals miss."""
    for place, metric in enumerate(METRICS):
        for prevalence in PREVALENCES:
            chances = population(metric, prevalence).ravel()
            for n in METRIC_SIZES:
                drawn = generator(place).multinomial(n, chances, size=runs)
                if metric == "recall":  # only positives count
                    drawn[:, 0], drawn[:, 1:4] = n - drawn[:, 4:].sum(axis=1), 0
                tables, times = np.unique(drawn, axis=0, return_counts=True)
                false = missed = 0
                for table, many in zip(tables.reshape(-1, 2, 2, 2), times, strict=True):
                    found = fastcmp.compare_metric(
                        counts=table, metric=metric, margin=METRIC_MARGIN, n_resamples=DRAWS
                    )
                    low, high = found.interval
                    false += many * found.margins.margin_met
                    missed += many * (low > -METRIC_MARGIN or high < -METRIC_MARGIN)
                setting = f"{found.measure}, {prevalence:.0%} positive"
                yield setting, n, "false not worse", false / runs
                yield setting, n, "95% interval misses", missed / runs


def simulated(one, runs):
    """Give how often each of the named answers of data sets was true."""
    for setting, *options in SETTINGS[one.__name__]:
        rows = [one(run, *options) for run in range(runs)]
        for how in rows[0]:
            yield setting, options[0], how, np.mean([row[how] for row in rows])


def planned(runs):
    """Power of McNemar's mid-p test, as planned and as simulated."""
    for place, (n, p10, p01) in enumerate(DESIGNS):
        setting, cells = f"p10 = {p10}, p01 = {p01}", [p10, p01, 1.0 - p10 - p01]
        a, b, _ = generator(place).multinomial(n, cells, size=runs).T
        pvalue = fastcmp.mcnemar(only_a=a, only_b=b, method="midp").pvalue
        power = planning.power("mcnemar", n=n, p10=p10, p01=p01, method="midp").power
        yield setting, n, "predicted", power
        yield setting, n, "simulated", rejects(pvalue).mean()


def main(runs=RUNS, folder=decision_page.FOLDER):
    """Work everything out, and write the data and the page."""
    rows = [("margins", *row, 0, SEED) for row in margins()]
    rows += [("unpaired", *row, 0, SEED) for row in unpaired()]
    few = max(runs // 2, 1)
    number = max(runs // 4, 1)
    rows += [("metrics", *row, number, SEED) for row in metric_margins(number)]
    shares = ((looks, runs), (family, runs), (best, few), (winner, few), (numbers, few))
    for part, number in shares:
        rows += [(part.__name__, *row, number, SEED) for row in simulated(part, number)]
    rows += [("units", *row, 5 * runs, SEED) for row in units(5 * runs)]
    rows += [("planned", *row, 10 * runs, SEED) for row in planned(10 * runs)]
    decision_page.write(rows, folder)


if __name__ == "__main__":
    main()
