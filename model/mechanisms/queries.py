"""Queriers are actors that send as-of, incremental, change-log and read-optimised queries with arbitrary times.

Readers run snapshot queries, and consumers read consecutive incremental windows; queriers run all other queries. Random
histories use queriers to interleave queries with the steps of other actors.

A querier lists the timeline, ensures that the query's time is settled, lists the timeline again, and reads the files. A
time T is settled once no further instant can complete at or before T. If the first listing shows an instant that
completed at or after T, then T is settled. Otherwise, the querier generates a time later than T while holding the lock;
every later completion time is greater. Once the query's time T is settled, the second listing shows every instant that
completed at or before T. If the newest instant is archived, a listing of the active timeline misses it, so the querier
obtains a time under the lock. A read-optimised query specifies no time; it reads as of the greatest settled time in the
first listing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

from ..answers import BadInput, Cleaned, Kind, Query
from ..kernel.clock import READS_CLOCK, TakeTime
from ..kernel.lock import LOCK_IS_FREE
from ..kernel.table import Instant, Table
from ..kernel.timeline import Published
from ..machine.composition import Composition
from ..machine.mechanism import Kind as ActorKind
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, limit
from ..machine.transition import DEAD, Action, Args, Changes, Guard, transition
from ..refusals import ReadBounds, refusal_of
from ..rules import Rules
from ..variants.listing import ReaderListing
from ..world import World
from .cleaning.rules import Clean, DataFile, opened, published_horizon
from .lost_locks import LostLocks
from .restores.rules import Restore, is_gone
from .savepoints import Savepoint


class AskedQueries(Limits):
    """The limit on the number of queries."""

    queries: int = limit(0, "how many queries each querier asks", in_random_worlds=(2,), needs="querier")


Restores = tuple[Restore, ...]

FUTURE = 1000
"""How far after the clock a time in the future is."""
PUT_DATA = ("deltacommit", "commit", "replacecommit", "compaction", "logcompaction")
"""The actions of instants that put data files."""

QUERIER_SETTLES = "querier_settles"
UNSETTLED, SETTLED, READING, ANSWERED = "asked for an unsettled time", "asked", "has listed what it reads", "answered"


class Querier(NamedTuple):
    """The state of one querier. `kind` is the kind of the current query, or of the last query if none is running;
    `after` and `until` are its times. `settled` is the greatest time that the querier knows to be settled.

    `table` is the table as seen in the second listing of the timeline. `refusal` is the class of the error with which
    the table refuses the query; empty if the query is answered. `queries` counts the queries so far.
    """

    step: str = "idle"
    kind: Kind = "snapshot"
    after: int = 0
    until: int = 0
    settled: int = 0
    table: Table | None = None
    refusal: str = ""
    queries: int = 0
    records: tuple[Any, ...] = ()

    @property
    def query(self) -> Query:
        """The current or last query. A read-optimised query specifies no time."""
        if self.kind == "as_of":
            return Query(self.kind, until=self.until)
        stated = self.kind != "read_optimized"
        return Query(self.kind, self.after, self.until) if stated else Query(self.kind)


QUERIER = ActorKind(
    name="querier", prefix="q", first=Querier(), idle_steps=("idle", ANSWERED), in_random_worlds=(0, 1)
)


def compose(composition: Composition) -> None:
    """Add the transitions of every querier to a model."""
    for me in composition.actors_of(QUERIER):
        asks = (IS_IDLE, QUERY_LEFT, HAS_COMPLETED)
        asks_optimized = transition("querier_asks_read_optimized", me, to=SETTLED, effect=ask_read_optimized,
                                    guards=asks)  # fmt: skip
        if composition.protocol[ReaderListing].listing == "once":  # the reader's choice; other queries list twice
            asks_optimized = replace(asks_optimized.extend(list_again), to=READING)
        composition.add(
            asks_optimized,
            transition("querier_asks_as_of", me, effect=ask_as_of, arguments=any_time, guards=asks),
            transition("querier_asks_window", me, effect=ask_window, arguments=any_window, guards=asks),
            transition("querier_asks_changes", me, effect=ask_changes, arguments=any_window, guards=asks),
            transition(QUERIER_SETTLES, me, at=UNSETTLED, guards=(LOCK_IS_FREE,), effect=settle,
                       changes=("own", "clock"), tags=(READS_CLOCK,)),
            transition("querier_lists_again", me, at=SETTLED, to=READING, effect=list_again),
            transition("querier_reads", me, at=READING, to=ANSWERED, effect=read),
        )  # fmt: skip


def is_idle(own: Querier) -> bool:
    return own.step in QUERIER.idle_steps and own.step != DEAD


def query_is_left(own: Querier, world: World) -> bool:
    return own.queries < world[AskedQueries].queries


def has_completed(published: Published, restores: Restores = ()) -> bool:
    return found_settled(published, restores) > 0


IS_IDLE = Guard("{me} must not be reading", is_idle, place=True)
QUERY_LEFT = Guard("{me} must have a query left", query_is_left, limit=True)
HAS_COMPLETED = Guard("something must have completed", has_completed)


def newest_time(clock: int, entries: tuple[Any, ...]) -> int:
    """Return the newest time of the clock and of the entries of a log of announced commits, which assign other times.
    """
    return max(clock, entries[-1].reserved) if entries else clock


def any_time(clock: int, entries: tuple[Any, ...] = ()) -> Iterator[Args]:
    """Yield the possible times of an as-of query: all times up to the next one, and a time far in the future."""
    newest = newest_time(clock, entries)
    for time in (*range(1, newest + 2), newest + FUTURE):
        yield (("at", (time,)),)


def any_window(clock: int, published: Published, entries: tuple[Any, ...] = ()) -> Iterator[Args]:
    """Yield every window between two of these times: 0, the completion times, the current time, and a time far in the
    future.
    """
    newest = newest_time(clock, entries)
    ends = sorted({0, *(entry.completed for entry in published), newest, newest + FUTURE})
    for window in combinations(ends, 2):
        yield (("window", window),)


def ask_as_of(own: Querier, active_instants: Published, restores: Restores = (), *, at: tuple[int]) -> Changes:
    """Begin an as-of query. The first listing shows whether the query's time is settled."""
    return _ask(own, "as_of", (0, *at), found_settled(active_instants, restores))


def ask_window(
    own: Querier, active_instants: Published, restores: Restores = (), *, window: tuple[int, int]
) -> Changes:
    """Begin an incremental query of a window of completion times. The first listing shows whether the end of the window
    is settled.
    """
    return _ask(own, "incremental", window, found_settled(active_instants, restores))


def ask_changes(
    own: Querier, active_instants: Published, restores: Restores = (), *, window: tuple[int, int]
) -> Changes:
    """Begin a change-log query of a window of completion times. The first listing shows whether the end of the window
    is settled.
    """
    return _ask(own, "changes", window, found_settled(active_instants, restores))


def ask_read_optimized(own: Querier, published: Published, restores: Restores = ()) -> Changes:
    """Begin a read-optimised query as of the latest time that is settled according to the first listing."""
    settled = found_settled(published, restores)
    return _ask(own, "read_optimized", (0, settled), settled)


def found_settled(published: Published, restores: Restores) -> int:
    """Return the latest time that is settled according to a listing: a completion time, or the requested time of a
    restore.
    """
    return max((*(each.completed for each in published), *(each.requested for each in restores)), default=0)


def _ask(own: Querier, kind: Kind, window: tuple[int, int], settled: int) -> Changes:
    after, until = window
    step = SETTLED if until <= settled else UNSETTLED
    asked = Querier(step, kind, after, until, settled, queries=own.queries + 1, records=own.records)
    return {"own": asked}


def settle(own: Querier, clock: int, request_time: TakeTime) -> Changes:
    """Generate a time while holding the lock; every instant that is not yet completed will complete after that time. A
    query as of a time in the future is refused.
    """
    time, clock = request_time(clock)
    future = own.until > time
    step, refusal = (READING, BadInput.__name__) if future else (SETTLED, "")
    return {"own": own._replace(step=step, settled=time, refusal=refusal), "clock": clock}


def list_again(
    own: Querier, table: Table, published: Published, pending_instants: Iterable[Instant], rules: Rules,
    cleans: tuple[Clean, ...] = (), restores: Restores = (), savepoints: tuple[Savepoint, ...] = (),
) -> Changes:  # fmt: skip
    """List the timeline again, and decide whether the query is refused. The second listing shows every instant that
    completed by the time of the query.
    """
    instants = tuple(entry for entry in (*published, *pending_instants) if entry.action in PUT_DATA)
    completions = {entry.completed for entry in published}
    first = min((entry.completed for entry in instants if entry.completed), default=None)
    bounds = ReadBounds(
        own.settled,
        first,
        published_horizon(rules, cleans, published),
        restores,
        frozenset(each.at for each in savepoints if each.completed is not None),
    )
    refusal = refusal_of(own.kind, own.query.times, bounds, {entry.requested for entry in instants} - completions)
    seen = rules.table_as_of(table, own.until) if own.kind == "read_optimized" else table
    return {"own": own._replace(table=seen, refusal=type(refusal).__name__ if refusal else "")}


def read(
    own: Querier, world: World, rules: Rules, deleted: frozenset[DataFile] = frozenset(),
    restores: Restores = (),
) -> Changes:  # fmt: skip
    """Read the files that the query needs. Refuse the query if a clean or restore has deleted one of these files."""
    if own.refusal or own.table is None or not (deleted or restores):
        return {"own": own}
    files = (file for group in range(world.groups) for file in opened(rules, own.table, group, own.query, own.until))
    gone = any(file in deleted or is_gone(restores, file.requested) for file in files)
    return {"own": own._replace(refusal=Cleaned.__name__) if gone else own}


def check(world: World) -> None:
    """Raise ValueError if locks can be lost: a querier that loses its lock is not modelled."""
    if world.actors.get("querier") and world[LostLocks].lock_losses:
        raise ValueError("world: a querier together with lock_losses is not modelled; leave one of them out")


MECHANISM = Mechanism(
    compose=compose,
    kinds=(QUERIER,),
    limits=AskedQueries,
    after=("cleaning", "restores", "savepoints"),
    check=check,
    actions=(
        Action("querier_asks_as_of", "lists the timeline, to read the table as of a time",
               "{actor} asks for the table as of {at}"),
        Action("querier_asks_window", "lists the timeline, to read what was written in a window",
               "{actor} asks for the window {window}"),
        Action("querier_asks_changes", "lists the timeline, to read what changed in a window",
               "{actor} asks for the changes in {window}"),
        Action("querier_asks_read_optimized", "lists the timeline, to read the newest base files",
               "{actor} asks for the read-optimised table"),
        Action(QUERIER_SETTLES, "takes a time under the lock, so that no instant can complete before it any more",
               "{actor} takes a time, which settles the earlier ones", continues_call=True),
        Action("querier_lists_again", "lists again: everything that completed by the time of the query is there",
               "{actor} lists again", continues_call=True),
        Action("querier_reads", "reads the files; refuses a time that the table does not answer",
               "{actor} reads", continues_call=True),
    ),
)  # fmt: skip
