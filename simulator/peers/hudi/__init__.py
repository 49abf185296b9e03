"""Apache Hudi's Spark bundle, one protocol step at a time. Run the peer with ``python -m hudi`` in its environment.

A request is ``{"do": name, "table": path, ...}``, a response ``{"ok": value}`` or ``{"error": chain of causes}``. One
process serves many tables. The module imports nothing of nbcc.
"""

from __future__ import annotations
