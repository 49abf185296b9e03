"""The findings about many writers: parameter sweeps of the workload simulation, their figures, and the tables of the
page.
"""

from __future__ import annotations

from .page import files

__all__ = ["files"]
