"""Makes text of strangers safe for a terminal: names of files, properties of a table, fields of a trace."""

from __future__ import annotations

import unicodedata
from typing import Final

_HIDDEN: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of Unicode that move the cursor, start an escape sequence, reverse the text or divide lines."""
_CLEAR: Final = frozenset(map(chr, range(32, 127)))


def printable(text: str) -> str:
    """Return `text` on one line: each control character, line break and direction mark is written as an escape, such
    as ``\\u001b``. A file name or property may contain such characters, and could otherwise forge a line of a report.
    """
    if _CLEAR.issuperset(text):
        return text
    return "".join(_escaped(each) if unicodedata.category(each) in _HIDDEN else each for each in text)


def _escaped(character: str) -> str:
    # As JSON writes it, so that a line of JSON remains one.
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{int.from_bytes(units[at : at + 2]):04x}" for at in range(0, len(units), 2))
