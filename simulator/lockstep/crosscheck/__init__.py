"""Plays the same steps on the model and on a system under test, and compares both after each step."""

from __future__ import annotations
