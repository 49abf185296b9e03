"""Model and system, step by step, side by side."""

from __future__ import annotations
