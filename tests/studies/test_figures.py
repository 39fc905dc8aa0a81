"""Pictures of the studies: what is on the axes, and that nothing is cut off."""

import numpy as np
import pytest
from libraries import plt
from study_records import correlation_study, error_study, power_study, type_one_errors

STUDIES = [type_one_errors, power_study, error_study, correlation_study]


@pytest.fixture(autouse=True)
def _closed():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("make", STUDIES)
def test_nothing_is_cut_off(make):
    ax = make().plot()
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    for artist in (ax, ax.get_legend(), *ax.texts):
        box = artist.get_tightbbox(renderer)
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= ax.figure.bbox.width
        assert box.y1 <= ax.figure.bbox.height


def test_type_one_errors():
    study = type_one_errors()
    ax = study.plot()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == 14
    assert names[-1] == "5x2 BCV McNemar"
    here, paper = ax.containers[0].lines[0], ax.lines[-1]
    np.testing.assert_array_equal(here.get_xdata(), study.rate)
    np.testing.assert_array_equal(here.get_ydata(), paper.get_ydata())
    np.testing.assert_array_equal(paper.get_xdata(), study.printed)
    assert sorted(legend(ax)) == ["here, 95% CI", "paper"]
    # The first test is on top.
    assert here.get_ydata()[0] == max(here.get_ydata())
    segments = ax.containers[0].lines[2][0].get_segments()
    np.testing.assert_allclose([s[:, 0] for s in segments], study.interval)


def test_power():
    study = power_study()
    ax = study.plot()
    shown = np.flatnonzero(study.reasonable)
    assert len(legend(ax)) == len(shown)
    for line, k in zip(ax.lines, shown, strict=False):
        np.testing.assert_array_equal(line.get_ydata(), study.power[:, k])
        gaps = 100 * np.abs(study.errors[:, 1] - study.errors[:, 0])
        np.testing.assert_array_equal(line.get_xdata(), gaps)
    own = next(x for x in ax.lines if x.get_label() == "5x2 BCV McNemar")
    assert own.get_linewidth() > 2


def test_errors():
    study = error_study()
    ax = study.plot()
    assert legend(ax) == ["algorithm a", "algorithm b"]
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), 100 * study.errors[:, 1])
    assert ax.texts[0].get_text() == "equal at 0.3"
    assert ax.get_xlabel() == "omega"
    assert ax.get_xscale() == "linear"


def test_correlations():
    study = correlation_study()
    ax = study.plot()
    assert legend(ax) == [*("bounds (10)", "bound (9)", "rho2 = rho1"), *("exp6", "iris", "simple")]
    points = {line.get_label(): line.get_xydata() for line in ax.lines}
    assert points["exp6"].tolist() == [[0.1, 0.4], [-0.3, 0.36]]
    assert points["iris"].tolist() == [[0.6, 0.1]]
    assert points["simple"].shape == (0, 2)
    x = points["bound (9)"]
    np.testing.assert_allclose(x[:, 1], (1 + x[:, 0]) / 2)


def test_correlations_far_out_are_seen():
    study = correlation_study()
    study.rho1[1], study.rho2[1] = -0.8, -0.3
    ax = study.plot()
    assert ax.get_xlim()[0] < -0.8
    assert ax.get_ylim()[0] < -0.3
