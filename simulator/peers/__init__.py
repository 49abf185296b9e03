"""Peers: programs that run other systems, each in its own environment and process. A peer imports nothing from nbcc.

A peer reads requests and writes answers, both as one JSON object per line. The adapters in `nbcc.simulator.systems` use
peers.
"""

from __future__ import annotations
