"""Computes the rows that Hudi's own reader returns for a table written by Hudi, and names their differences from nbcc's
answers.
"""

from __future__ import annotations

from .differences import DIFFERENCES, Difference, hudi_as_of, hudi_incremental

__all__ = ["DIFFERENCES", "Difference", "hudi_as_of", "hudi_incremental"]
