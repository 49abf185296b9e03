"""`--draw`: small worlds drawn at random, under protocols drawn at random; kept is where a mutant shows that lived.

What keeps a mutant from being seen is as a rule that nobody has thought of the two mechanisms that must meet. Drawn
worlds have any of them beside each other, few of each, so that a search takes a second.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, product
from typing import Any, Final, NamedTuple

from nbcc.model import Model, Protocol, World
from nbcc.model.mechanisms import kinds
from nbcc.model.mechanisms.partial_updates.mechanism import PartialColumns
from nbcc.model.protocol import choices
from nbcc.simulator import specs
from nbcc.simulator.explore import explore
from nbcc.simulator.verdicts.bound import bound_of, sentence

from .drawn import Drawn, add
from .generated import Generated
from .hunt import look, seen

STATES: Final = range(20, 2_500)
"""How many a world may have: in fewer nothing meets, and more take long."""
ACTORS: Final = 5
LOGS: Final = 4
LOGS_OF_PARTS: Final = 3
"""How many logs a file group may have: reads are judged on every way in which rows can lie in them, and these are many
more where rows are made of parts."""
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
    "schema_evolver": {"alterations": (1,)},
}
"""What each kind of actors may do."""
RARE: Final[dict[str, tuple[Any, ...]]] = {
    "crashes": (1,), "lock_losses": (1,), "skew": (1,), "lost_answers": (1,), "resends": (1,), "log_versions": (2,),
    "metadata_table": (1,), "columns": (2,), "buckets": (2,), "table_type": ("COPY_ON_WRITE",),
    "merge_mode": ("COMMIT_TIME_ORDERING", "CUSTOM"), "settings": ({"writer": {"concurrency": "occ"}},),
}  # fmt: skip
"""What one world in six has, each by itself."""

SHAPES: Final = ((1, 1), (1, 0), (0, 1), (2, 0))
"""How many logs a write has in each of two file groups."""


class Trial(NamedTuple):
    """A case that is not kept yet."""

    world: World
    protocol: Protocol
    own: str = "drawn"
    kind: str = "setting"

    @property
    def where(self) -> str:
        """In words."""
        return f"{self.own}: {sentence(bound_of(self.world))}"

    def model(self) -> Model:
        return Model(self.world, self.protocol)


def draw(seed: int, living: dict[str, Generated], having: Sequence[str] = ()) -> Iterator[tuple[str, list[str]]]:
    """Look for these in one drawn world after the other, without end: where some are seen, the world is written down.
    What is yielded is its name and who they are; nothing and nobody, where all go on living."""
    left = dict(living)
    for world, protocol in draw_models(seed, having):
        trial = Trial(world, protocol)
        try:
            right = look(trial, left)
        except Exception as error:  # nothing is changed in the model yet: this is a fault of its own
            error.add_note(f"in {trial}")
            raise
        found = [name for name in sorted(right.differing) if seen(left[name], trial, right)[0]]
        for name in found:
            del left[name]
        shown = right.shown
        kept = Drawn(world=world, protocol=protocol, sizes=shown.sizes, violated=shown.broken, deadlock=shown.deadlock)
        yield (add(kept), found) if found else ("", [])


def draw_models(seed: int, having: Sequence[str] = ()) -> Iterator[tuple[World, Protocol]]:
    """Worlds and protocols without end; those that are no model, and those of other sizes, are left out.

    `having`: kinds of actors that each world has.
    """
    choose = random.Random(seed)
    while True:
        try:
            world, protocol = draw_world(choose, having), draw_protocol(choose)
            found = explore(Model(world, protocol), max_states=STATES.stop)
        except ValueError:  # they do not go together
            continue
        if found.stopped is None and found.distinct in STATES:
            yield world, protocol


def draw_world(choose: random.Random, having: Sequence[str] = ()) -> World:
    """A small world; ValueError: what was drawn does not go together."""
    actors = {"writer": choose.choice((1, 1, 2, 2, 3)), "compactor": choose.choice((0, 1, 1, 2))}
    actors |= {kind: choose.choice((1, 1, 2)) for kind in having}
    others = [kind for kind in sorted(kinds()) if kind not in actors]
    for kind in choose.sample(others, choose.choice((0, 1, 1, 2, 2, 3))):
        actors[kind] = choose.choice((1, 1, 2, 3))
    if "restorer" in actors:
        actors.setdefault("savepointer", 1)
    if sum(actors.values()) > ACTORS:
        raise ValueError(f"more than {ACTORS} actors")  # another one is drawn
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


def draw_protocol(choose: random.Random) -> Protocol:
    """The default, one of specs, or one weaker choice."""
    kind = choose.random()
    if kind < 1 / 3:
        return Protocol()
    if kind < 2 / 3:
        return specs.protocol(choose.choice(specs.protocol_names()))
    return Protocol.from_mapping(dict([choose.choice([(f, v) for f, some in choices().items() for v in some[1:]])]))
