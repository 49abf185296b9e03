"""Merges rows by a join with other rows."""

from __future__ import annotations

from .merge import MergeBuilder

__all__ = ["MergeBuilder"]
