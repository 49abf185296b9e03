"""Changes rows by conditions: update, delete and merge, computed from one state of the table."""

from __future__ import annotations

from .merge import MergeBuilder
from .state import rows_at, state_of
from .update import updated

__all__ = ["MergeBuilder", "rows_at", "state_of", "updated"]
