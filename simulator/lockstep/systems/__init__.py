"""The systems that a check compares with the model: the engine in memory, on S3 and on Spark, and Apache Hudi."""

from __future__ import annotations

from .protocol import CannotStep, Impossible, RunningOperation, System

__all__ = ["CannotStep", "Impossible", "RunningOperation", "System"]
