"""Programs that run other systems, each in its own environment and process. Such programs import nothing of nbcc.

A peer reads one JSON object a line and writes one as the answer. The adapters in `nbcc.simulator.systems` use peers.
"""

from __future__ import annotations
