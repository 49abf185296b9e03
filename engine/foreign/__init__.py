"""Tables that others wrote: what their own reader answers, and by which rules that differs from what we promise."""

from __future__ import annotations

from .differences import DIFFERENCES, Difference, hudi_as_of, hudi_incremental

__all__ = ["DIFFERENCES", "Difference", "hudi_as_of", "hudi_incremental"]
