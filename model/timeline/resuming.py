"""Taking up what was planned: a plan fixes what a service does, so that another runner goes on where one has died."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..conditions import at
from ..step import Guard, Row


def resuming(
    action: str,
    me: str,
    runners: tuple[str, ...],
    *,
    known: str,
    plans: str,
    finished: type[Any],
    take_up: Callable[[Any, Any, Any], tuple[Any, ...]],
    what: str = "plan",
) -> Row:
    """The row by which `me`, idle, takes up the oldest plan of the component `plans` whose runner has died.

    `known`: the component whose entries of the type `finished` say which plans are done; `runners` all of the kind;
    `take_up(own, plan, all plans)` gives the runner and the plans as they are then.
    """
    others = tuple(name for name in runners if name != me)

    def orphan(entries: tuple[Any, ...], left: tuple[Any, ...], peers: tuple[Any, ...]) -> Any:
        dead = {name for name, peer in zip(others, peers, strict=True) if peer.dead}
        theirs = [plan for plan in left if plan.runner in dead]
        done = {entry.requested for entry in entries if isinstance(entry, finished)} if theirs else ()
        return next((plan for plan in theirs if plan.requested not in done), None)

    def resumes(own: Any, entries: tuple[Any, ...], left: tuple[Any, ...], *peers: Any) -> tuple[Any, ...]:
        found = orphan(entries, left, peers)
        assert found is not None, "the guard saw the same plans"
        return take_up(own, found, left)

    there = Guard(f"a {what} must be pending whose runner died", lambda _, done, left, *p: bool(orphan(done, left, p)))
    return Row(action, me, (me, known, plans, *others), (me, plans), (at(me, "idle"),), resumes, (there,))
