"""Tables of Apache Hudi: its snapshot exactly; as-of and incremental as promised, each difference by a named rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, combinations
from typing import Any, NamedTuple

import pytest

from nbcc import BadInput, Table, Unsupported
from tests.builders.files import HUDI_TABLES, hudi_facts, hudi_table
from tests.builders.hudi_differences import (
    BASES_BY_REQUESTED,
    DELETES_LEFT_OUT,
    DIFFERENCES,
    PENDING_PLAN_HIDES,
    REQUESTED_TIME_ANSWERED,
    WRITES_BY_REQUESTED,
    hudi_as_of,
    hudi_incremental,
)

# How many of the recorded answers each rule explains, by the number of the table. Nothing else differs.
EXPLAINED = {
    WRITES_BY_REQUESTED: {"00": 3, "02": 1, "06": 3, "08": 3, "10": 1, "12": 6, "14": 1, "16": 1, "26": 7},
    BASES_BY_REQUESTED: {"16": 2},
    REQUESTED_TIME_ANSWERED: {
        **{"00": 7, "02": 3, "04": 5, "05": 9, "06": 9, "08": 5, "10": 4, "12": 10, "14": 8, "16": 5, "17": 10},
        **{"18": 4, "20": 7, "22": 10, "24": 5, "26": 11},
    },
    DELETES_LEFT_OUT: {
        **{"00": 2, "02": 2, "04": 1, "06": 2, "10": 2, "12": 1, "14": 2, "16": 3, "18": 1, "20": 1, "22": 2},
        **{"26": 5},
    },
    PENDING_PLAN_HIDES: {"06": 1},
}


class Answer(NamedTuple):
    """One recorded answer of Hudi, ours (a refusal: None), and what ours is with some differences applied."""

    case: str
    hudi: list[Any]
    ours: list[Any] | None
    like_hudi: Callable[[frozenset[str]], list[Any]]
    candidates: tuple[str, ...]


@pytest.fixture(scope="module", params=HUDI_TABLES)
def table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Table:
    return Table.open(None, hudi_table(request.param, tmp_path_factory.mktemp(request.param)).url)


def name_of(table: Table) -> str:
    return table.context.storage.url.rpartition("/")[2]


def test_snapshot_is_hudis(table: Table) -> None:
    assert rows(table.snapshot().to_pylist()) == rows(hudi_facts(name_of(table))["snapshot"]["spark"])


def test_read_optimized_is_hudis(table: Table) -> None:
    assert rows(table.read_optimized().to_pylist()) == rows(hudi_facts(name_of(table))["read_optimized"]["spark"])


def test_every_difference_has_one_of_the_named_rules(table: Table) -> None:
    name = name_of(table)
    explained = Counter(rule for answer in answers(table) for rule in explanation(answer))
    number = name.split("_")[1]
    assert explained == Counter({rule: tables[number] for rule, tables in EXPLAINED.items() if number in tables})


def test_with_all_differences_our_answers_are_hudis(table: Table) -> None:
    for answer in answers(table):
        assert answer.like_hudi(frozenset(answer.candidates)) == answer.hudi, answer.case


def test_every_rule_explains_something_and_there_are_few() -> None:
    assert set(EXPLAINED) == set(DIFFERENCES)
    assert len(DIFFERENCES) <= 8
    assert all(EXPLAINED.values())


def test_an_answer_that_no_rule_explains_is_noticed() -> None:
    strange = Answer("strange", [("k",)], [], lambda differences: [], (WRITES_BY_REQUESTED,))
    with pytest.raises(AssertionError, match="no rule explains strange"):
        explanation(strange)


def test_writing_to_it_is_refused(table: Table) -> None:
    before = table.timeline()
    with pytest.raises(Unsupported, match="how many buckets its writers use is recorded nowhere"):
        table.upsert(table.snapshot())
    with pytest.raises(Unsupported):
        table.schedule_compaction()
    assert table.timeline() == before


def answers(table: Table) -> Iterator[Answer]:
    """Every recorded as-of point and incremental window."""
    found = hudi_facts(name_of(table))
    context, config = table.context, table.config

    def as_of(time: str) -> Callable[[frozenset[str]], list[Any]]:
        return lambda differences: rows(hudi_as_of(context, config, time, differences).to_pylist())

    def incremental(after: str, until: str) -> Callable[[frozenset[str]], list[Any]]:
        return lambda differences: windowed(hudi_incremental(context, config, after, until, differences).to_pylist())

    by_requested = (WRITES_BY_REQUESTED, BASES_BY_REQUESTED)
    for point in found["as_of"]:
        completed, requested = point["completion"], point["requested"]
        ours = rows(table.as_of(completed).to_pylist())
        hudi = rows(point["at_completion"]["spark"])
        yield Answer(f"as of completion {completed}", hudi, ours, as_of(completed), by_requested)
        with pytest.raises(BadInput, match=f"completed at {completed}"):
            table.as_of(requested)
        hudi = rows(point["at_requested"]["spark"])
        yield Answer(f"as of request {requested}", hudi, None, as_of(requested), by_requested)
    for window in found["incremental"]:
        after, until = window["start"], window["end"]
        ours = windowed(table.incremental(after, until).to_pylist())
        hudi = windowed(window["spark"])
        rules = (DELETES_LEFT_OUT, PENDING_PLAN_HIDES)
        yield Answer(f"window ({after}, {until}]", hudi, ours, incremental(after.zfill(17), until), rules)


def rows(found: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Rows as sorted tuples of what the recordings hold of them."""
    return sorted(tuple(row[name] for name in ("id", "part", "ts", "a", "b", "_hoodie_commit_time")) for row in found)


def windowed(found: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Rows of a window: deletes, which Hudi never returns, stand apart."""
    kinds = (("delete" if row.get("_hoodie_is_deleted") else "row", row) for row in found)
    return sorted((kind, *rows([row])) for kind, row in kinds)


def explanation(answer: Answer) -> tuple[str, ...]:
    """The fewest rules under which our answer is Hudi's; a refusal of ours is one by itself."""
    if answer.ours is None:
        assert answer.like_hudi(frozenset(answer.candidates)) == answer.hudi, f"no rule explains {answer.case}"
        return (REQUESTED_TIME_ANSWERED,)
    if answer.ours == answer.hudi:
        return ()
    for rules in chain.from_iterable(combinations(answer.candidates, n + 1) for n in range(len(answer.candidates))):
        if answer.like_hudi(frozenset(rules)) == answer.hudi:
            return rules
    raise AssertionError(f"no rule explains {answer.case}: Hudi answers {answer.hudi}, we {answer.ours}")
