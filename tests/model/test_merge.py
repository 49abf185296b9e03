"""Merging, folds, valuations, answers over real data."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from nbcc.model import Change, Model, Query, Record, State, World
from nbcc.model.kernel.merge import Fold, Merger, Ranked, evaluate, merge
from nbcc.model.kernel.table import Log
from nbcc.model.promises import oracle
from nbcc.model.promises.oracle import Row
from nbcc.model.promises.valuations import LARGEST, differ, valuations, weak_orders
from nbcc.model.promises.writers import algebra_broken

EVENT, COMMIT = Merger(True, True), Merger(False, False)


def shown(shape: Fold, rows: Mapping[Log, tuple[int, bool]], merger: Merger = EVENT) -> object:
    """The log whose record wins for one key, None if that is a delete or nothing."""
    won = evaluate(shape, lambda log: Ranked(rows[log][0], 0, rows[log][1], log) if log in rows else None, merger)
    return None if won is None or won.deleted else won.content


A, B, C = (1, 1), (2, 1), (3, 1)
LIVE, GONE = False, True


@pytest.mark.parametrize(
    ("rows", "event", "commit"),
    [
        ({A: (5, LIVE), B: (4, LIVE)}, A, B),
        ({A: (5, LIVE), B: (5, LIVE)}, B, B),
        ({A: (5, GONE), B: (4, LIVE)}, None, B),
        ({A: (5, GONE), B: (5, LIVE)}, B, B),
        ({A: (5, LIVE), B: (4, GONE)}, A, None),
        ({A: (5, LIVE), B: (5, GONE)}, None, None),
        ({B: (1, LIVE)}, B, B),
        ({}, None, None),
    ],
)
def test_two_logs(rows: Any, event: object, commit: object) -> None:
    assert shown(Fold(None, (A, B)), rows, EVENT) == event
    assert shown(Fold(None, (A, B)), rows, COMMIT) == commit


def test_a_base_keeps_its_tombstone_or_not() -> None:
    rows, shape = {A: (5, GONE), B: (4, LIVE)}, Fold(Fold(None, (A,)), (B,))

    assert shown(shape, rows, EVENT) is None
    assert shown(shape, rows, Merger(True, False)) == B


def test_tombstones_among_the_logs_win_ties_against_what_comes_before_them() -> None:
    rows, base = {A: (5, GONE), B: (5, LIVE)}, Fold(None, (A,))

    assert shown(Fold(base, (B,), logs_before_tombstones=1), rows, Merger(True, True, logs_first=True)) is None
    assert shown(Fold(base, (B,), logs_before_tombstones=0), rows, Merger(True, True, logs_first=True)) == B
    assert shown(Fold(base, (B,), logs_before_tombstones=1), rows, EVENT) == B


@pytest.mark.parametrize(("logs", "event_time", "count"), [(1, True, 3), (2, True, 17), (3, True, 147), (3, False, 27)])
def test_how_many_valuations_there_are(logs: int, event_time: bool, count: int) -> None:
    found = valuations(logs, event_time)

    assert len(found) == count
    assert [len(rows) for rows in found] == sorted(len(rows) for rows in found)


def test_weak_orders_are_counted_by_the_fubini_numbers() -> None:
    assert [len(list(weak_orders(n))) for n in range(6)] == [1, 1, 3, 13, 75, 541]


def test_more_logs_than_can_be_evaluated_are_refused() -> None:
    with pytest.raises(ValueError, match="6 logs in one file group are more than the 5"):
        valuations(LARGEST + 1, True)


def test_two_reads_differ_where_order_decides_a_tie() -> None:
    assert differ(Fold(None, (A, B)), Fold(None, (A, B)), 2, EVENT, False) is None
    names = ((1, 0), (2, 0))
    found = differ(Fold(None, names), Fold(None, names[::-1]), 2, EVENT, False)

    assert found == {(1, 0): Row(1, False), (2, 0): Row(1, False)}


@pytest.mark.parametrize("event_time", [True, False])
def test_the_laws_of_merging(event_time: bool) -> None:
    assert algebra_broken(event_time) is None


def test_the_laws_are_broken_by_a_merge_that_looks_at_the_order_of_its_arguments(monkeypatch: Any) -> None:
    algebra_broken.cache_clear()
    monkeypatch.setattr("nbcc.model.promises.writers.merge", lambda one, other, event_time: other or one)
    try:
        assert "depends on which comes first" in (algebra_broken(True) or "")
    finally:
        algebra_broken.cache_clear()
    assert merge(None, None, True) is None


def walk(world: World, seed: int) -> tuple[Model, list[State]]:
    model, choose = Model(world), random.Random(seed)
    states = [model.initial]
    while steps := list(model.successors(states[-1])):
        states.append(choose.choice(steps)[1])
    return model, states


WORLD = World(actors={"writer": 2, "compactor": 1}, buckets=2, writes_per_writer=2, compactions=2, log_versions=2)


def queries(model: Model, state: State) -> list[Query]:
    """A read of each kind, at completion times, which are never refused."""
    times = sorted(instant.completed for instant in model.timeline(state) if instant.completed)
    first, middle, last = times[0], times[len(times) // 2], times[-1]
    return [Query("snapshot"), Query("as_of", None, middle), Query("incremental", first, last),
            Query("changes", first, middle)]  # fmt: skip


def data_for(seed: int) -> dict[int, dict[tuple[int, int], dict[str, Record]]]:
    choose = random.Random(seed)
    return {
        requested: {
            (group, version): {
                f"{group}:{key}": Record(choose.randint(1, 3), (requested, version), choose.random() < 0.3)
                for key in "abc"
                if choose.random() < 0.6
            }
            for group in (0, 1)
            for version in (1, 2)
        }
        for requested in range(1, 20)
    }


@pytest.mark.parametrize("seed", range(30))
def test_a_snapshot_is_what_the_completed_writes_make_it(seed: int) -> None:
    """Against the oracle, which knows neither slices nor base files."""
    model, states = walk(WORLD, seed)
    data = data_for(seed)
    for state in states[::7]:
        writes = oracle.completed(model.component(state, "published"), 0, 99)
        right = {}
        for group in (0, 1):
            logs = oracle.logs_by_rank(writes, group)
            for key in (f"{group}:{k}" for k in "abc"):
                records = {log: data[log[0]][group, log[1]].get(key) for log in logs}
                rows = {log: Row(r.ordering, r.deleted) for log, r in records.items() if r is not None}
                won = oracle.winner(logs, rows, True)
                if won is not None and not rows[won].deleted:
                    record = records[won]
                    assert record is not None
                    right[key] = record._replace(requested=won[0])
        assert model.rows(state, Query("snapshot"), data) == right


@pytest.mark.parametrize("seed", range(20))
def test_reads_are_independent_per_key(seed: int) -> None:
    """What the search relies on: an answer over many keys is the answers over each of them."""
    model, states = walk(WORLD, seed)
    data = data_for(seed)
    keys = [f"{group}:{key}" for group in (0, 1) for key in "abc"]
    for query in queries(model, states[-1]):
        apart: dict[Any, Any] = {}
        for key in keys:
            one = {r: {f: {k: v for k, v in rows.items() if k == key} for f, rows in files.items()}
                   for r, files in data.items()}  # fmt: skip
            apart.update(model.rows(states[-1], query, one))
        assert model.rows(states[-1], query, data) == apart


def test_each_kind_of_query_on_one_history() -> None:
    model, states = walk(World(actors={"writer": 1}, writes_per_writer=2), 0)
    data = {1: {(0, 1): {"k": Record(5, "old"), "gone": Record(1, "x")}},
            3: {(0, 1): {"k": Record(4, "late"), "gone": Record(2, None, True), "new": Record(1, "n")}}}  # fmt: skip
    old, new = Record(5, "old", requested=1), Record(1, "n", requested=3)
    gone = Record(1, "x", requested=1)

    def rows(*query: Any) -> dict[Any, Any]:
        return model.rows(states[-1], Query(*query), data)

    assert rows("snapshot") == {"k": old, "new": new}
    assert rows("as_of", None, 2) == {"k": old, "gone": gone}
    assert rows("incremental", 2) == {
        "k": Record(4, "late", requested=3), "gone": Record(2, None, True, 3), "new": new,
    }  # fmt: skip
    assert rows("changes", 2) == {"gone": Change(gone, None), "new": Change(None, new)}
    assert rows("read_optimized") == {}
    with pytest.raises(ValueError, match="unknown kind of query 'snap'; known: snapshot, as_of"):
        rows("snap")


@pytest.mark.parametrize(
    ("rows", "event", "commit"),
    [
        ({A: Row(2, False), B: Row(1, False)}, A, B),
        ({A: Row(1, False), B: Row(1, True)}, B, B),
        ({A: Row(9, True)}, A, A),
        ({}, None, None),
    ],
)
def test_the_oracle_ranks_by_ordering_value_only_where_event_time_counts(rows: Any, event: Any, commit: Any) -> None:
    assert oracle.winner((A, B, C), rows, True) == event
    assert oracle.winner((A, B, C), rows, False) == commit
