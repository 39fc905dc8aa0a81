"""The works that reports cite."""

from __future__ import annotations

#: Citations by key.
REFERENCES: dict[str, str] = {}
