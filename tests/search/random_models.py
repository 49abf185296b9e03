"""Random small worlds and protocols in which any two mechanisms may meet."""

from __future__ import annotations

import random
from collections import Counter
from itertools import chain, product
from typing import Any, Final

from nbcc.model import Protocol, World
from nbcc.model.mechanisms import kinds
from nbcc.model.mechanisms.partial_updates import PartialColumns
from nbcc.model.protocol import choices
from nbcc.simulator import specs

ACTORS: Final = 5
LOGS: Final = 4
LOGS_OF_PARTS: Final = 3
"""The most logs in a file group with partial rows. Reads are judged for every valuation, of which these have more."""
LIMITS: Final[dict[str, dict[str, tuple[int, ...]]]] = {
    "writer": {"writes_per_writer": (1, 1, 2, 2, 3)},
    "compactor": {"compactions": (1, 1, 2)},
    "cleaner": {"cleans": (1, 2), "commits_retained": (1,)},
    "log_compactor": {"log_compactions": (1, 2)},
    "archiver": {"archives": (1, 2), "instants_retained": (1,)},
    "savepointer": {"savepoints": (1, 2), "savepoints_dropped": (0, 1)},
    "restorer": {"restores": (1, 1, 2)},
    "rollbacker": {"rollbacks": (1, 2), "stalls": (0, 1)},
    "consumer": {"windows": (1, 2)},
    "stream": {"batches": (1, 2), "restarts": (0, 1), "lost_checkpoints": (0,), "copied_checkpoints": (0,)},
    "schema_evolver": {"alterations": (1,)},
}
"""Kind of actor -> its limits and their possible values."""
RARE: Final[dict[str, tuple[Any, ...]]] = {
    "crashes": (1,), "lock_losses": (1,), "skew": (1,), "lost_answers": (1,), "resends": (1,), "log_versions": (2,),
    "metadata_table": (1,), "columns": (2,), "buckets": (2,), "table_type": ("COPY_ON_WRITE",),
    "merge_mode": ("COMMIT_TIME_ORDERING", "CUSTOM"), "settings": ({"writer": {"concurrency": "occ"}},),
}  # fmt: skip
"""Options of a world, each of which one world in six has."""

SHAPES: Final = ((1, 1), (1, 0), (0, 1), (2, 0))
"""The numbers of logs of a write in two file groups."""


def random_world(choose: random.Random) -> World:
    """A small world.

    Raises:
        ValueError: the choices are not a valid world; try again.
    """
    actors = {"writer": choose.choice((1, 1, 2, 2, 3)), "compactor": choose.choice((0, 1, 1, 2))}
    others = [kind for kind in sorted(kinds()) if kind not in actors]
    for kind in choose.sample(others, choose.choice((0, 1, 1, 2, 2, 3))):
        actors[kind] = choose.choice((1, 1, 2, 3))
    if "restorer" in actors:
        actors.setdefault("savepointer", 1)
    if sum(actors.values()) > ACTORS:
        raise ValueError(f"more than {ACTORS} actors")
    limits = {
        limit: choose.choice(some) for kind in actors if actors[kind] for limit, some in LIMITS.get(kind, {}).items()
    }
    rare = {name: choose.choice(some) for name, some in RARE.items() if choose.random() < 1 / 6}
    if "buckets" in rare:
        rare["writes"] = {
            (f"w{writer + 1}", number + 1): choose.choice(SHAPES)
            for writer, number in product(range(actors["writer"]), range(limits["writes_per_writer"]))
        }
    world = World(**{"compactions": 0, **limits, **rare, "actors": actors})
    most = LOGS_OF_PARTS if world[PartialColumns].columns or world.custom else LOGS
    if _logs(world) > most:
        raise ValueError(f"more than {most} logs in a file group")
    return world


def _logs(world: World) -> int:
    """How many logs a file group may come to have, the rows of bulk inserters and overwriters among them."""
    writes = product(range(world.actors["writer"]), range(world.writes_per_writer))
    files = chain.from_iterable(world.files(f"w{writer + 1}", number + 1) for writer, number in writes)
    one_write_each = sum(world.actors.get(kind, 0) for kind in ("bulk_inserter", "overwriter"))
    return max(Counter(group for group, _ in files).values()) + world.log_versions * one_write_each


def random_protocol(choose: random.Random) -> Protocol:
    """The default protocol, one of specs, or one weaker option."""
    kind = choose.random()
    if kind < 1 / 3:
        return Protocol()
    if kind < 2 / 3:
        return specs.protocol(choose.choice(specs.protocol_names()))
    return Protocol.from_mapping(dict([choose.choice([(f, v) for f, some in choices().items() for v in some[1:]])]))
