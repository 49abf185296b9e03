"""The decision log: what is decided, in the order of its numbers; and whoever publishes for another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..machine.transition import Action, Transition
from ..timeline.decisions import BY_LOG, FINISHING, finishing
from . import Setting

_FINISHES = "under the lock: puts the completed instant of somebody who decided, and died perhaps"

ACTIONS = tuple(
    action
    for kind in BY_LOG
    for action in (
        Action(f"{kind}_publishes_decided", "puts the completed instant of another whose commit is decided",
               "{actor} publishes what another has decided"),
        Action(f"{kind}_decides_instant", "puts its commit under the next number of the log, if nobody has taken it",
               "{actor} decides"),
    )
) + tuple(
    Action(f"{kind}_finishes_decided", _FINISHES, "{actor} publishes what somebody has decided") for kind in FINISHING
)  # fmt: skip
"""No service's, also where a compactor does it: a write becomes visible."""


def components(setting: Setting) -> dict[str, Any]:
    return {"decisions": ()} if setting.protocol.decision == "log" else {}


def transitions(setting: Setting) -> Iterator[Transition]:
    """Only those of services that come by; the others are among the rows by which each kind publishes."""
    if setting.protocol.decision == "log":
        for kind in FINISHING:
            yield from (finishing(kind, me) for me in setting.of(kind))
