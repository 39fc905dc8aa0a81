"""Predictions on each of several data sets, kept in a folder and taken from there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastcmp.core.saved_states import FileKind, read_state, write_state
from fastcmp.crossval.runs import CVRuns

if TYPE_CHECKING:
    from fastcmp.crossval.plans import CVPlan

_KIND = FileKind(
    "CrossValidation",
    "a file of predictions on one of several data sets",
    "delete it to fit anew, or take another folder for checkpoint",
)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_OTHER = re.compile(r"[^A-Za-z0-9]+")
_LONGEST = 40  # letters of a data set's name in that of its file


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A folder with a file for each data set."""

    folder: Path

    @classmethod
    def open(cls, path: Any) -> Checkpoint:
        """Make the folder, before any work; raises OSError where that is not possible.

        Raises ValueError where a file is in its place.
        """
        try:
            folder = Path(path)
        except TypeError:
            raise TypeError(f"checkpoint must be the path of a folder, got {path!r}") from None
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"checkpoint must be a folder, and {folder} is a file")
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder=folder)

    def load(self, name: str, settings: dict[str, Any]) -> CVRuns | None:
        """Read what was predicted on a data set; None where it is not finished.

        Raises ValueError for a file that is damaged, or made with other settings.
        """
        path = self._path(name)
        if not path.exists():
            return None
        _, held, _ = read_state(path, _KIND)
        try:
            old, runs = held["settings"], held["runs"]
            changed = [key for key in settings if old.get(key) != settings[key]]
        except (AttributeError, KeyError, TypeError):
            changed, runs, old = [], None, {}
        if changed:
            key = changed[0]
            raise ValueError(
                f"checkpoint: {path} was made with other {key}: "
                f"{_brief(old.get(key))}, asked for are {_brief(settings[key])}; "
                f"{_KIND.advice}"
            )
        if not isinstance(runs, CVRuns):
            raise ValueError(f"{path} holds no predictions; {_KIND.advice}")  # noqa: TRY004  # of a file
        return runs

    def save(self, name: str, settings: dict[str, Any], runs: CVRuns) -> None:
        """Write what was predicted, at once or not at all."""
        held = {"settings": settings, "runs": runs}
        write_state(self._path(name), "CrossValidation", held, {})

    def _path(self, name: str) -> Path:
        digest = blake2b(name.encode(), digest_size=6).hexdigest()
        stem = _OTHER.sub("-", name)[:_LONGEST].strip("-")
        return self.folder / f"{stem}-{digest}.fastcmp"


def settings_of(plan: CVPlan, name: str, data: tuple[Any, ...], seed: int) -> dict[str, Any]:
    """Give all that predictions on a data set depend on, as words and numbers."""
    try:
        import joblib
    except ImportError:
        raise ImportError("checkpoint needs joblib: pip install 'fastcmp[cv]'") from None
    scoring = plan.scoring
    return {
        "data set": name,
        "models": {name: _described(model) for name, model in plan.named},
        "designs": list(plan.designs(seed)),
        "scoring": scoring if isinstance(scoring, str) else _named(scoring),
        "seed": seed,
        "data (X, y or groups)": joblib.hash(data),
    }


def _described(model: Any) -> str:
    """Name a model and its parameters, without addresses in memory."""
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    if not hasattr(model, "get_params"):
        return f"{kind} {_ADDRESS.sub('', repr(model))}"
    given = model.get_params(deep=True)
    shown = ", ".join(f"{key}={given[key]!r}" for key in sorted(given))
    return _ADDRESS.sub("", f"{kind}({shown})")


def _named(scoring: Any) -> str | None:
    if scoring is None:
        return None
    return _ADDRESS.sub("", str(getattr(scoring, "__qualname__", repr(scoring))))


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
