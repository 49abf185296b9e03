"""Records the requests of each operation of the engine, for the workload simulation."""

from __future__ import annotations

from .programs import PATH, text

__all__ = ["PATH", "text"]
