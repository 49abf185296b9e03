"""Programs that run other systems, each in its own environment and process. They import nothing of nbcc.

A peer reads one JSON object a line and writes one as the answer. The adapters in `nbcc.simulator.systems` use it.
"""

from __future__ import annotations
