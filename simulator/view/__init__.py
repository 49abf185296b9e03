"""Traces for people."""

from __future__ import annotations
