"""Names and labels are data: control characters in them are shown, not obeyed."""

from __future__ import annotations

import unicodedata

#: Control and format characters (directions, joiners), halves of pairs, line and
#: paragraph separators.
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def visible(text: str) -> str:
    """Write control and direction characters as Python writes them in a literal."""
    if text.isprintable():
        return text
    return "".join(
        letter.encode("unicode_escape").decode()
        if unicodedata.category(letter) in _UNSEEN
        else letter
        for letter in text
    )
