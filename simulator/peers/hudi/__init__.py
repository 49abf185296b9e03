"""Runs Apache Hudi's Spark bundle one protocol step at a time. Start the peer with ``python -m hudi`` in the peer's
environment.

A request is ``{"do": name, "table": path, ...}``. A response is ``{"ok": value}`` or ``{"error": chain of causes}``.
One process serves many tables. The package imports nothing from nbcc.
"""

from __future__ import annotations
