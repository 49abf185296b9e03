"""Themes: mechanisms that can be added to random worlds, such as a large archive or skewed clocks.

A random world has at most one theme, because each of several themes would rarely affect a history.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nbcc.model import World
from nbcc.model.mechanisms.restores.mechanism import OTHERS, WITH_READS

from ..schedule import Choose

NOT_FOLLOWED: Final = ("cleaner", "overwriter")
"""The kinds of actors that a random world with a stream does not have."""

BESIDE_CHECKPOINTS: Final = ({"log_compactor": 1, "overwriter": 1}, {"archiver": 1})
"""The actors that a random world with state checkpoints may have besides writers, compactors and queriers."""

Theme = Callable[[Choose, World], World]

IN_COPY_ON_WRITE: Final = ("writer", "reader", "querier", "archiver")
"""The kinds of actors that a random copy-on-write world keeps."""


def themed(choose: Choose, world: World) -> World:
    """Apply a random theme to the world, or no theme with probability 0.3."""
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
    writers = min(2, world.actors["writer"])
    archived = world.replace(
        actors={**world.actors, "writer": writers, "archiver": 1},
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
    kept = WITH_READS if choose(2) else ("writer", "compactor", "overwriter", "querier", *OTHERS)
    actors = {kind: count for kind, count in world.actors.items() if kind in kept}
    return world.replace(
        actors={**actors, "savepointer": 1, "restorer": 1},
        writes={write: shape for write, shape in world.writes.items() if write[0].startswith("w")},
        savepoints=1 + choose(2),
        savepoints_dropped=choose(2),
        restores=1,
    )


def checkpointing(choose: Choose, world: World) -> World:
    """Return the world with a checkpointer, from whose state checkpoints new processes read. It has log compactions and
    an overwrite besides, or an archiver: files that a checkpoint must list or leave out.

    A restorer is left out, because a checkpointer that meets its plan lists a third time, which the model does not.
    The world has one file group and at most two writers, so that the records of a key often meet.
    """
    actors = {kind: count for kind, count in world.actors.items() if kind in ("writer", "compactor", "querier")}
    return world.replace(
        actors={**actors, "writer": min(2, actors["writer"]), "checkpointer": 1, **BESIDE_CHECKPOINTS[choose(2)]},
        buckets=1,
        partitions=1,
        writes={},
        writes_per_writer=2,
        state_checkpoints=2,
        log_compactions=1 + choose(2),
        archives=2,
        instants_retained=1,
    )


def optimistic(choose: Choose, world: World) -> World:
    """Return the world with optimistic concurrency control (OCC), for all writers or only for w1, chosen at random."""
    who = "w1" if choose(2) else "writer"
    return world.replace(settings={who: {"concurrency": "occ"}}, retries=choose(2))


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
        actors={**actors, "stream": 1},
        writes={write: shape for write, shape in world.writes.items() if write[0].startswith(("w", "bulk"))},
        batches=2 + choose(2),
        restarts=2,
        lost_checkpoints=choose(2),
        copied_checkpoints=choose(2),
    )


THEMES: Final[tuple[Theme, ...]] = (
    plain, plain, plain, checkpointing, archiving, archiving, restoring, optimistic, skewed, streaming,
)  # fmt: skip
"""Each history picks one at random."""
