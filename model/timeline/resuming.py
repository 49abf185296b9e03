"""Resuming a plan: a plan fixes what a service does, so that another runner continues after a crash."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..actions import Setting
from ..machine.transition import Changes, Component, Guard, Transition, given, transition

Start = Callable[[Any, str, Any, tuple[Any, ...]], tuple[Any, tuple[Any, ...]]]
"""Of the actor, its name, the plan and all plans: the actor at work on the plan, and the plans as they are then."""


def resuming(
    action: str, kind: str, me: str, setting: Setting, *, plans: str, finished: type[Any], start: Start,
    what: str = "plan",
) -> Transition:  # fmt: skip
    """The transition by which an idle actor takes over the oldest pending plan whose runner died.

    `plans` is the component with the plans, `finished` the type of the entry that completes one.
    """
    # A plan that is decided needs no runner any more: the next actor that decides publishes it.
    known = Component("decisions" if setting.protocol.decision == "log" else "published")
    peers = Component(f"every_{kind}")
    parameters = {"entries": known, "plans": Component(plans), "peers": peers, "finished": finished}
    there = Guard(f"a {what} must be pending whose runner died", given(orphan, **parameters))
    return transition(action, me, at="idle", guards=(there,), changes=("own", plans),
                      effect=given(resume, **parameters, start=start, component=plans))  # fmt: skip


def orphan(
    me: str, entries: tuple[Any, ...], plans: tuple[Any, ...], peers: Mapping[str, Any], finished: type[Any]
) -> Any:
    """The oldest pending plan whose runner died, None if there is none."""
    dead = {name for name, peer in peers.items() if peer.dead and name != me}
    theirs = [plan for plan in plans if plan.runner in dead]
    done = {entry.requested for entry in entries if isinstance(entry, finished)} if theirs else ()
    return next((plan for plan in theirs if plan.requested not in done), None)


def resume(
    own: Any, me: str, entries: tuple[Any, ...], plans: tuple[Any, ...], peers: Mapping[str, Any],
    finished: type[Any], start: Start, component: str,
) -> Changes:  # fmt: skip
    """Go on where the dead runner stopped."""
    own, plans = start(own, me, orphan(me, entries, plans, peers, finished), plans)
    return {"own": own, component: plans}


def starting(action: str, me: str, *, at: str, plans: str, field: str, start: Start) -> Transition:
    """The transition by which an actor starts the plan that it has put; `field` is the one with the plan's time."""
    begins = given(start_own, plans=Component(plans), start=start, field=field, component=plans)
    return transition(action, me, at=at, effect=begins, changes=("own", plans))


def start_own(own: Any, me: str, plans: tuple[Any, ...], start: Start, field: str, component: str) -> Changes:
    """Put the inflight instant of the plan."""
    mine = next(plan for plan in plans if plan.requested == getattr(own, field))
    own, plans = start(own, me, mine, plans)
    return {"own": own, component: plans}
