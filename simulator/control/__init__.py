"""Run real code under a chosen interleaving: actors in threads, every seam call a scheduling point."""

from __future__ import annotations
