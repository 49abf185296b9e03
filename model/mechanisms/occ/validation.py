"""The conflict check of an optimistic actor (RFC-22): if there is no conflict, the actor publishes; otherwise it
aborts.

Writers and overwriters (insert overwrite) use the same conflict check: a replace conflicts with writes to the replaced
partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ...kernel.lock import HOLDS_LOCK
from ...kernel.publication import BEGINS, COMMITS, PUBLISHES
from ...kernel.table import Plan
from ...machine.composition import Composition
from ...machine.transition import Args, Changes, Guard, preset, transition
from ...protocol import Protocol
from ..file_ids import FIXED, NewFileIds
from .conflicts import Attempt, conflicting
from .options import Occ, Validation

ABORTED, CHECKED = "aborted", "checked: nothing conflicts"

Touches = Callable[[Any], tuple[int, ...]]
"""The file groups that an actor's write writes or declares as read."""

HAS_PASSED = Guard("{me} must have found no conflict", lambda own_validation: own_validation.passed)
NOT_CHECKED = Guard(
    "{me} must not have checked for conflicts yet", lambda own_validation: not own_validation.passed, place=True
)


def is_optimistic(composition: Composition, me: str) -> bool:
    """True if an actor uses optimistic concurrency control (option `concurrency = occ`)."""
    return bool(composition.protocol_of(me)[Occ].concurrency == "occ")


def check_conflicts(composition: Composition, kind: str, me: str, touches: Touches) -> None:
    """Let an actor check for conflicts before publishing. The actor's state must have a field `validation`."""
    options = composition.protocol_of(me)[Occ]
    parameters: dict[str, Any] = {"touches": touches, **({} if options.priority == "first" else {"plans": ()})}
    conflict = preset(find_conflict, **parameters)
    no_conflict = Guard("no conflicting write may have completed since it began", conflict, negated=True)
    a_conflict = Guard("a conflicting write must have completed since it began", conflict)
    passes = transition(f"{kind}_passes_check", me, guards=(NOT_CHECKED, no_conflict), effect=pass_check,
                        changes=("own_validation",))  # fmt: skip
    aborts = transition(f"{kind}_aborts", me, to=ABORTED, guards=(NOT_CHECKED, a_conflict), effect=abort,
                        changes=("own", "own_validation"), arguments=preset(list_conflict, **parameters))  # fmt: skip
    commits = composition.select(COMMITS, actors=[me])
    start = commits.one
    composition.select(COMMITS, PUBLISHES, actors=[me]).require(HAS_PASSED)
    if options.conflict_check == "before_lock":
        composition.select(BEGINS, actors=[me]).insert_before(CHECKED, lambda _: passes)
        composition.select(passes.action, actors=[me]).exit(lambda _: aborts)
        return
    # From now on the check is the first transition under the lock: it also asks what is asked of the commit so far.
    asked = tuple(guard for guard in start.guards if guard is not HOLDS_LOCK)
    commits.untag(COMMITS)
    for each in (passes, aborts.extend(free_lock, "lock")):
        composition.add(replace(each.require(*asked), at=start.at, tags=frozenset((COMMITS,))))


def find_conflict(
    own: Any, own_validation: Validation, published: tuple[Any, ...], protocol: Protocol, touches: Touches,
    plans: tuple[Plan, ...], own_file_ids: NewFileIds = FIXED,
) -> int | None:  # fmt: skip
    """Return the requested time of a conflicting instant that completed since the actor began; None if there is no
    conflict.
    """
    return conflicting(published, plans, Attempt(touches(own), own_file_ids.ids, own_validation.sealed), protocol)


def list_conflict(
    own: Any, own_validation: Validation, published: tuple[Any, ...], protocol: Protocol, touches: Touches,
    plans: tuple[Plan, ...], own_file_ids: NewFileIds = FIXED,
) -> Iterable[Args]:  # fmt: skip
    conflict = find_conflict(own, own_validation, published, protocol, touches, plans, own_file_ids)
    return ((("against", (conflict,)),),)


def pass_check(own_validation: Validation) -> Changes:
    return {"own_validation": own_validation._replace(passed=True)}


def abort(own_validation: Validation, *, against: tuple[int, ...]) -> Changes:
    """Abort the write because of a conflicting instant."""
    return {"own_validation": own_validation._replace(conflict=against[0])}


def free_lock() -> Changes:
    return {"lock": None}
