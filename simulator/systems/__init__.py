"""What a cross-check drives, and the systems we have: our engine, and hudi-rs as a reader."""

from __future__ import annotations

from .protocol import CannotStep, Impossible, Operation, System

__all__ = ["CannotStep", "Impossible", "Operation", "System"]
