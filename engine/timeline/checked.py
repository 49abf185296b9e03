"""Validates the times, names and paths in timeline files.

A plan or commit may come from a damaged disk or an attacker, and the files that it lists are read or deleted. Paths
must be below the table's root and outside ``.hoodie``, so that no other files are read or deleted. Times must consist
of digits. Every check returns its argument, or raises `Damaged` with the name of the timeline file.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ..errors import Damaged
from ..file_names import parse_base, parse_log

_INSTANT: Final = re.compile(r"[0-9]{14}(?:[0-9]{3})?")
_ACTION: Final = re.compile(r"[a-z]+")
_UNSAFE: Final = re.compile(r"[/\\\0]")
_HIDDEN: Final = ".hoodie"


class Checked:
    """Validates the values in one timeline file, and raises errors that name the file."""

    __slots__ = ("_file",)

    def __init__(self, file: str) -> None:
        self._file = file

    def instant(self, value: Any) -> str:
        """Return a valid requested or completion time: 17 digits, or 14 digits from an old writer."""
        if isinstance(value, str) and _INSTANT.fullmatch(value):
            return value
        raise self._refusal(value, "an instant time of 14 or 17 digits")

    def instant_or_none(self, value: Any) -> str:
        """Return `value` if it is a valid time, or '' if it is missing; otherwise, raise `Damaged`."""
        return self.instant(value) if value else ""

    def action(self, value: Any) -> str:
        """Return the value if it is a valid action name for a timeline file; otherwise raise `Damaged`."""
        if isinstance(value, str) and _ACTION.fullmatch(value):
            return value
        raise self._refusal(value, "an action")

    def name(self, value: Any) -> str:
        """Return `value` if it is a valid file name or file id (a single path component); otherwise, raise `Damaged`.
        """
        if isinstance(value, str) and value not in ("", ".", "..") and not _UNSAFE.search(value):
            return value
        raise self._refusal(value, "a file name")

    def data_file(self, value: Any) -> str:
        """Return the value if it is the name of a base file or log file; otherwise raise `Damaged`."""
        # Rollback plans name files to delete, so a name that is not of a data file must never pass.
        if parse_base(self.name(value)) or parse_log(value):
            return str(value)
        raise self._refusal(value, "the name of a base file or log file")

    def partition(self, value: Any) -> str:
        """Return `value` if it is a valid partition path ('' in an unpartitioned table); otherwise, raise `Damaged`."""
        return value if value == "" else self.path(value)

    def path(self, value: Any) -> str:
        """Return `value` if it is a path below the table's root and outside ``.hoodie``."""
        if isinstance(value, str) and value and is_inside(value):
            return value
        raise self._refusal(value, "a path below the table")

    def text(self, value: Any) -> str:
        if isinstance(value, str):
            return value
        raise self._refusal(value, "a text")

    def size(self, value: Any) -> int:
        """Return the value if it is a valid number of bytes, or 0 if it is missing; otherwise raise `Damaged`."""
        # Writers may omit a size. It is only used for statistics and for comparisons that skip 0.
        if value is None:
            return 0
        if isinstance(value, int) and value >= 0:
            return value
        raise self._refusal(value, "a number of bytes")

    def _refusal(self, value: Any, kind: str) -> Damaged:
        return Damaged(
            f"read {self._file}",
            f"it holds {str(value)[:200]!r} where {kind} must be",
            "restore the file from a copy; if it came from elsewhere, treat the table as hostile",
        )


def is_inside(path: str) -> bool:
    """Return whether a relative path is below the table's root and outside ``.hoodie``. Symbolic links are not
    resolved.
    """
    if "\0" in path:
        return False
    if path[0] != "." and "/." not in path and "//" not in path and path[0] != "/" and path[-1] != "/":
        return True  # the common case: no hidden names, no empty parts
    parts = path.split("/")
    return parts[0] != _HIDDEN and not {"", ".", ".."}.intersection(parts)
