"""Programs that run other people's systems: each in an environment and a process of its own, importing nothing of ours.

A peer reads one JSON object a line and answers with one; the adapter in `nbcc.simulator.systems` speaks to it.
"""

from __future__ import annotations
