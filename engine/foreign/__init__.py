"""Computes the rows that Hudi's own reader returns for a table of Hudi, and names their differences from nbcc's
promises.
"""

from __future__ import annotations

from .differences import DIFFERENCES, Difference, hudi_as_of, hudi_incremental

__all__ = ["DIFFERENCES", "Difference", "hudi_as_of", "hudi_incremental"]
