"""Writers append log files under non-blocking concurrency control (RFC-66, "Non-blocking concurrency control").

A writer requests an instant, writes its log files, and publishes (`publication.py`). A writer does not check for
concurrent actors. The name of each log file contains the requested time of the write. The file slice of a log file
depends only on the completion time of the write (`slicing.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

from ..machine.composition import Composition
from ..machine.marks import marks_of
from ..machine.mechanism import Kind, Mechanism
from ..machine.transition import Action, Args, Changes, Guard, transition
from ..world import World
from .clock import READS_CLOCK, TakeTime
from .lock import LOCK_IS_FREE
from .publication import Publication, publication, publication_actions
from .table import Instant, Write
from .timeline import PENDING

WRITER_REQUESTS_INSTANT = "writer_requests_instant"
WRITER_STARTS_WRITING = "writer_starts_writing"
WRITER_WRITES_LOG = "writer_writes_log"

REQUESTS, PUTS_FILE = "requests", "puts file"
"""Tags: a transition puts a requested instant; a transition puts a data file of a write."""


class Writer(NamedTuple):
    """The state of one writer. `number` counts the writes begun, and `files` the log files put by the current write."""

    step: str = "idle"
    number: int = 0
    requested: int = 0
    completed: int = 0
    files: int = 0
    inflight: bool = False
    records: tuple[Any, ...] = ()

    @property
    def state(self) -> Literal["requested", "inflight"]:
        """The state of the writer's pending instant."""
        return "inflight" if self.inflight else "requested"


WRITER = Kind(name="writer", prefix="w", first=Writer(), in_random_worlds=(2, 2, 1, 3))


def compose(composition: Composition) -> None:
    for me in composition.actors_of(WRITER):
        composition.add(
            transition(WRITER_REQUESTS_INSTANT, me, at="idle", to="requested", guards=(WRITE_LEFT, LOCK_IS_FREE),
                       effect=request_instant, changes=("own", "clock"), tags=(REQUESTS, READS_CLOCK)),
            transition(WRITER_STARTS_WRITING, me, at="requested", to="writing", effect=start_writing),
            transition(WRITER_WRITES_LOG, me, at="writing", effect=write_log, arguments=next_log, tags=(PUTS_FILE,)),
        )  # fmt: skip
        write = partial(published_write, composition.world, me)
        publication(composition, Publication("writer", me, "written", write))
    composition.map_view(PENDING, pending_writes)


WRITE_LEFT = Guard("{me} must have a write left", lambda own, world: own.number < world.writes_per_writer, limit=True)


def request_instant(own: Writer, clock: int, request_time: TakeTime) -> Changes:
    """In one step under the lock, take the requested time and put the requested instant."""
    time, clock = request_time(clock, action="deltacommit")
    return {"own": Writer(number=own.number + 1, requested=time), "clock": clock}


def start_writing(own: Writer) -> Changes:
    """Put the inflight instant of the current write on the timeline."""
    return {"own": own._replace(inflight=True)}


def next_log(own: Writer, me: str, world: World) -> Iterable[Args]:
    group, version = world.files(me, own.number)[own.files]
    return ((("group", group), ("version", version)),)


def write_log(own: Writer, me: str, world: World) -> Changes:
    """Put one log file. The file name consists of the write's requested time and a version."""
    last = own.files + 1 == len(world.files(me, own.number))
    return {"own": own._replace(step="written" if last else "writing", files=own.files + 1)}


def published_write(world: World, me: str, own: Writer) -> tuple[Writer, Write]:
    return Writer(number=own.number), write_of(world, me, own)


def give_up(own: Writer) -> Changes:
    """Delete the files of the current write, and then, under the lock, its pending instant."""
    return {"own": Writer(number=own.number)}


def write_of(world: World, me: str, own: Writer) -> Write:
    """Return the completed instant of the writer's current write."""
    return Write(own.requested, own.completed, me, own.number, world.files(me, own.number), marks_of(own))


def pending_writes(
    pending_instants: Iterable[Instant], every_writer: Mapping[str, Writer], published: tuple[Any, ...]
) -> Iterator[Instant]:
    """Add the pending writes to the view `pending_instants`."""
    yield from pending_instants
    done = {entry.requested for entry in published if isinstance(entry, Write)}
    for own in every_writer.values():
        if own.requested and own.requested not in done:
            yield Instant(own.requested, "deltacommit", own.state, None)


MECHANISM = Mechanism(
    compose=compose,
    kinds=(WRITER,),
    actions=(
        Action(WRITER_REQUESTS_INSTANT, "under the lock: takes a requested time and puts the requested instant",
               "{actor} requests an instant"),
        Action(WRITER_STARTS_WRITING, "puts the inflight instant", "{actor} starts writing"),
        Action(WRITER_WRITES_LOG, "puts one log file, named by its own instant and a version",
               "{actor} writes log version {version} of group {group}", continues_call=True, data_phase=True),
        *publication_actions("writer"),
    ),
)  # fmt: skip
