"""The gallery: a course of runs, each found by search, drawn, replayed and tested (``specs/traces``).

``specs/traces/gallery.toml`` says of each run which world, which protocol, and what to look for; nobody writes steps
down. ``python -m tools.regenerate gallery`` looks for them and writes every other file of the folder.
"""

from __future__ import annotations

from .catalogue import Entry, catalogue
from .files import files_of, pages_of
from .find import Found, NotFound, found

__all__ = ["Entry", "Found", "NotFound", "catalogue", "files_of", "found", "pages_of"]
