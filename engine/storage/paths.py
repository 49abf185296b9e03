"""Validates paths: a storage accepts only paths below the table's root. Paths in a table's metadata are validated too,
because the metadata may be hostile.
"""

from __future__ import annotations

import re
from typing import Final

from ..errors import UnsafePath

# An empty segment, "." or "..", at any place; a control character; half of a surrogate pair (os.fsdecode's are allowed)
_UNSAFE: Final = re.compile(r"(?:^|/)\.{0,2}(?:/|\Z)|[\x00-\x1f\x7f\ud800-\udc7f\udd00-\udfff]")

REMEDY: Final = "find the file or link that names this path, and restore the table from a copy that you trust"


def confined(path: str) -> str:
    """Check that the path is relative and stays below the root, and return it unchanged. Every operation of every
    storage validates its path with `confined`.

    Raises `UnsafePath` for an absolute path, an empty path segment, ``.``, ``..`` or control characters. The module
    `local_files` checks symbolic links.
    """
    if _UNSAFE.search(path):
        raise UnsafePath(f"access {path!r}", "this is not the path of a file below the table's folder", REMEDY)
    return path


def confined_folder(prefix: str) -> str:
    """Validate the folder of a listing as `confined` does, but also accept the root ('')."""
    return prefix and confined(prefix)
