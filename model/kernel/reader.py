"""Readers: list the timeline twice, then read (RFC-66, "Reader expectations").

A listing is not a snapshot: it shows every instant that was there when it began, and any part of those that came while
it ran. So a reader lists, takes T := the greatest completion time that it saw, and lists again. Instants are published
in the order of their completion times: when the second listing begins, everything that completed at or before T is
there. The reader keeps exactly that.

Views, which mechanisms map:

    shown_instants, newest_shown    what the listing shows that ends now, and the greatest completion time in it
    kept_instants, kept_table       the instants that the reader has kept, and the table that they make up
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..machine.composition import Composition
from ..machine.mechanism import Kind, Mechanism
from ..machine.transition import DEAD, Action, Args, Changes, Guard, subsets, transition
from .table import Plan, Table, table_of
from .timeline import Published

Plans = tuple[Plan, ...]

ENDS = ("answered", "refused", "lost")
"""How a read ends. Where files are deleted: refused if the time of the read is before the horizon, otherwise lost."""
LISTED, SURE = "listed", "sure of its instants"
SHOWN, NEWEST, KEPT, KEPT_TABLE = "shown_instants", "newest_shown", "kept_instants", "kept_table"

KEEPS = "keeps instants"
"""The tag of the transition that ends the last listing: the reader is then sure of its instants."""


class Reader(NamedTuple):
    """`there`, `plans`: the completed instants and the plans that were there when the listing began, by requested time.

    `time` is the reader's T; `kept` the requested times of the completed instants that it reads.
    """

    step: str = "idle"
    there: tuple[int, ...] = ()
    plans: tuple[int, ...] = ()
    time: int = 0
    kept: tuple[int, ...] = ()
    records: tuple[Any, ...] = ()

    @property
    def is_reading(self) -> bool:
        """Whether a read is under way."""
        return self.step not in ("idle", DEAD, *ENDS)


READER = Kind(name="reader", prefix="r", first=Reader(), idle_steps=("idle", *ENDS), in_random_worlds=(0, 1))


def compose(composition: Composition) -> None:
    """Add the views and the transitions of every reader."""
    composition.map_view(SHOWN, shown_instants)
    composition.map_view(NEWEST, newest_shown)
    composition.map_view(KEPT, kept_instants)
    composition.map_view(KEPT_TABLE, kept_table)
    for me in composition.actors_of("reader"):
        composition.add(
            transition("reader_starts_listing", me, to="listing", guards=(NOT_READING, READ_LEFT),
                       effect=start_listing),
            transition("reader_ends_listing", me, at="listing", to=LISTED, effect=take_time, arguments=listed_parts,
                       ).extend(forget_listing),
            transition("reader_starts_listing_again", me, at=LISTED, to="listing again", effect=start_second_listing),
            transition("reader_ends_listing_again", me, at="listing again", to=SURE, effect=keep_instants,
                       arguments=listed_parts, tags=(KEEPS,)),
            transition("reader_reads", me, at=SURE, to="answered"),
        )  # fmt: skip


READ_LEFT = Guard("{me} must have a read left", lambda own: own.step not in ENDS, limit=True)
NOT_READING = Guard("{me} must not be reading", lambda own: not own.is_reading and own.step != DEAD)


def start_listing(own: Reader, published: Published, plans: Plans) -> Changes:
    """Begin to list: every instant that is there now will be seen."""
    return {"own": _started(own, published, plans)._replace(time=0)}


def start_second_listing(own: Reader, published: Published, plans: Plans) -> Changes:
    """Begin to list again: every instant that completed at or before T is there now."""
    return {"own": _started(own, published, plans)}


def listed_parts(own: Reader, active_instants: Published) -> Iterable[Args]:
    """Every part of the instants that came since the listing began."""
    came = [entry.requested for entry in active_instants if entry.requested not in own.there]
    return ((("seen", part),) for part in subsets(came))


def shown_instants(own: Reader, active_instants: Published, *, seen: tuple[int, ...]) -> Published:
    """The instants that were there when the listing began, and the part `seen` of later ones."""
    return tuple(entry for entry in active_instants if entry.requested in own.there or entry.requested in seen)


def newest_shown(shown_instants: Published) -> int:
    return max((entry.completed for entry in shown_instants), default=0)


def take_time(own: Reader, newest_shown: int) -> Changes:
    """T is the greatest completion time that the listing shows."""
    return {"own": own._replace(time=newest_shown)}


def forget_listing(own: Reader) -> Changes:
    """The next listing shows everything that completed at or before T."""
    return {"own": own._replace(there=(), plans=())}


def keep_instants(own: Reader, shown_instants: Published) -> Changes:
    """Keep the instants that completed at or before T."""
    kept = tuple(entry.requested for entry in shown_instants if entry.completed <= own.time)
    return {"own": own._replace(there=(), kept=kept)}


def kept_instants(own: Reader, published: Published) -> Published:
    return tuple(entry for entry in published if entry.requested in own.kept)


def kept_table(own: Reader, kept_instants: Published, plans: Plans) -> Table:
    """A reader that sees a compaction completed has its base files, even if its listing missed the plan."""
    seen = {*own.plans, *own.kept}
    return table_of(kept_instants, tuple(plan for plan in plans if plan.requested in seen))


def _started(own: Reader, published: Published, plans: Plans) -> Reader:
    there, planned = (tuple(each.requested for each in some) for some in (published, plans))
    return own._replace(there=there, plans=planned)


MECHANISM = Mechanism(
    compose=compose,
    kinds=(READER,),
    actions=(
        Action("reader_starts_listing", "begins to list the timeline", "{actor} starts listing the timeline"),
        Action("reader_ends_listing", "has listed all that was there and part of what came meanwhile",
               "{actor} ends its listing; of what came meanwhile it saw {seen}", continues_call=True),
        Action("reader_starts_listing_again", "lists again", "{actor} starts listing again", continues_call=True),
        Action("reader_ends_listing_again", "keeps what completed at or before its time",
               "{actor} ends its second listing; of what came meanwhile it saw {seen}", continues_call=True),
        Action("reader_reads", "reads the files of the instants it kept; refuses if cleaning was faster",
               "{actor} reads", continues_call=True),
    ),
)  # fmt: skip
