"""Samples of an Inspect log: what is kept of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST = 5120  # characters; summaries.json cuts longer texts there
_REFERENCES = ("attachment://", "tc://")


class Sample(NamedTuple):
    """An answer to an item, in one epoch."""

    item: int | str
    epoch: int
    #: Input and target, cut as summaries cut them.
    text: str
    scores: Mapping[str, Mapping[str, Any]]
    #: Why it has no score, or why none counts; "" where there is no such reason.
    error: str
    invalid: str


def sample(entry: Any, scorer: str, where: str) -> Sample:
    """Keep what is needed of a sample or of its summary.

    `scorer` is the name of the one scorer of an old log; `where` begins the message of
    an error.
    """
    item = entry.get("id") if isinstance(entry, dict) else None
    if not isinstance(item, int | str) or isinstance(item, bool):
        raise ValueError(f"{where}: wanted samples with an id, a whole number or text")  # noqa: TRY004
    epoch = entry.get("epoch", 1)
    if type(epoch) is not int or not 0 <= epoch < 2**31:
        raise ValueError(f"{where}: sample {item!r}: its epoch is no whole number: {epoch!r}")
    scores = entry.get("scores")
    if scores is None:
        scores = {} if entry.get("score") is None else {scorer: entry["score"]}
    if not isinstance(scores, dict):
        raise ValueError(f"{where}: sample {item!r}: its scores have no names")  # noqa: TRY004
    return Sample(
        item,
        epoch,
        _identity(entry),
        scores,
        _error(entry.get("error")),
        _invalidation(entry.get("invalidation")),
    )


def _identity(entry: Mapping[str, Any]) -> str:
    """Join input and target to one text."""
    texts = entry.get("attachments")
    if not isinstance(texts, dict):
        texts = {}
    parts = [_input(entry.get("input"), texts)]
    target = entry.get("target")
    parts += [_text(one, texts) for one in (target if isinstance(target, list) else [target])]
    return "\x1e".join(parts)


def _input(given: Any, texts: Mapping[str, str]) -> str:
    """Text of an input, which may be a conversation."""
    if not isinstance(given, list):
        return _text(given, texts)
    return "\x1d".join(
        f"{message.get('role')}: {_text(message.get('content'), texts)}"
        if isinstance(message, dict)
        else str(message)
        for message in given
    )


def _text(content: Any, texts: Mapping[str, str]) -> str:
    """Text of a content, cut; other kinds are named, as summaries name them."""
    if isinstance(content, list):
        return "\x1d".join(
            _text(part.get("text"), texts)
            if part.get("type") == "text"
            else f"({str(part.get('type')).capitalize()})"
            for part in content
            if isinstance(part, dict)
        )
    text = "" if content is None else str(content)
    if text.startswith(_REFERENCES):
        text = str(texts.get(text.partition("//")[2], text))
    return text[:_LONGEST]


def _error(found: Any) -> str:
    """Message of an error; summaries hold just that."""
    if isinstance(found, dict):
        found = found.get("message") or "error"
    return short(found) if found else ""


def _invalidation(found: Any) -> str:
    """Why a sample was taken back."""
    if not found:
        return ""
    reason = found.get("reason") if isinstance(found, dict) else None
    return short(f"invalidated: {reason}" if reason else "invalidated")


def short(text: Any) -> str:
    """First line of a text, 200 characters at most."""
    return str(text).strip().partition("\n")[0][:200]
