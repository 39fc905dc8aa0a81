"""The pytest fixture `model_gate`: a test fails where a model is worse than the accepted one.

pytest loads this module by itself where fastcmp is installed; nothing else is imported before a
test asks for the fixture.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fastcmp.core.errors import BadTypeError, BadValueError
from fastcmp.core.typing import ColumnLike

UPDATE = "--fastcmp-update"
FOLDER = "fastcmp_baselines"
_NAMED = 3  # ids that a message lists


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that accepts a run."""
    parser.getgroup("fastcmp").addoption(
        UPDATE,
        action="store_true",
        help="accept the models of model_gate: keep what they predicted as the baseline",
    )


@pytest.fixture
def model_gate(request: pytest.FixtureRequest) -> ModelGate:
    """Compare a model with the accepted one; the test fails if it may be worse."""
    return ModelGate(request)


class ModelGate:
    """Baselines of one test: files beside the test, a folder `fastcmp_baselines`."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._config, self._node = request.config, request.node
        stem = re.sub(r"[^\w.-]+", "-", f"{request.path.stem}-{request.node.name}").strip("-")
        self._stem = request.path.parent / FOLDER / stem

    def __call__(
        self,
        y_true: ColumnLike | None = None,
        y_pred: ColumnLike | None = None,
        *,
        margin: float,
        values: ColumnLike | None = None,
        ids: ColumnLike | None = None,
        metric: str = "accuracy",
        lower_is_better: bool = False,
        groups: ColumnLike | None = None,
        alpha: float = 0.05,
        allow_cannot_tell: bool = False,
        name: str = "",
    ) -> Any:
        """Compare with the baseline, on the same items.

        Parameters
        ----------
        y_true, y_pred : array-like, shape (n,), optional
            True and predicted labels.
        margin : float
            The largest loss of accuracy, metric or mean that does not matter.
        values : array-like, shape (n,), optional
            In their place: a value of each item, such as a grade or a loss.
        ids : array-like, shape (n,), optional
            A name of each item, by which it is found in the baseline; by default items must
            come in the same order, with the same true labels.
        metric : str
            Of labels, as in `fastcmp.compare_metric`.
        lower_is_better : bool
            Whether values are losses.
        groups : array-like, shape (n,), optional
            Clusters of items.
        alpha : float
            Error rate of passing a model that is worse by the margin.
        allow_cannot_tell : bool
            Whether to pass where the items are too few to decide.
        name : str
            Which of several baselines of one test.

        Returns
        -------
        fastcmp.records.GateResult
            The decision; None after ``--fastcmp-update``.

        Raises
        ------
        TypeError
            If there are not labels or values, one of them.

        Notes
        -----
        The outcome is written to ``user_properties`` of the test, from where JUnit files have it.

        Examples
        --------
        In a test::

            def test_the_model_is_not_worse(model_gate):
                model_gate(y_test, model.predict(X_test), ids=ids, margin=0.01)
        """
        of_labels = (y_true is not None) + (y_pred is not None)
        if of_labels + 2 * (values is not None) != 2:
            raise BadTypeError("model_gate takes `y_true` and y_pred, or `values=`, one of them")
        given = {"value": values} if values is not None else {"y_true": y_true, "y_pred": y_pred}
        table = {key: _listed(column) for key, column in given.items()}
        n = len(next(iter(table.values())))
        table = {"id": list(range(n)) if ids is None else _listed(ids), **table}
        for key, column in table.items():
            if len(column) != n:
                raise BadValueError(f"`{key}` has {len(column)} items, and others have {n}")
        if len(set(table["id"])) < n:
            raise BadValueError("`ids` must differ: each names one item")
        path = Path(f"{self._stem}{'-' if name else ''}{name}.arrow")
        if self._config.getoption(UPDATE):
            self._keep(table, path, metric)
            return None
        old = self._read(path, table)
        import fastcmp

        options: dict[str, Any] = {"margin": margin, "alpha": alpha, "groups": groups}
        record: Any
        if values is not None:
            new, accepted = table["value"], old["value"]
            record = fastcmp.mean_difference(
                new, accepted, lower_is_better=lower_is_better, **options
            )
        else:
            labels = table["y_true"], table["y_pred"], old["y_pred"]
            record = (
                fastcmp.mcnemar(*labels, **options)
                if metric == "accuracy"
                else fastcmp.compare_metric(*labels, metric=metric, rng=0, **options)
            )
        what = metric if values is None else "mean"
        result = fastcmp.gate({what: record}, names=("this run", "baseline"))
        label = name or what
        for key in ("outcome", "difference", "pvalue", "margin"):
            value = getattr(result, key)
            value_written = value if isinstance(value, str) else float(value[0])
            self._node.user_properties.append((f"fastcmp_{label}_{key}", value_written))
        allowed = ("not worse", "cannot tell") if allow_cannot_tell else ("not worse",)
        # The same answer to every item is not worse, though values without variance test nothing.
        if result.outcome not in allowed and table != old:
            pytest.fail(
                f"this run against the baseline {path.name}: {result.outcome}\n{result}\n"
                f"To accept it nevertheless: pytest {UPDATE}",
                pytrace=False,
            )
        return result

    def _keep(self, table: dict[str, list[Any]], path: Path, metric: str) -> None:
        """Write the baseline, and beside it a summary that a reader can compare."""
        if hasattr(self._config, "workerinput"):
            pytest.fail(f"{UPDATE} writes files: run it without -n", pytrace=False)
        arrow = _arrow()
        path.parent.mkdir(exist_ok=True)
        arrow.feather.write_feather(arrow.table(table), path, compression="zstd")
        summary: dict[str, Any] = {"n_items": len(table["id"])}
        if "value" in table:
            summary["mean"] = float(sum(table["value"]) / len(table["value"]))
        else:
            pairs = list(zip(table["y_true"], table["y_pred"], strict=True))
            summary |= {"accuracy": sum(a == b for a, b in pairs) / len(pairs), "metric": metric}
        text = json.dumps(summary, indent=2) + "\n"
        path.with_suffix(".json").write_text(text, encoding="utf-8")

    def _read(self, path: Path, table: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """The baseline in the order of this run's items; the test fails where they differ."""
        if not path.exists():
            pytest.fail(
                f"there is no baseline {path}: pytest {UPDATE} keeps this run as one", pytrace=False
            )
        old = _arrow().feather.read_table(path).to_pydict()
        if old.keys() != table.keys():
            kinds = " and ".join(", ".join(column_names) for column_names in (old, table))
            pytest.fail(
                f"the baseline {path.name} and this run hold different columns ({kinds}): "
                f"pytest {UPDATE} accepts this run",
                pytrace=False,
            )
        place = {key: i for i, key in enumerate(old["id"])}
        gone = [key for key in place if key not in set(table["id"])]
        new = [key for key in table["id"] if key not in place]
        if gone or new:
            changes = [
                f"{len(keys)} {what} ({', '.join(map(str, keys[:_NAMED]))}, ...)"
                for keys, what in ((gone, "of its items are missing"), (new, "items are new"))
                if keys
            ]
            pytest.fail(
                f"this run has other items than the baseline {path.name}: {'; '.join(changes)}: "
                f"pytest {UPDATE} accepts them",
                pytrace=False,
            )
        order = [place[key] for key in table["id"]]
        old = {key: [column[i] for i in order] for key, column in old.items()}
        truths = zip(table["id"], old.get("y_true", ()), table.get("y_true", ()), strict=False)
        if changed := [key for key, a, b in truths if a != b]:
            pytest.fail(
                f"{len(changed)} items have other true labels than in the baseline {path.name} "
                f"({', '.join(map(str, changed[:_NAMED]))}, ...): pytest {UPDATE} accepts them",
                pytrace=False,
            )
        return old


def _listed(column: Any) -> list[Any]:
    """The items of a column as Python's own numbers and texts."""
    return list(column.tolist() if hasattr(column, "tolist") else column)


def _arrow() -> Any:
    """pyarrow, which baselines are written by."""
    try:
        import pyarrow as pa
        import pyarrow.feather
    except ImportError:
        raise ImportError("model_gate needs pyarrow: pip install 'fastcmp[cli]'") from None
    return pa
