"""Names and labels are data: what of them a terminal would obey is shown instead."""

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
