"""Copies a Hudi table into a table of nbcc: any index, several partition columns, and older table versions."""

from __future__ import annotations

from .copy import Copied, copy_table

__all__ = ["Copied", "copy_table"]
