"""Prepares lines for a terminal: escapes text of strangers (file names, properties, fields of a trace), and folds."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

COLUMNS: Final = 80

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


def folded(lines: Iterable[str], columns: int = COLUMNS) -> Iterator[str]:
    """Yield the lines as `printable` text, each folded after at most so many columns between two words. The rest of a
    folded line is indented deeper. A path or another word is never divided, so it may be longer.
    """
    for line in map(printable, lines):
        if len(line) <= columns:
            yield line
            continue
        text = line.lstrip(" ")
        indent = " " * (len(line) - len(text))
        yield from textwrap.wrap(
            text,
            columns,
            initial_indent=indent,
            subsequent_indent=f"{indent}  ",
            break_long_words=False,
            break_on_hyphens=False,
        )


def _escaped(character: str) -> str:
    # As JSON writes it, so that a line of JSON remains one.
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{int.from_bytes(units[at : at + 2]):04x}" for at in range(0, len(units), 2))
