"""States of looks are saved, go on where they were, and are refused when damaged."""

import pickle

import numpy as np
import pytest

from fastcmp import stream
from fastcmp.core.saved_states import write_state
from fastcmp.sequential import McNemarLooks, MeanLooks, PairLooks

Y = np.array([0, 1] * 30)
A = np.where(np.arange(60) % 9, Y, 1 - Y)
B = np.where(np.arange(60) % 4, Y, 1 - Y)


def mcnemar():
    state = McNemarLooks(prior=(1, 2), alternative="greater", classes=[0, 1])
    state.update(Y[:30], A[:30], B[:30]).look()
    state.update(Y[30:50], A[30:50], B[30:50]).look()
    return state.update(Y[50:], A[50:], B[50:])


def means():
    state = MeanLooks(bounds=(0, 2), mean0=0.5, alternative="less")
    state.update(np.abs(np.sin(np.arange(50.0)))).look()
    return state.update([0.5, 2.0])


def pairs(adjust="e-holm"):
    state = PairLooks(adjust=adjust, alpha=0.1)
    state.look(stream.PairCounts().update(Y[:30], {"a": A[:30], "b": B[:30], "c": Y[:30]}))
    return state


STATES = (
    {"mcnemar": mcnemar, "means": means, "pairs": pairs}
    | {"pairs by e-bh": lambda: pairs("e-bh"), "pairs without a look": PairLooks}
    | {"mcnemar without samples": McNemarLooks, "means without values": MeanLooks}
)
ALL = pytest.mark.parametrize("name", STATES)


@ALL
def test_a_saved_state_goes_on(name, tmp_path):
    state = STATES[name]()
    state.save(tmp_path / "state")
    for again in (
        type(state).load(tmp_path / "state"),
        stream.load(tmp_path / "state"),
        pickle.loads(pickle.dumps(state)),
        state.copy(),
    ):
        assert again == state
        assert str(again) == str(state)
        if isinstance(state, PairLooks):
            if state.names is None:
                continue
            longer = stream.PairCounts().update(Y, {"a": A, "b": B, "c": Y})
            assert again.look(longer) == state.copy().look(longer)
        else:
            assert again.look() == state.copy().look()


def damaged(state, path, settings=None, **arrays):
    """Write a state with other settings or arrays, and a right checksum."""
    kept = state._settings() | (settings or {})
    write_state(path, type(state).__name__, kept, state._arrays() | arrays)
    return path


WRONG = {
    "mcnemar": [
        ({"table": np.array([[-1, 2], [3, 56]])}, "table must be numbers of samples"),
        ({"table": np.zeros((2, 2), np.int64)}, "the table is of other samples"),
        ({"looks": np.full((1, 2, 2), 99)}, "looks must be numbers of samples"),
        ({"totals": np.array([60, -1, 0])}, "totals must be numbers of samples"),
        ({"settings": {"prior": (0.0, 1.0)}}, "prior must be 2 numbers above 0"),
        ({"settings": {"classes": (0, 0)}}, "classes must be different labels"),
    ],
    "means": [
        ({"counts": np.zeros(3, np.int64)}, "counts must be int64 of shape"),
        ({"wealth": np.full(24, np.nan)}, "wealth must be numbers"),
        ({"total": np.array([np.inf])}, "total must be a number"),
        ({"looks": np.full((1, 5), 99.0)}, "looks must be numbers of samples that"),
        ({"settings": {"bounds": (1.0, 0.0)}}, "bounds must be two numbers"),
        ({"settings": {"bets": (9.0,)}}, "bets must keep"),
    ],
    "pairs": [
        ({"right": np.array([1, 2, 31])}, "right must be numbers of samples"),
        ({"largest": np.full(3, np.nan)}, "largest must be numbers"),
        ({"decided": np.zeros(2, np.uint8)}, "decided must be uint8 of shape"),
        ({"settings": {"names": ("a", "a", "b")}}, "names must be"),
        ({"settings": {"alpha": 2.0}}, "alpha must lie in"),
    ],
}


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [(name, *wrong) for name, cases in WRONG.items() for wrong in cases],
)
def test_wrong_content_is_refused(name, change, message, tmp_path):
    path = damaged(STATES[name](), tmp_path / "state", **change)
    with pytest.raises(ValueError, match=f"holds no valid .*{message}"):
        stream.load(path)
