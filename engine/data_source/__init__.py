"""Implements ``format("nbcc")``, which reads and writes tables through Spark's Python Data Source API."""

from __future__ import annotations

from .data_source import NbccSource

__all__ = ["NbccSource"]
