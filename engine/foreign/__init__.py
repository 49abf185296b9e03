"""Tables written by Apache Hudi: the results of Hudi's own reader, and how they differ from nbcc's promises."""

from __future__ import annotations

from .differences import DIFFERENCES, Difference, hudi_as_of, hudi_incremental

__all__ = ["DIFFERENCES", "Difference", "hudi_as_of", "hudi_incremental"]
