"""Models heartbeats, and the rollback of failed writes (RFC-22, "Inline rollback").

A writer renews its heartbeat while it writes. A rollback actor (rollbacker) plans the rollback of a pending write whose
heartbeat has expired. After planning a rollback, the rollbacker deletes the files of the failed write and removes the
write's instant from the timeline. Before publishing, a slow writer checks whether its heartbeat has expired or a
rollback of its write is planned.

The module `heartbeat` has the heartbeats and the checks of writers, `rollbacker` the steps of a rollbacker. The module
`rules` defines how a rollback changes what actors observe.
"""

from __future__ import annotations

from ...machine.composition import Composition
from ...machine.mechanism import Mechanism
from . import heartbeat, rollbacker
from .rollbacker import ROLLBACKER
from .rules import Failures, Rollbacks, show_rollbacks


def compose(composition: Composition) -> None:
    """Add heartbeats and rollback actors to the model, if the world has a rollback actor."""
    if composition.actors_of(ROLLBACKER):
        composition.add_component("rollbacks", ())
        heartbeat.compose(composition)
        show_rollbacks(composition)
        rollbacker.compose(composition)


MECHANISM = Mechanism(
    compose=compose,
    after=("occ",),
    kinds=(rollbacker.ROLLBACKER,),
    options=Rollbacks,
    limits=Failures,
    service=True,
    actions=(*heartbeat.ACTIONS, *rollbacker.ACTIONS),
)
