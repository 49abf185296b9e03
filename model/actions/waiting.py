"""Waiting for all clocks, where a lock can be lost meanwhile; and the claims by which no two actors use one time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..step import Action, Row
from ..timeline.waiting import CLAIMS, READS, claims_times, waiting_actions, waiting_rows, waits
from . import Setting

ACTIONS = (
    *(action for kind in READS for action in waiting_actions(kind)),
    *(
        Action(f"{kind}_takes_time", "under a lock that can be lost: reads its clock for a requested time",
               "{actor} reads its clock for a request")
        for kind in ("loader", "writer")
    ),
    *(
        Action(f"{kind}_puts_request", "puts the requested instant, gives the lock back", "{actor} puts its request")
        for kind in ("loader", "writer")
    ),
    *(
        Action(f"{kind}_finds_request", "finds that another has put a request of the same time, and gives up",
               "{actor} finds another request of its time")
        for kind in ("loader", "writer")
    ),
)  # fmt: skip


def components(setting: Setting) -> dict[str, Any]:
    """`claims`: the times that were claimed."""
    return {CLAIMS: frozenset()} if claims_times(setting.world, setting.protocol) else {}


def rows(setting: Setting) -> Iterator[Row]:
    if waits(setting.world, setting.protocol):
        for kind in READS:
            for me in setting.of(kind):
                yield from waiting_rows(kind, me, setting)
