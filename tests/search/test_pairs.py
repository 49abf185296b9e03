"""Any two or three kinds of actors with a writer: no promise breaks. Kinds that are not modelled together are listed.

By day one random walk goes through each such world, and the worlds in which three kinds add, hide or remove files are
searched a little. At night every world is searched.
"""

from __future__ import annotations

import random
from contextlib import nullcontext
from importlib.resources import files
from itertools import combinations

import pytest

from nbcc.model import Model, Step, World
from nbcc.model.mechanisms import kinds
from nbcc.model.promises import PROMISES
from nbcc.model.promises.writers import CANARY
from nbcc.simulator.search.explore import Verdict, explore

from .random_models import LIMITS

EARLY = 500
"""States of a copy-on-write world that are looked at."""
MOST = 600
"""States that are searched by day, of worlds in which three kinds add, hide or remove files."""
MOST_AT_NIGHT = 25_000
"""States that are searched at night, of every world."""
WITH_FILES = {
    "archiver", "cleaner", "compactor", "log_compactor", "overwriter", "restorer", "rollbacker", "savepointer",
}  # fmt: skip
OTHERS = sorted({*kinds()} - {"writer", "cutter"})  # a cutter needs commits that are decided together
COMBINATIONS = [some for size in (2, 3) for some in combinations(OTHERS, size)]
APART = {
    frozenset({"schema_evolver", other}) for other in OTHERS if other not in ("schema_evolver", "compactor")
} | {
    frozenset({"restorer", other}) for other in ("bulk_inserter", "clusterer", "stream")
} | {
    frozenset({"checkpointer", other}) for other in ("bulk_inserter", "clusterer", "cleaner", "stream")
} | {
    frozenset({"restorer", reads, other})
    for reads in ("consumer", "reader")
    for other in ("archiver", "checkpointer", "cleaner", "log_compactor", "rollbacker")
} | {
    frozenset({"resizer", other}) for other in OTHERS
    if other not in ("cleaner", "compactor", "reader", "resizer", "rollbacker")
} | {
    frozenset({"flink_job", other}) for other in ("checkpointer", "restorer")
} | {
    frozenset({"metadata_compactor", other}) for other in OTHERS
    if other not in ("compactor", "metadata_compactor", "reader", "rollbacker")
} | {
    frozenset({"index_compactor", other}) for other in OTHERS
    if other not in ("cleaner", "compactor", "index_compactor", "reader", "rollbacker")
}  # fmt: skip
"""What is not modelled together. The boundary lists the same."""
MORE = {
    "checkpointer": {"state_checkpoints": 1}, "querier": {"queries": 1},
    "resizer": {"resizes": 1, "buckets": 2, "first_buckets": 1},
    "metadata_compactor": {"shared_metadata_table": 1, "metadata_compactions": 1},
    "index_compactor": {"new_keys": 1, "buckets": 2, "index_compactions": 1},
    "flink_job": {"writes_per_writer": 1},
}  # fmt: skip


def is_refused(some: tuple[str, ...]) -> bool:
    return any(apart <= {*some} for apart in APART)


def world_of(*some: str) -> World:
    """A world with one actor of each kind, in which each may act, and a writer that writes twice."""
    least = {
        limit: min(value for value in values if value)
        for kind in some
        for limit, values in LIMITS.get(kind, {}).items()
        if any(values)
    }
    more = {limit: value for kind in some for limit, value in MORE.get(kind, {}).items()}
    saving = {"savepoints": 1} if {"restorer", "savepointer"} & {*some} else {}
    others = {"savepointer": 1} if "restorer" in some else {}
    limits = {"compactions": 0, "writes_per_writer": 2, **least, **more, **saving}
    return World(**{**limits, "actors": {"writer": 1, **others, **dict.fromkeys(some, 1)}})


def walk(model: Model, choose: random.Random) -> None:
    """Take random steps until none is left, and judge each state and step."""
    watched = [each for each in PROMISES.values() if each.kind in ("state", "step") and not each.unfit(model)]
    state, taken = model.initial, list[Step]()
    while steps := model.enabled(state):
        before, step = state, choose.choice(steps)
        state = model.apply(state, step)
        taken.append(step)
        for promise in watched:
            assert (promise.name, promise.holds(model, before, step, state)) == (promise.name, None), taken
    assert model.finished(state), taken


@pytest.mark.parametrize("some", [some for some in COMBINATIONS if not is_refused(some)], ids="-".join)
def test_the_default_protocol_lets_them_meet(some: tuple[str, ...]) -> None:
    model = Model(world_of(*some))
    assert {each for kind in some for each in model.actors_of(kind)} <= {row.actor for row in model.transitions}
    walk(model, random.Random("-".join(some)))


@pytest.mark.parametrize(
    "some", [some for some in COMBINATIONS if len(some) == 3 and {*some} <= WITH_FILES and not is_refused(some)],
    ids="-".join,
)
def test_no_promise_breaks_early_where_files_come_and_go(some: tuple[str, ...]) -> None:
    assert_kept(some, MOST)


@pytest.mark.nightly
@pytest.mark.parametrize("some", [some for some in COMBINATIONS if not is_refused(some)], ids="-".join)
def test_no_promise_breaks_where_they_meet(some: tuple[str, ...]) -> None:
    assert_kept(some, MOST_AT_NIGHT)


def assert_kept(some: tuple[str, ...], most: int) -> None:
    result = explore(Model(world_of(*some)), list(PROMISES.values()), canary=CANARY, reduce=True, max_states=most)
    assert [name for name, each in result.promises.items() if each.verdict is Verdict.VIOLATED] == []
    assert result.deadlock is None


@pytest.mark.parametrize("some", [some for some in COMBINATIONS if is_refused(some)], ids="-".join)
def test_what_is_not_modelled_together_is_refused(some: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="world: "):
        world_of(*some)


def test_the_boundary_lists_what_is_not_modelled_together() -> None:
    text = (files("nbcc") / "specs" / "boundary.md").read_text("utf-8")
    alone = ("index_compactor", "metadata_compactor", "resizer", "schema_evolver")
    stated = {frozenset({one, other}) for one in alone for other in OTHERS}
    for apart in APART - stated:
        assert f"`{' + '.join(sorted(apart))}`" in text
    assert "a `schema_evolver` with any kind but `writer` and `compactor`" in text
    assert "a `resizer` with any kind but `writer`, `compactor`, `cleaner`, `reader` and `rollbacker`" in text
    assert "an `index_compactor` with any kind but `writer`, `compactor`, `cleaner`, `reader` and `rollbacker`" in text
    assert "a `metadata_compactor` with any kind but `writer`, `compactor`, `reader` and `rollbacker`" in text


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_actors_of_copy_on_write_worlds_are_modelled_or_refused(kind: str) -> None:
    refused = ("schema_evolver", "cleaner", "clusterer", "compactor", "bulk_inserter", "log_compactor", "overwriter",
               "restorer", "resizer", "index_compactor", "flink_job")  # fmt: skip
    with pytest.raises(ValueError, match="world: ") if kind in refused else nullcontext():
        model = Model(world_of(kind).replace(table_type="COPY_ON_WRITE"))
        explore(model, list(PROMISES.values()), canary=CANARY, max_states=EARLY)
