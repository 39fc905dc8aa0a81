"""Laws of all records: they print, become tables and JSON, and are read back.

A record is what a public function returns; each public record class needs an example
here, or in the proper calls of `test_refusals`.
"""

import html
import json
import re
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest
import study_records
from public_names import record_classes
from test_refusals import GOOD, SCORE_COUNTS, SCORES, A, B, S, T, X, Y, fitted, models

import fastcmp
from fastcmp import datasets, designs, planning, sequential, stream
from fastcmp.core.record_parts import Compared
from fastcmp.core.records import Record
from fastcmp.report.headline import headline
from fastcmp.report.methods import methods_of
from fastcmp.report.page import to_page

LIBRARIES = ("pandas", "polars", "pyarrow")


def called(name):
    """Make a proper call of a public function."""
    options = dict(GOOD[name])
    if name == "compare_cv":
        options |= dict(zip(("model_a", "model_b"), models(), strict=True))
    if name == "compare_cv_all":
        options |= {"models": dict(zip("ab", models(), strict=True))}
    if name == "compare_holdout":
        options |= dict(zip(("model_a", "model_b"), fitted(), strict=True))
    return getattr(fastcmp, name)(**options)


@cache
def examples():
    """Make a record of each kind, and some kinds in several ways."""
    found = {name: called(name) for name in sorted(GOOD) if "." not in name}
    delong = fastcmp.delong(**SCORES)
    pairwise = fastcmp.compare_all(Y, {"a": A, "b": B, "c": A[::-1]})
    three = stream.PairCounts().update(Y, {"a": A, "b": B, "c": A[::-1]})
    found |= {
        "unpaired means": fastcmp.means_unpaired([1.0, 2.0, 4.0], [2.0, 0.5], margin=1),
        "unpaired means decided": fastcmp.compare_unpaired(
            [1.0, 2.0, 4.0], [2.0, 0.5], measure="mean", margin=1
        ),
        "unpaired areas decided": fastcmp.compare_unpaired(
            (Y, A), (Y, B), measure="auc", margin=0.2
        ),
        "unpaired accuracies": fastcmp.accuracy_unpaired_from_counts(
            [56, 9], [70, 10], 3, 8, method="auto", margin=0.05
        ),
        "mcnemar of arrays": fastcmp.mcnemar_from_counts(
            [3, 0], [9, 0], both_right=4, both_wrong=1
        ),
        "pairs by a metric": fastcmp.compare_all(Y, {"a": A, "b": B, "c": A[::-1]}, metric="mcc"),
        "pairs by the bootstrap of a metric": fastcmp.compare_all(
            Y, {"a": A, "b": B}, metric="lr_minus", method="bootstrap", rng=1
        ),
        "equality in clusters": fastcmp.metric_equality(
            Y, {"a": A, "b": B}, metric="f1", groups=[0, 1, 2, 3] * 3
        ),
        "report of three": fastcmp.classification_report(
            Y, {"a": A, "b": B, "c": A[::-1]}, control="b", overall=["mcc", "kappa"]
        ),
        "mcnemar with a margin": fastcmp.mcnemar(Y, A, B, margin=0.2),
        "several margins": fastcmp.margin_tests([0.1, -0.2], 0.1, 0.2, df=9, n_samples=9),
        "metrics with margins": fastcmp.compare_metric(
            Y, A, B, metric=["accuracy", "mcc"], margin=[0.2, 0.1]
        ),
        "costs with a margin": fastcmp.cost_test(Y, A, B, [[0, 1], [5, 0]], margin=1),
        "means with a margin": fastcmp.mean_difference(S, T, margin=0.2),
        "area with a margin": delong.compare("a", "b", margin=0.2),
        "held out with a margin": fastcmp.compare_labels(Y, A, B, margin=0.2),
        "pairs with a margin": fastcmp.compare_all(Y, {"a": A, "b": B, "c": A[::-1]}, margin=0.2),
        "pairs with a margin and a control": fastcmp.compare_means(
            {"a": S, "b": T, "c": S[::-1]}, margin=0.2, control="a"
        ),
        "several metrics": fastcmp.metric(Y, A, metric=["f1", "mcc"]),
        "several metrics of two": fastcmp.compare_metric(Y, A, B, metric=["f1", "mcc"]),
        "metrics of tables": fastcmp.compare_metric_from_counts(
            [[[[3, 1], [2, 1]], [[1, 0], [2, 4]]]] * 2, metric=["f1", "kappa"]
        ),
        "mcnemar in clusters": fastcmp.mcnemar(Y, A, B, groups=[0, 1, 2] * 4),
        "mcnemar in clusters in strata": fastcmp.mcnemar(
            Y, A, B, groups=[0, 1, 2] * 4, strata=[0, 0, 1, 1] * 3
        ),
        "mcnemar in strata": fastcmp.mcnemar(Y, A, B, strata=[0, 1, 2] * 4),
        "mcnemar in weighted strata": fastcmp.mcnemar(
            Y, A, B, strata=[0, 0, 1] * 4, stratum_weights="equal", method="exact"
        ),
        "pairs in clusters": fastcmp.compare_all(
            Y, {"a": A, "b": B, "c": A[::-1]}, groups=[0, 1, 2, 3] * 3
        ),
        "pairs in clusters in strata": fastcmp.compare_all(
            *(Y, {"a": A, "b": B, "c": A[::-1]}),
            groups=[0, 1, 2, 3] * 3,
            strata=[0, 0, 1, 1] * 3,
            control="a",
        ),
        "q in clusters": fastcmp.cochrans_q(
            Y, {"a": A, "b": B, "c": A[::-1]}, groups=[0, 1, 2, 3] * 3, method="wald-f"
        ),
        "mcnemar exact": fastcmp.mcnemar(Y, A, B, method="exact"),
        "mcnemar of words": fastcmp.mcnemar(list("xyyx"), list("xyxx"), list("yyyx")),
        "cost of dates": fastcmp.cost_test(
            np.array(Y, "M8[D]"),
            np.array(A, "M8[D]"),
            np.array(B, "M8[D]"),
            [[0, 1], [5, 0]],
        ),
        "signed rank of clusters": fastcmp.signed_rank(
            np.arange(60.0), np.ones(60), groups=np.arange(60) // 2
        ),
        "three models": pairwise,
        "pairs by max-T": fastcmp.compare_all(
            *(Y, {"a": A, "b": B, "c": A[::-1]}),
            adjust="maxt",
            simultaneous=True,
            rng=1,
        ),
        "pairs by max-T of normal draws": fastcmp.compare_all(
            *(Y, {"a": A, "b": B, "c": A[::-1]}),
            metric="f1",
            adjust="single-step",
            control="a",
            simultaneous=True,
            rng=1,
        ),
        "control": fastcmp.compare_all(Y, {"a": A, "b": B, "c": A}, control="b"),
        "leaderboard": pairwise.leaderboard,
        "delong compared": delong.compare("a", "b"),
        "delong contrast": delong.contrast([[1, -1]]),
        "delong in pairs": delong.pairwise(),
        "post hoc": fastcmp.cochrans_q(Y, {"a": A, "b": B, "c": A[::-1]}, post_hoc="midp"),
        "gate": fastcmp.gate({"all": fastcmp.mcnemar(Y, A, B, margin=0.1)}, names=("new", "old")),
        "bounds": SCORE_COUNTS.auc,
        "tie groups": pairwise.groups,
        "joint test": found["compare_sensitivity_specificity"].joint,
        "ratio": found["compare_sensitivity_specificity"].ratio("ppv"),
        "kappa of words": fastcmp.cohen_kappa(
            *(list("xyzxyzxx"), list("xyzzyxxy")), weights="linear", labels=list("zyx")
        ),
        "kappa of own weights": fastcmp.cohen_kappa_from_counts(
            [[9, 2], [1, 8]], weights=[[0, 2], [1, 0]]
        ),
        "predictive values": found["compare_sensitivity_specificity"].ppv_score,
        "power": planning.power(n=100, p10=0.15, p01=0.05),
        "sample sizes": planning.sample_size(p10=[0.15, 0.2], p01=0.05, power=[[0.8], [0.9]]),
        "no sample size": planning.sample_size(p10=0.1, p01=0.1),
        "range of sample sizes": planning.sample_size(accuracy_a=0.9, accuracy_b=0.85),
        "noninferiority": planning.sample_size(
            accuracy_a=0.9, accuracy_b=0.9, agreement=0.85, margin=0.02, power=0.9
        ),
        "detectable difference": planning.detectable_difference(n=300, discordant=0.2),
        "plan of a pilot": planning.sample_size(pilot=(12, 5, 80)),
        "plan of means": planning.sample_size(
            test="mean", difference=0.1, sd=0.8, margin=0.05, hypothesis="superiority"
        ),
        "plan of an AUC": planning.sample_size(test="auc", auc=[0.6, 0.7], ratio=2),
        "plan of two AUCs": found["delong"].sample_size(),
        "plan of folds": planning.power(test="cv", n=40, p10=0.2, p01=0.1, n_resamples=20, rng=1),
        "plan of a leaderboard": planning.sample_size(
            test="leaderboard", accuracies=[0.9, 0.8, 0.7], agreement=0.7, rng=1
        ),
        "leaderboards of a pilot": found["compare_all"].power(n=[50, 500], rng=1),
        "plans of a pilot": planning.power(n=[50, 99, 200], pilot=(12, 5, 80)),
        "test of all models": datasets.friedman([S, T, S[::-1]]),
        "test of all models by draws": datasets.friedman(
            [S, T, S[::-1]], method="monte-carlo", n_resamples=9, rng=1
        ),
        "test of all models with gaps": datasets.skillings_mack([S, [None, *T[1:]], S[::-1]]),
        "normalised scores": datasets.normalised_scores([S, T]),
        "data sets by ranks": fastcmp.compare_datasets(
            {"a": S, "b": T, "c": S[::-1]}, method="nemenyi"
        ),
        "data sets with a control": fastcmp.compare_datasets(
            {"a": S, "b": T, "c": S[::-1]}, control="b", alternative="greater"
        ),
        "data sets that models lack": fastcmp.compare_datasets(
            {"a": S, "b": [None, *T[1:]], "c": S[::-1]}, missing="pairs", method="t"
        ),
        "e-value": sequential.mcnemar(Y, A, B, alternative="less"),
        "e-values": sequential.mcnemar_from_counts([3, 0], [9, 0], both_right=4, both_wrong=1),
        "looks": sequential.mcnemar_looks([3, 90], [1, 20], n_samples=[10, 150]),
        "looks at discordant samples": sequential.mcnemar_looks([3, 9], [1, 2]),
        "looks at means": sequential.MeanLooks(mean0=0.2).update([0.5, 0.0]).look(),
        "mean by bets": sequential.mean_test([0.5, -0.25, 1.0], alternative="greater"),
        "mean by empirical bernstein": sequential.mean_test(
            [0.5, -0.25, 1.0], method="empirical-bernstein"
        ),
        "look at pairs": sequential.PairLooks().look(three),
        "look at pairs by e-bh": sequential.PairLooks(adjust="e-bh").look(three),
        "battles on tasks": datasets.bradley_terry_from_scores({"a": S, "b": T}),
        "battles of tasks drawn again": datasets.bradley_terry_from_scores(
            {"a": S, "b": T}, covariance="bootstrap", n_resamples=9, rng=1
        ),
        "battles with ties": fastcmp.bradley_terry(
            [[0, 3, 1], [2, 0, 2], [1, 4, 0]],
            1 - np.eye(3),
            ties_as="davidson",
            control=1,
        ),
        "linked models": datasets.win_components([[0, 3, 0], [0, 0, 0], [0, 1, 0]]),
        "marked table": datasets.task_table(np.sin(np.arange(36)).reshape(3, 2, 2, 3), baseline=1),
        "folds of several data sets": fastcmp.compare_folds(
            {
                "x": np.sin(np.arange(18)).reshape(3, 2, 3),
                "y": np.cos(np.arange(18)).reshape(3, 2, 3),
            }
        ),
        "several data sets": fastcmp.compare_cv_all(
            dict(zip("ab", models(), strict=True)),
            {"x": (X(), Y), "y": (X() ** 2, Y)},
            design=designs.two_fold(2, blocked=True, rng=1),
            rng=1,
        ),
        "Bayesian sign test": datasets.bayes_sign(S, T),
        "Bayesian sign test of counts": datasets.bayes_sign_from_counts(9, 2, 4),
        "Bayesian signed ranks": datasets.bayes_signed_rank(S, T, rng=1),
        "Bayesian t": datasets.bayes_correlated_t(S, T),
        "Bayesian pairs": datasets.bayes_datasets({"a": S, "b": T}, rng=1),
        "tasks drawn again": datasets.task_bootstrap({"a": S, "b": T}, rng=1),
        "all draws of tasks": datasets.task_bootstrap({"a": S[:4], "b": T[:4]}),
        "tasks left out": datasets.leave_one_task_out({"a": S, "b": T}),
        "noise in tasks": datasets.task_noise([[0.1, 0.3, 0.2], [0.0, -0.1]]),
        "design": designs.kfold(3, rng=1),
        "runs": found["compare_cv"].runs,
        "run": found["compare_cv"].runs.runs[0],
        **{
            f"study {name}": getattr(study_records, name)()
            for name in (
                "type_one_errors",
                "power_study",
                "error_study",
                "correlation_study",
            )
        },
    }
    return {name: x for name, x in found.items() if isinstance(x, Record)}


RECORDS = sorted(examples())


def test_each_public_record_has_an_example():
    seen = {type(x).__name__ for x in examples().values()}
    assert set(record_classes()) - {"Record"} <= seen


@pytest.mark.parametrize("name", RECORDS)
def test_json_is_read_back(name):
    record = examples()[name]
    plain = record.to_dict()
    assert plain["record"] == type(record).__name__
    assert plain["version"] == 1
    again = fastcmp.from_dict(json.loads(json.dumps(plain, allow_nan=False)))
    assert type(again) is type(record)
    assert again == record
    assert again.to_dict() == plain
    assert str(again) == str(record)


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_one_line(name):
    record = examples()[name]
    assert repr(record).startswith(type(record).__name__ + "(")
    assert "\n" not in repr(record)
    assert len(repr(record)) <= 250


@pytest.mark.parametrize("name", RECORDS)
def test_text_fits_the_terminal(name):
    record = examples()[name]
    lines = str(record).splitlines()
    assert 1 <= len(lines) <= 100
    assert max(map(len, lines)) <= 80
    assert record.summary().strip()


@pytest.mark.parametrize("name", RECORDS)
def test_tables_of_all_libraries_agree(name):
    record = examples()[name]
    columns = record.columns()
    assert len({len(x) for x in columns.values()}) == 1
    for library in LIBRARIES:
        frame = record.to_frame(library)
        assert list(getattr(frame, "column_names", frame.columns)) == list(columns)


@pytest.mark.parametrize("name", RECORDS)
def test_other_formats(name):
    record = examples()[name]
    title = record.sections()[0].title
    for text in (record.to_markdown(), record.to_html(), record.to_latex()):
        assert text.strip()
    assert html.escape(title) in record._repr_html_()


@pytest.mark.parametrize("name", RECORDS)
def test_statistics_have_a_distribution(name):
    record = examples()[name]
    if not hasattr(record, "statistic"):
        return
    assert record.distribution in KNOWN
    if record.distribution in ("chi2", "t", "F"):
        assert record.df is not None


@pytest.mark.parametrize("name", RECORDS)
def test_a_report_answers_and_says_how(name):
    record = examples()[name]
    answer = headline(record)
    assert answer.strip()
    assert answer[-1] in ".)?"
    assert "\n" not in answer
    assert all(methods_of(record).paragraphs)
    shown = html.unescape(to_page({"of": record})).replace("\u00a0", " ")
    assert answer in shown or record.sections()[0].title in shown
    # Adjustments have the names that papers give them, not those of options.
    assert not re.search(r"adjusted[^.]*(\(|by )(e-)?(holm|bh|maxt|none)\b", shown)


KNOWN = (
    *("chi2", "normal", "t", "F", "binomial", "trinomial"),
    *("permutation", "bootstrap", "kolmogorov", "studentized-range"),
)


@pytest.mark.parametrize("name", RECORDS)
def test_the_better_of_two_models(name):
    record = examples()[name]
    # Two discordant counts alone have no difference of accuracies.
    if not isinstance(record, Compared) or name in ("mcnemar_from_counts", "from_dict"):
        return
    if np.ndim(record.difference):
        return
    sign = -1 if record.measure in ("cost", "error") else 1
    wanted = {1: "a", -1: "b"}.get(sign * np.sign(record.difference))
    assert record.better == wanted


@pytest.mark.parametrize("library", ["csv", 1, None])
def test_unknown_libraries(library):
    with pytest.raises(ValueError, match="library must be one of"):
        examples()["mcnemar"].to_frame(library)


class Page(HTMLParser):
    """Tags that are closed as they were opened, all names of ids, and the text."""

    VOID = ("meta", "br", "input", "link", "img", "hr")

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.seen, self.targets = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        assert len(found) == len(attrs)
        assert "style" not in found
        assert not any(name.startswith("on") for name in found)
        self.ids += [found["id"]] if "id" in found else []
        for name in ("aria-labelledby", "href"):
            if (target := found.get(name, "")).startswith("#") or "labelled" in name:
                self.targets += target.removeprefix("#").split()
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if not {"script", "style"} & set(self.open):
            self.seen.append(text)


@pytest.mark.parametrize("name", RECORDS)
def test_a_report_is_a_page(name):
    text = to_page({"": examples()[name]})
    page = Page(text)
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.targets) <= set(page.ids)
    assert not {"nan", "None", "NaN%"} & set(" ".join(page.seen).split())
