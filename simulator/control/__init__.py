"""Runs real code under a chosen interleaving: actors run in threads, and every seam call is a scheduling point."""

from __future__ import annotations
