"""Apache Hudi's Spark bundle, one protocol step at a time; run with ``python -m hudi`` in the peer's environment.

A request is ``{"do": name, "table": path, ...}``, a response ``{"ok": value}`` or ``{"error": the chain of causes}``.
One process serves many tables, one after the other or side by side. Nothing here is imported by nbcc.
"""

from __future__ import annotations
