"""Optimistic writers that announce: the announcement carries what the conflict check needs, its footprint.

The author of an entry checks each optimistic write that it has listed, with what has completed since the write began
and with the earlier items of the same entry. It leaves out a write that conflicts. The writer finds the conflict on the
timeline, and aborts because of a completed write.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from ...kernel.clock import TakeTime
from ...kernel.table import Write
from ...kernel.writer import WRITER
from ...machine.composition import Composition
from ...machine.transition import Args, Changes, Guard, preset, transition
from ...protocol import Protocol
from ..decision_log import take_time_after
from ..file_ids import FIXED, NewFileIds
from ..occ.conflicts import ABORTED, Touches, UncheckedWrite, Validation, abort, conflicting, is_optimistic
from ..occ.mechanism import WRITER_ABORTS, WRITER_PASSES_CHECK, touched_groups
from .author import ALL_PUBLISHED, KNOWS_TAIL, OPEN, Deciding

Published = tuple[Any, ...]


class AnnouncedFootprint(NamedTuple):
    """What the conflict check needs of the announced write with the requested time `requested`."""

    requested: int
    attempt: UncheckedWrite


def optimistic_writers(composition: Composition) -> None:
    """Let optimistic writers announce their footprints, let every author check them, and let writers abort."""
    optimists = [me for me in composition.actors_of(WRITER) if is_optimistic(composition, me)]
    if not optimists:
        return
    composition.add_component("footprints", frozenset())
    composition.map_view("request_time", after_published, composition.actors_of(WRITER))
    # By the protocol of the table: one rule decides what conflicts, for every author.
    checks = preset(leave_out_conflicts, table_protocol=composition.protocol)
    authors = [kind for kind, actors in composition.actors.items() if actors]
    composition.find(*(f"{kind}_ends_listing_announced" for kind in authors)).extend(checks, "own_deciding")
    for me in optimists:
        parameters: dict[str, Any] = {
            "touches": partial(touched_groups, composition.world, composition.protocol_of(me), me),
            "table_protocol": composition.protocol,
        }
        composition.select("writer_announces", actors=[me]).extend(
            preset(announce_footprint, **parameters), "footprints"
        )
        conflicts = Guard("a conflicting write must have completed since it began", preset(own_conflict, **parameters))
        # A writer with a conflict has nothing left to decide, and would create entries without itself.
        composition.select("writer_starts_listing_announced", actors=[me]).require(~conflicts)
        composition.select(WRITER_PASSES_CHECK, WRITER_ABORTS, actors=[me]).remove()
        composition.add(transition(WRITER_ABORTS, me, at=KNOWS_TAIL, to=ABORTED,
                                   guards=(ALL_PUBLISHED, OPEN, conflicts), effect=abort,
                                   changes=("own", "own_validation"),
                                   arguments=preset(list_own_conflict, **parameters)))  # fmt: skip


def after_published(request_time: TakeTime, published: Published) -> TakeTime:
    """Redefine the view `request_time` for writers: a write begins later than everything that it lists."""
    return partial(take_time_after, request_time, max((each.completed for each in published), default=0))


def announce_footprint(
    own: Any, own_validation: Validation, footprints: frozenset[AnnouncedFootprint], touches: Touches,
    table_protocol: Protocol, own_file_ids: NewFileIds = FIXED,
) -> Changes:  # fmt: skip
    attempt = UncheckedWrite(touches(own), own_file_ids.ids, own_validation.sealed)
    return {"footprints": footprints | {AnnouncedFootprint(own.requested, attempt)}}


def leave_out_conflicts(
    own_deciding: Deciding, footprints: frozenset[AnnouncedFootprint], published: Published, table_protocol: Protocol
) -> Changes:
    """Leave out each listed write that conflicts with a completed one, or with one that the entry decides before."""
    known = {each.requested: each.attempt for each in footprints}
    kept = list[Write]()
    # In one order for all authors, so that of two conflicting writes every author keeps the same.
    for each in sorted(own_deciding.listed, key=lambda each: each.requested):
        attempt = known.get(each.requested)
        if attempt is None or not has_conflict(attempt, (*published, *kept), table_protocol):
            kept.append(each)
    return {"own_deciding": own_deciding._replace(listed=frozenset(kept))}


def has_conflict(attempt: UncheckedWrite, decided: Published, table_protocol: Protocol) -> bool:
    return conflicting(decided, (), attempt, table_protocol) is not None


def own_conflict(
    own: Any, own_validation: Validation, published: Published, touches: Touches, table_protocol: Protocol,
    own_file_ids: NewFileIds = FIXED,
) -> int | None:  # fmt: skip
    """Return the requested time of a write that conflicts with the actor's own; None if there is none."""
    attempt = UncheckedWrite(touches(own), own_file_ids.ids, own_validation.sealed)
    return conflicting(published, (), attempt, table_protocol)


def list_own_conflict(
    own: Any, own_validation: Validation, published: Published, touches: Touches, table_protocol: Protocol,
    own_file_ids: NewFileIds = FIXED,
) -> Iterable[Args]:  # fmt: skip
    conflict = own_conflict(own, own_validation, published, touches, table_protocol, own_file_ids)
    return ((("against", (conflict,)),),)
