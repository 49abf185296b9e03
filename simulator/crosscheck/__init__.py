"""Runs the same steps on a model and a system, and compares them after each step."""

from __future__ import annotations
