"""Finds rows that make a violation visible in a read. Searches ignore rows, so a counterexample contains none.

Each write puts or deletes one row per log file. The row's key depends only on the file group and the log version. The
chosen rows make some read differ from the merge of the completed writes, or from the same as-of read one step earlier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import inf
from typing import Any

from nbcc.model import Model, Query, Record, State, Step
from nbcc.model.answers import NoAnswer
from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms.bulk_insert.mechanism import BULK_INSERTER
from nbcc.model.mechanisms.conditions import FINDS
from nbcc.model.mechanisms.insert_overwrite import OVERWRITER
from nbcc.model.promises.oracle import completed, logs_by_rank
from nbcc.model.promises.valuations import records_by_definition

from ..observables import Batch, model_rows, refused
from ..trace import Batches
from .crosscheck.conditions import computed_batch
from .crosscheck.generators import keys_of

ORDERINGS = (1, 2)
MOST_WRITES = 4
WITHOUT_DELETES = (BULK_INSERTER, OVERWRITER)
"""Actors that write base files, which cannot contain deletes."""


def witness(model: Model, steps: Sequence[Step]) -> Batches:
    """Return the simplest rows that make a read after the last step wrong.

    If no rows make a read wrong, the simplest rows are returned: upserts with equal ordering values.
    """
    states = _states(model, steps)
    writes = _writes(model, states)
    simplest: Batches | None = None
    for batches in candidates(model, steps):
        simplest = batches if simplest is None else simplest
        data = {requested: batches[write] for write, requested in writes.items()}
        if _shows(model, states, data):
            return batches
    return simplest or {}


def candidates(model: Model, steps: Sequence[Step]) -> Iterator[dict[tuple[str, int], Batch]]:
    """Yield possible rows for the writes of the given steps, simplest first."""
    states = _states(model, steps)
    writes = _writes(model, states)
    for batches in _candidates(model, sorted(writes)):
        if _are_computed(model, states, steps, batches):
            yield batches


def _are_computed(model: Model, states: Sequence[State], steps: Sequence[Step], batches: Batches) -> bool:
    """True if each write that is computed from a read has the rows that its writer computes from the state read."""
    data = {requested: batches[write] for write, requested in _writes(model, states).items()}
    for state, step in zip(states, steps, strict=False):
        if step.action in FINDS.values():
            write = step.actor, model.component(state, step.actor).number + 1
            if write in batches and computed_batch(model, state, step, data) != batches[write]:
                return False
    return True


def _states(model: Model, steps: Sequence[Step]) -> list[State]:
    states = [model.initial]
    for step in steps:
        states.append(model.apply(states[-1], step))
    return states


def _writes(model: Model, states: Sequence[State]) -> dict[tuple[str, int], int]:
    found: dict[tuple[str, int], int] = {}
    for state in states:
        for actor in (name for kind in (WRITER, *WITHOUT_DELETES) for name in model.actors_of(kind)):
            own = model.component(state, actor)
            if own.requested:
                found[actor, own.number] = own.requested
    return found


def _candidates(model: Model, writes: Sequence[tuple[str, int]]) -> Iterator[dict[tuple[str, int], Batch]]:
    """Yield possible rows, simplest first: fewest deletes, then fewest distinct kinds of records."""
    names = model.merger.columns
    sets = (names, *((name,) for name in names[:-1]), names[-1:]) if names else ((),)
    kinds = sorted(product(ORDERINGS, (False, True), sets), key=lambda kind: (kind[1], kind[0], len(kind[2])))
    kinds = [kind for kind in kinds if not kind[1] or kind[2] == sets[0]]
    # Bounded, because the number of choices grows exponentially. Further writes get the simplest rows.
    choices = list(product(kinds, repeat=min(len(writes), MOST_WRITES)))
    for chosen in sorted(choices, key=lambda each: (sum(deleted for _, deleted, _ in each), len(set(each)))):
        padded = [*chosen, *[kinds[0]] * (len(writes) - len(chosen))]
        yield {write: _batch(model, write, *kind) for write, kind in zip(writes, padded, strict=True)}


def _batch(model: Model, write: tuple[str, int], ordering: int, deleted: bool, sets: tuple[str, ...]) -> Batch:
    """Return a batch with one row for each log file of the write."""
    world = model.world
    deleted = deleted and not any(write[0] in model.actors_of(kind) for kind in WITHOUT_DELETES)
    record = Record(ordering, f"{write[0]}.{write[1]}", deleted, sets=sets)
    return {file: {keys_of(world, file[0])[file[1] - 1]: record} for file in world.files(*write)}


def _rows(model: Model, state: State, query: Query, data: Mapping[int, Batch]) -> tuple[Any, ...]:
    try:
        return model_rows(model, state, query, data)
    except NoAnswer as error:
        return refused(error)


def _shows(model: Model, states: Sequence[State], data: Mapping[int, Batch]) -> bool:
    before, after = states[-2] if len(states) > 1 else states[-1], states[-1]
    settled = model.settled(after)
    queries = [Query("snapshot"), *(Query("as_of", until=time) for time in range(1, settled + 1))]
    queries += [Query("incremental", after=a, until=b) for b in range(1, settled + 1) for a in range(b)]
    answered = [query for query in queries if not model.read_refusal(after, query)]
    if any(_rows(model, after, query, data) != right_rows(model, after, query, data) for query in answered):
        return True
    kept = [Query("as_of", until=time) for time in range(1, model.settled(before) + 1)]
    return any(
        _rows(model, before, query, data) != _rows(model, after, query, data)
        for query in kept
        # A read that was refused before had no rows that could change.
        if not model.read_refusal(before, query)
    )


def right_rows(model: Model, state: State, query: Query, data: Mapping[int, Batch]) -> tuple[Any, ...]:
    """Return the correct rows of a query, computed from the completed writes alone, without file slices."""
    window = query.kind == "incremental"
    published = model.component(state, "published")
    writes = completed(published, (query.after or 0) if window else 0, inf if query.until is None else query.until)
    found = []
    for group in range(model.world.groups):
        logs = logs_by_rank(writes, group)
        keys = {key for requested, version in logs for key in data.get(requested, {}).get((group, version), ())}
        for key in keys:
            records = {
                (requested, version): data[requested][group, version][key]
                for requested, version in logs
                if key in data.get(requested, {}).get((group, version), {})
            }
            right = records_by_definition(logs, records, model.merger, window)
            found += [(key, each.ordering, None if each.deleted else each.value, each.requested) for each in right]
    return tuple(sorted(found, key=lambda row: (row[0], row[3], row[2] is None)))
