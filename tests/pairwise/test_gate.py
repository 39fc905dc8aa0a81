"""Several comparisons decided together."""

import numpy as np
import pytest

import fastcmp
from fastcmp import gate, mcnemar


def compared(table, margin=0.03, **options):
    return mcnemar(table=table, margin=margin, **options)


SAME = [[880, 40], [38, 42]]
WORSE = [[600, 60], [160, 180]]
FEW = [[80, 20], [30, 40]]
BETTER = [[600, 160], [60, 180]]
SLIGHTLY_WORSE = [[90_000, 1000], [1300, 7700]]


@pytest.mark.parametrize(
    ("tables", "outcome", "status"),
    [
        *(([SAME], "not worse", 0), ([SAME, BETTER], "not worse", 0)),
        *(([SAME, FEW], "cannot tell", 2), ([SAME, FEW, WORSE], "worse", 1)),
        ([SLIGHTLY_WORSE], "not worse", 0),
    ],
)
def test_outcomes(tables, outcome, status):
    result = gate({str(i): compared(table) for i, table in enumerate(tables)})
    assert (result.outcome, result.exit_status) == (outcome, status)
    assert result.passed == (status == 0)
    lead = {0: "Pass: a is non-inferior to b", 1: "Fail: a is worse", 2: "Cannot tell whether a is"}
    assert result.sentence.startswith(lead[status])


def test_a_loss_below_the_margin_passes():
    result = gate({"all": compared(SLIGHTLY_WORSE)})
    assert result.decision.tolist() == ["worse"]
    assert result.margin_met.all()
    assert not result.failed.any()


def test_better_without_variance_passes():
    """The margin has no test then; that of equality is exact."""
    loss = np.arange(500.0) % 7
    options = {"lower_is_better": True, "margin": 0.5}
    better = gate({"x": fastcmp.mean_difference(loss - 0.25, loss, **options)})
    assert (better.decision.tolist(), better.outcome) == (["better"], "not worse")
    worse = gate({"x": fastcmp.mean_difference(loss + 0.25, loss, **options)})
    assert (worse.decision.tolist(), worse.outcome) == (["worse"], "worse")


def test_only_worse_and_better_are_adjusted():
    """One of twenty that looks worse by chance is no failure."""
    chance = [[400, 20], [36, 44]]
    alone = gate({"chance": compared(chance, 0.005)})
    assert alone.decision.tolist() == ["worse"]
    many = {str(i): compared(SAME) for i in range(19)}
    both = {"chance": compared(chance, 0.005), **many}
    assert gate(both).decision[0] == "cannot tell"
    assert gate(both, adjust="none").decision[0] == "worse"
    assert gate(both).pvalue[0] == alone.pvalue[0]


def test_fields_are_those_of_the_records():
    records = {"same": compared(SAME), "few": compared(FEW)}
    result = gate(records, names=("new", "base"))
    margins = [record.margins for record in records.values()]
    assert result.pvalue.tolist() == [m.noninferiority_pvalue for m in margins]
    assert result.difference.tolist() == [m.difference for m in margins]
    assert result.n_more == tuple(m.n_more for m in margins)
    assert result.models == ("new", "base")
    assert result.n_samples.tolist() == [1000, 170]
    assert result.values[:, 0].tolist() == [record.accuracy_a for record in records.values()]
    assert result.values[:, 1].tolist() == [record.accuracy_b for record in records.values()]
    assert result.methods == tuple(m.method for m in margins)
    np.testing.assert_array_equal(result.interval[0], margins[0].inner_interval)
    assert list(result.to_frame()["comparison"]) == ["same", "few"]


def test_refusals():
    with pytest.raises(ValueError, match="'x' holds many differences"):
        gate({"x": compared([SAME, FEW])})
    with pytest.raises(ValueError, match="one-sided"):
        gate({"x": compared(SAME, alternative="greater")})
    with pytest.raises(ValueError, match="one alpha"):
        gate({"x": compared(SAME), "y": compared(SAME, alpha=0.1)})
