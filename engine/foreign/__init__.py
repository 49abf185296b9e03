"""Computes the rows that Hudi's own reader returns for a table written by Hudi, and names the differences between these
rows and nbcc's promises.
"""

from __future__ import annotations

from .differences import DIFFERENCES, Difference, hudi_as_of, hudi_incremental

__all__ = ["DIFFERENCES", "Difference", "hudi_as_of", "hudi_incremental"]
