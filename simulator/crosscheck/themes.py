"""The themes of random worlds: a theme adds mechanisms that change how existing actors behave.

If a world had every mechanism at once, each mechanism would rarely take effect. Therefore a random world has at most
one theme: a large archive, savepoints with a restore, optimistic writers, skewed clocks, or a stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nbcc.model import World
from nbcc.model.mechanisms.restores.mechanism import OTHERS, WITH_READS

from ..schedule import Choose

NOT_FOLLOWED: Final = ("cleaner", "overwriter")
"""The kinds of actors that a random world with a stream does not have."""

Theme = Callable[[Choose, World], World]

IN_COPY_ON_WRITE: Final = ("writer", "reader", "querier", "archiver")
"""The kinds of actors that a random copy-on-write world keeps."""


def themed(choose: Choose, world: World) -> World:
    """Return the random world with a theme or, more often, without a theme."""
    return THEMES[choose(len(THEMES))](choose, world)


def plain(choose: Choose, world: World) -> World:
    """Return the world unchanged, without a theme."""
    return world


def archiving(choose: Choose, world: World) -> World:
    """Return the world with an archiver that runs up to four times, so that the archive has several files.

    The world has few writers with many writes each, because a pending write keeps later instants on the active
    timeline. A write whose log a snapshot merges also stays on the active timeline. Therefore most worlds of this theme
    have a copy-on-write table.
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
    """Return the world with a copy-on-write table and without the actors that need log files."""
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
    """Return the world with a savepointer and a restorer, and with services or reads that are modelled together with
    restores.
    """
    kept = WITH_READS if choose(2) else ("writer", "compactor", "overwriter", "querier", *OTHERS)
    actors = {kind: count for kind, count in world.actors.items() if kind in kept}
    return world.replace(
        actors={**actors, "savepointer": 1, "restorer": 1},
        writes={write: shape for write, shape in world.writes.items() if write[0].startswith("w")},
        savepoints=1 + choose(2),
        savepoints_dropped=choose(2),
        restores=1,
    )


def optimistic(choose: Choose, world: World) -> World:
    """Return the world with optimistic writers: all writers, or only the writer w1."""
    who = "w1" if choose(2) else "writer"
    return world.replace(settings={who: {"concurrency": "occ"}}, retries=choose(2))


def skewed(choose: Choose, world: World) -> World:
    """Return the world with clocks that differ by one or two ticks."""
    return world.replace(skew=1 + choose(2))


def streaming(choose: Choose, world: World) -> World:
    """Return the world with a stream that restarts up to twice, perhaps without its Spark checkpoint or from a copy.

    The model of a stream has neither cleans nor windows in which a partition was replaced.
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
    plain, plain, plain, plain, archiving, archiving, restoring, optimistic, skewed, streaming,
)  # fmt: skip
"""Each history picks one at random."""
