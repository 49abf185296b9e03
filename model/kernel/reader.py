"""Readers list the timeline twice, then read the files (RFC-66, "Reader expectations").

A listing of the timeline is not atomic. A listing shows every instant that existed when the listing began, and any
subset of the instants published during the listing. A reader lists the timeline, chooses the greatest completion time
in the listing as T, and lists the timeline again. Instants are published in completion order. Therefore, every instant
that completed at or before T exists when the reader begins its second listing. The reader uses exactly the instants
that completed at or before T.

Mechanisms may redefine four views of a reader: `shown_instants`, `newest_shown`, `kept_instants` and `kept_table`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..machine.composition import Composition
from ..machine.mechanism import Kind, Mechanism
from ..machine.transition import DEAD, Action, Args, Changes, Guard, subsets, transition
from .table import Plans, Table, table_of
from .timeline import Published

READER_STARTS_LISTING = "reader_starts_listing"
READER_ENDS_LISTING = "reader_ends_listing"
READER_STARTS_LISTING_AGAIN = "reader_starts_listing_again"
READER_ENDS_LISTING_AGAIN = "reader_ends_listing_again"
READER_READS = "reader_reads"

ENDS = ("answered", "refused", "lost")
"""How a read ends. If a file is deleted: refused if the read's time is before the horizon, otherwise lost."""
LISTED, SURE = "listed", "sure of its instants"
SHOWN, NEWEST, KEPT, KEPT_TABLE = "shown_instants", "newest_shown", "kept_instants", "kept_table"

KEEPS = "keeps instants"
"""The tag of the transition that ends the last listing and fixes the reader's instants."""


class Reader(NamedTuple):
    """The state of one reader. `at_start` and `plans` contain the requested times of the completed instants and the
    plans, respectively, when the listing began. `time` is T, the time as of which the reader reads. `instants` are the
    requested times of the completed instants that the reader uses.
    """

    step: str = "idle"
    at_start: tuple[int, ...] = ()
    plans: tuple[int, ...] = ()
    time: int = 0
    instants: tuple[int, ...] = ()
    records: tuple[Any, ...] = ()

    @property
    def is_reading(self) -> bool:
        """True while the reader performs a read."""
        return self.step not in ("idle", DEAD, *ENDS)


READER = Kind(name="reader", prefix="r", first=Reader(), idle_steps=("idle", *ENDS), in_random_worlds=(0, 1))


def compose(composition: Composition) -> None:
    """Add the views and transitions of every reader to a model."""
    composition.map_view(SHOWN, shown_instants)
    composition.map_view(NEWEST, newest_shown)
    composition.map_view(KEPT, kept_instants)
    composition.map_view(KEPT_TABLE, kept_table)
    for me in composition.actors_of(READER):
        composition.add(
            transition(READER_STARTS_LISTING, me, to="listing", guards=(NOT_READING, READ_LEFT),
                       effect=start_listing),
            transition(READER_ENDS_LISTING, me, at="listing", to=LISTED, effect=take_time, arguments=listed_parts,
                       ).extend(forget_listing),
            transition(READER_STARTS_LISTING_AGAIN, me, at=LISTED, to="listing again", effect=start_second_listing),
            transition(READER_ENDS_LISTING_AGAIN, me, at="listing again", to=SURE, effect=keep_instants,
                       arguments=listed_parts, tags=(KEEPS,)),
            transition(READER_READS, me, at=SURE, to="answered"),
        )  # fmt: skip


READ_LEFT = Guard("{me} must have a read left", lambda own: own.step not in ENDS, limit=True)
NOT_READING = Guard("{me} must not be reading", lambda own: not own.is_reading and own.step != DEAD)


def start_listing(own: Reader, published: Published, plans: Plans) -> Changes:
    """Begin the first listing of the timeline."""
    return {"own": _started(own, published, plans)._replace(time=0)}


def start_second_listing(own: Reader, published: Published, plans: Plans) -> Changes:
    """Begin the second listing of the timeline."""
    return {"own": _started(own, published, plans)}


def listed_parts(own: Reader, active_instants: Published) -> Iterable[Args]:
    """Yield every subset of the instants published since the listing began: a listing may include any of them."""
    later = [entry.requested for entry in active_instants if entry.requested not in own.at_start]
    return ((("seen", part),) for part in subsets(later))


def shown_instants(own: Reader, active_instants: Published, *, seen: tuple[int, ...]) -> Published:
    """Return the instants that existed when the listing began, and those in `seen`, published during the listing."""
    return tuple(entry for entry in active_instants if entry.requested in own.at_start or entry.requested in seen)


def newest_shown(shown_instants: Published) -> int:
    return max((entry.completed for entry in shown_instants), default=0)


def take_time(own: Reader, newest_shown: int) -> Changes:
    """Set T, the reader's time, to the greatest completion time in the listing."""
    return {"own": own._replace(time=newest_shown)}


def forget_listing(own: Reader) -> Changes:
    """Discard the first listing, because the second listing shows every instant that completed at or before T."""
    return {"own": own._replace(at_start=(), plans=())}


def keep_instants(own: Reader, shown_instants: Published) -> Changes:
    """Keep the listed instants that completed at or before T, the reader's time."""
    kept = tuple(entry.requested for entry in shown_instants if entry.completed <= own.time)
    # `at_start` is emptied, so that states that differ only in what a reader no longer uses become one.
    return {"own": own._replace(at_start=(), instants=kept)}


def kept_instants(own: Reader, published: Published) -> Published:
    return tuple(entry for entry in published if entry.requested in own.instants)


def kept_table(own: Reader, kept_instants: Published, plans: Plans) -> Table:
    """Return the table of the reader's instants, the plans that it listed, and the plans of its instants."""
    seen = {*own.plans, *own.instants}
    return table_of(kept_instants, tuple(plan for plan in plans if plan.requested in seen))


def _started(own: Reader, published: Published, plans: Plans) -> Reader:
    there, planned = (tuple(each.requested for each in some) for some in (published, plans))
    return own._replace(at_start=there, plans=planned)


MECHANISM = Mechanism(
    compose=compose,
    kinds=(READER,),
    actions=(
        Action(READER_STARTS_LISTING, "begins to list the timeline", "{actor} starts listing the timeline"),
        Action(READER_ENDS_LISTING, "ends the listing: all earlier instants, and some that were published meanwhile",
               "{actor} ends its listing; of later instants it shows {seen}", continues_call=True),
        Action(READER_STARTS_LISTING_AGAIN, "begins a second listing",
               "{actor} starts listing again", continues_call=True),
        Action(READER_ENDS_LISTING_AGAIN, "keeps the instants that completed at or before its time",
               "{actor} ends its second listing; of later instants it shows {seen}", continues_call=True),
        Action(READER_READS, "reads the files of its instants; refuses if a clean has deleted one",
               "{actor} reads", continues_call=True),
    ),
)  # fmt: skip
