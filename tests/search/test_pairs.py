"""Any two kinds of actors with a writer: no promise breaks early in the search of such a world."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import combinations

import pytest

from nbcc.model import Model, World
from nbcc.model.mechanisms import kinds
from nbcc.model.promises import PROMISES
from nbcc.model.promises.writers import CANARY
from nbcc.simulator.explore import Verdict, explore

from .random_models import LIMITS

EARLY = 500
"""States of each world that are looked at."""
PAIRS = list(combinations(sorted(kinds()), 2))
APART = {
    ("schema_evolver", other) for other in kinds() if other not in ("writer", "compactor")
} | {("clusterer", "restorer"), ("bulk_inserter", "restorer"), ("restorer", "stream")} | {
    ("checkpointer", other)
    for other in ("bulk_inserter", "clusterer", "cleaner", "stream")
}  # fmt: skip
"""What is not modelled beside each other."""


def world_of(*some: str) -> World:
    limits = {limit: max(values) for kind in ("writer", *some) for limit, values in LIMITS.get(kind, {}).items()}
    others = {"savepointer": 1} if "restorer" in some else {}
    return World(**{"compactions": 0, **limits, "actors": {"writer": 1, **others, **dict.fromkeys(some, 1)}})


@pytest.mark.parametrize(("one", "other"), [pair for pair in PAIRS if not APART & {pair, pair[::-1]}])
def test_the_default_protocol_lets_them_meet(one: str, other: str) -> None:
    model = Model(world_of(one, other))
    result = explore(model, list(PROMISES.values()), canary=CANARY, max_states=EARLY)

    assert [name for name, each in result.promises.items() if each.verdict is Verdict.VIOLATED] == []
    assert result.deadlock is None
    both = {each for kind in (one, other) for each in model.actors_of(kind)}
    assert both <= {row.actor for row in model.transitions}


@pytest.mark.parametrize(("one", "other"), [pair for pair in PAIRS if APART & {pair, pair[::-1]}])
def test_a_pair_that_is_not_modelled_is_refused(one: str, other: str) -> None:
    with pytest.raises(ValueError, match="world: "):
        world_of(one, other)


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_actors_of_copy_on_write_worlds_are_modelled_or_refused(kind: str) -> None:
    refused = ("schema_evolver", "cleaner", "clusterer", "compactor", "bulk_inserter", "log_compactor", "overwriter",
               "restorer")  # fmt: skip
    with pytest.raises(ValueError, match="world: ") if kind in refused else nullcontext():
        model = Model(world_of(kind).replace(table_type="COPY_ON_WRITE"))
        explore(model, list(PROMISES.values()), canary=CANARY, max_states=EARLY)
