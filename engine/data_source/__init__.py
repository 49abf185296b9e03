"""``format("nbcc")``: reading and writing tables by Spark's Python Data Source API."""

from __future__ import annotations

from .data_source import NbccSource

__all__ = ["NbccSource"]
