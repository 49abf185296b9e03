"""The gallery: a course of runs in ``specs/traces``, each found by search, drawn, replayed and tested.

``specs/traces/gallery.toml`` lists the runs: the world, the protocol and the goal of the search.
``python -m tools.regenerate gallery`` searches the runs and writes all other files of the folder.
"""

from __future__ import annotations

from .catalogue import Entry, catalogue
from .files import files_of, pages_of
from .find import Found, NotFound, found

__all__ = ["Entry", "Found", "NotFound", "catalogue", "files_of", "found", "pages_of"]
