"""Runs Apache Hudi's Spark bundle one protocol step at a time, in a separate process (peer).

The command ``python -m hudi`` starts the peer, which has its own Python environment. A request is ``{"do": name,
"table": path, ...}``; a response is ``{"ok": value}`` or ``{"error": chain of causes}``. One process serves many
tables. The package imports nothing from nbcc.
"""

from __future__ import annotations
