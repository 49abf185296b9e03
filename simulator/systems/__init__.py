"""The systems that a cross-check drives: the model, the engine, the engine on Spark, and Apache Hudi."""

from __future__ import annotations

from .protocol import CannotStep, Impossible, Operation, System

__all__ = ["CannotStep", "Impossible", "Operation", "System"]
