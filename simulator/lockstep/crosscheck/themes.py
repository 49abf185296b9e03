"""Themes: mechanisms that can be added to random worlds, such as a large archive or skewed clocks.

A random world has at most one theme, because each of several themes would rarely affect a history.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nbcc.model import World
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.reader import READER
from nbcc.model.kernel.writer import WRITER
from nbcc.model.machine.mechanism import Kind, name_of
from nbcc.model.machine.options import overrides
from nbcc.model.mechanisms.archiving.mechanism import ARCHIVER
from nbcc.model.mechanisms.cleaning.mechanism import CLEANER
from nbcc.model.mechanisms.insert_overwrite import OVERWRITER
from nbcc.model.mechanisms.log_compaction.mechanism import LOG_COMPACTOR
from nbcc.model.mechanisms.occ.conflicts import Occ
from nbcc.model.mechanisms.queries import QUERIER
from nbcc.model.mechanisms.restores.mechanism import ALLOWED_WITH_READS, ALLOWED_WITHOUT_READS, RESTORER
from nbcc.model.mechanisms.savepoints import SAVEPOINTER
from nbcc.model.mechanisms.state_checkpoints import CHECKPOINTER
from nbcc.model.mechanisms.streams import STREAM
from nbcc.model.world import crew

from ..schedule import Choose

NOT_FOLLOWED: Final = crew(CLEANER, OVERWRITER).keys()
"""The kinds of actors that a random world with a stream does not have."""

BESIDE_CHECKPOINTS: Final = (
    crew(LOG_COMPACTOR, OVERWRITER), crew(ARCHIVER), crew(SAVEPOINTER, RESTORER, ARCHIVER),
)  # fmt: skip
"""The actors that a random world with state checkpoints may have besides writers, compactors and queriers."""

Theme = Callable[[Choose, World], World]

IN_COPY_ON_WRITE: Final = crew(WRITER, READER, QUERIER, ARCHIVER).keys()
"""The kinds of actors that a random copy-on-write world keeps."""


def themed(choose: Choose, world: World) -> World:
    """Apply a random theme to the world, or no theme in 3 of 11 worlds."""
    return THEMES[choose(len(THEMES))](choose, world)


def plain(choose: Choose, world: World) -> World:
    """Return the world unchanged."""
    return world


def archiving(choose: Choose, world: World) -> World:
    """Return the world with an archiver that can run four times, so that the archive can have several files.

    A pending write prevents the archiving of all later instants. Therefore, the world has at most two writers, with
    three or four writes each. Most worlds with an archiver are copy-on-write, because writes with log files cannot be
    archived before a compaction.
    """
    writers = min(2, world.actors[WRITER.name])
    archived = world.replace(
        actors={**world.actors, WRITER.name: writers, **crew(ARCHIVER)},
        archives=4,
        instants_retained=1,
        compactions=3,
        writes_per_writer=4 if writers == 1 else 3,
    )
    return copy_on_write(archived) if choose(4) else archived


def copy_on_write(world: World) -> World:
    """Return the world with a copy-on-write table, without log files and without the actors that need them."""
    return world.replace(
        table_type="COPY_ON_WRITE",
        actors={kind: count for kind, count in world.actors.items() if kind in IN_COPY_ON_WRITE},
        writes={
            write: tuple(min(1, versions) for versions in shape)
            for write, shape in world.writes.items()
            if write[0].startswith("w")
        },
        compactions=0,
    )


def restoring(choose: Choose, world: World) -> World:
    """Return the world with two more actors: a savepointer and a restorer."""
    without_reads: tuple[Kind | str, ...] = (WRITER, COMPACTOR, OVERWRITER, QUERIER, *ALLOWED_WITHOUT_READS)
    kept = {name_of(kind) for kind in (ALLOWED_WITH_READS if choose(2) else without_reads)}
    actors = {kind: count for kind, count in world.actors.items() if kind in kept}
    return world.replace(
        actors={**actors, **crew(SAVEPOINTER, RESTORER)},
        writes={write: shape for write, shape in world.writes.items() if write[0].startswith("w")},
        savepoints=1 + choose(2),
        savepoints_dropped=choose(2),
        restores=1,
    )


def checkpointing(choose: Choose, world: World) -> World:
    """Return the world with a checkpointer, from whose state checkpoints new processes read. It has log compactions and
    an overwrite besides, or an archiver, perhaps with restores: files that a checkpoint must list or leave out.

    The world has one file group and at most two writers, so that the records of a key often meet.
    """
    actors = {kind: count for kind, count in world.actors.items() if kind in crew(WRITER, COMPACTOR, QUERIER)}
    return world.replace(
        actors={
            **actors, WRITER.name: min(2, actors[WRITER.name]), **crew(CHECKPOINTER), **BESIDE_CHECKPOINTS[choose(3)]
        },
        buckets=1,
        partitions=1,
        writes={},
        writes_per_writer=2,
        state_checkpoints=2,
        log_compactions=1 + choose(2),
        archives=2,
        instants_retained=1,
        savepoints=1 + choose(2),
        restores=1,
    )


def optimistic(choose: Choose, world: World) -> World:
    """Return the world with optimistic concurrency control (OCC), for all writers or only for w1, chosen at random."""
    who = WRITER.actor(1) if choose(2) else WRITER.name
    return world.replace(settings={who: overrides(Occ(concurrency="occ"))}, retries=choose(2))


def losing(choose: Choose, world: World) -> World:
    """Return the world with up to two lost answers: a writer's put succeeds, and the store answers that the object
    exists.
    """
    return world.replace(lost_answers=1 + choose(2))


def skewed(choose: Choose, world: World) -> World:
    """Return the world with a clock skew of one or two ticks, chosen at random."""
    return world.replace(skew=1 + choose(2))


def streaming(choose: Choose, world: World) -> World:
    """Return the world with a Structured Streaming query that restarts up to twice, perhaps with a lost or copied Spark
    checkpoint.

    Cleaners and overwriters are removed, because the model does not support streams together with them.
    """
    actors = {kind: count for kind, count in world.actors.items() if kind not in NOT_FOLLOWED}
    return world.replace(
        actors={**actors, **crew(STREAM)},
        writes={write: shape for write, shape in world.writes.items() if write[0].startswith(("w", "bulk"))},
        batches=2 + choose(2),
        restarts=2,
        lost_checkpoints=choose(2),
        copied_checkpoints=choose(2),
    )


THEMES: Final[tuple[Theme, ...]] = (
    plain, plain, plain, checkpointing, archiving, archiving, restoring, optimistic, skewed, streaming, losing,
)  # fmt: skip
"""Each history picks one at random."""
