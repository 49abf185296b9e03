"""Each checker detects a history with a planted fault, and the three subtle ones agree with their definitions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.processes.checkers import (
    CHECKERS,
    HOT,
    WRITE,
    Chronicle,
    Published,
    Read,
    Write,
    instants_in,
    judge,
    named,
)

KEPT = Chronicle(
    writes=(Write("a", 2, 1, began=10, acked=20), Write("b", 1, 2, began=15, acked=30), Write("x", 3, 3, began=40)),
    reads=(
        Read("r", 25, 26, "02", (("a.0", "a", "01"), ("a.1", "a", "01"), (HOT, "a", "01"))),
        Read("r", 35, 36, "04", (("a.0", "a", "01"), ("a.1", "a", "01"), ("b.0", "b", "03"), (HOT, "b", "03"))),
    ),
    published=(
        Published("01", "02", "deltacommit", "a"),
        Published("03", "04", "deltacommit"),
        Published("05", "06", "commit"),
    ),
)


def with_rows(*rows: tuple[str, str, str]) -> Chronicle:
    """The same with other rows in the second read."""
    first, second = KEPT.reads
    return KEPT._replace(reads=(first, second._replace(rows=rows)))


ALL = KEPT.reads[1].rows
BROKEN: dict[str, tuple[Chronicle, str]] = {
    "ACK": (with_rows(*ALL[2:3], (HOT, "b", "03")), "lacks a, which returned before it began"),
    "ATOM": (with_rows(*ALL[1:]), "holds 1 of 2 keys of a"),
    "KEY": (with_rows(*ALL, ALL[0]), "holds a.0 2 times"),
    "TRAVEL": (KEPT._replace(published=KEPT.published[:1]), "holds rows of 03, not completed by then"),
    "SNAP": (with_rows(*ALL[:3], (HOT, "a", "01")), "has hot of a, and b outranks it"),
    "ONCE": (
        KEPT._replace(published=(*KEPT.published, Published("07", "08", "deltacommit", "a"))),
        "the batch a is committed 2 times, by 01 first",
    ),
    "MONO": (KEPT._replace(reads=(KEPT.reads[0], KEPT.reads[1]._replace(time="01"))), "after another read as of"),
}


def test_a_history_without_a_flaw_is_kept() -> None:
    assert judge(KEPT) == {name: [] for name in CHECKERS}


@pytest.mark.parametrize("promise", CHECKERS)
def test_a_flaw_is_named(promise: str) -> None:
    history, says = BROKEN[promise]
    found = judge(history)[promise]
    assert len(found) == 1
    assert says in found[0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (with_rows(("z.0", "z", "07"), *ALL), "holds z, which no writer wrote"),
        (KEPT._replace(published=(*KEPT.published, Published("03", "07", "clean"))), "the time 03 was taken 2 times"),
        (KEPT._replace(published=(*KEPT.published, Published("09", "08", "clean"))), "completed at 08, not later"),
        (KEPT._replace(published=(Published("00", "01", "deltacommit"), *KEPT.published)), "holds no row of 00"),
    ],
)
def test_other_flaws_are_named_too(change: Chronicle, says: str) -> None:
    assert any(says in sentence for found in judge(change).values() for sentence in found)


BATCHES = st.sampled_from("abcde")
TIMES = st.integers(0, 9).map(lambda n: f"0{n}")
ROWS = st.lists(st.tuples(BATCHES, st.integers(0, 2), TIMES, st.booleans()), max_size=8).map(
    lambda rows: tuple((HOT if hot else f"{batch}.{key}", batch, time) for batch, key, time, hot in rows)
)
READS = st.builds(
    lambda reader, began, took, time, rows: Read(reader, began, began + took, time, rows),
    st.sampled_from("rs"), st.integers(0, 30), st.integers(0, 9), TIMES, ROWS,
)  # fmt: skip
WRITES = st.lists(
    st.tuples(BATCHES, st.integers(1, 3), st.integers(0, 20), st.none() | st.integers(0, 30)),
    max_size=5, unique_by=lambda write: write[0],
).map(lambda drawn: tuple(Write(b, s, n, began, acked) for n, (b, s, began, acked) in enumerate(drawn)))  # fmt: skip
PUBLISHED = st.lists(
    st.builds(Published, TIMES, TIMES, st.sampled_from(["deltacommit", "commit"]), st.just("") | BATCHES), max_size=5
).map(tuple)  # fmt: skip
HISTORIES = st.builds(Chronicle, WRITES, st.lists(READS, max_size=5).map(tuple), PUBLISHED)


# Definitions that are applied literally, in quadratic time. The other checkers are as plain as their definitions.


def acknowledged_by_definition(history: Chronicle) -> Iterator[str]:
    """Apply the definition of ACK literally: compare each write with each read."""
    for read in sorted(history.reads, key=lambda read: read.began):
        lost = {
            write.batch
            for write in history.writes
            if write.acked is not None and write.acked < read.began
            if not any(batch == write.batch and key != HOT for key, batch, _ in read.rows)
        }
        if lost:
            yield f"the read of {read.reader} as of {read.time} lacks {named(lost)}, which returned before it began"


def settled_by_definition(history: Chronicle) -> Iterator[str]:
    """Apply the definition of TRAVEL literally: compute the expected set of writes for each read, and compare it with
    the read.
    """
    for read in history.reads:
        writes = [p for p in history.published if p.action == WRITE and p.completed <= read.time]
        due, visible = {p.requested for p in writes}, instants_in(read)
        if visible - due:
            early = min(visible - due)
            yield f"the read of {read.reader} as of {read.time} holds rows of {early}, not completed by then"
        elif due - visible:
            missing = min(
                writes, key=lambda p: (p.completed, p.requested) if p.requested not in visible else ("9" * 18,)
            )
            yield f"the read of {read.reader} as of {read.time} holds no row of {missing.requested}, completed by then"


def monotonic_by_definition(history: Chronicle) -> Iterator[str]:
    """Apply the definition of MONO literally: compare each pair of times and each pair of reads."""
    times = [time for p in history.published for time in (p.requested, p.completed)]
    for time in sorted({one for one, other in combinations(times, 2) if one == other}):
        yield f"the time {time} was taken {times.count(time)} times"
    for p in sorted(history.published):
        if p.completed <= p.requested:
            yield f"the {p.action} requested at {p.requested} completed at {p.completed}, not later"
    for read in sorted(history.reads, key=lambda read: (read.began, read.ended)):
        last = max((other.time for other in history.reads if other.ended < read.began), default="")
        if read.time < last:
            yield f"{read.reader} read as of {read.time} after another read as of {last}"


DEFINITIONS = {"ACK": acknowledged_by_definition, "TRAVEL": settled_by_definition, "MONO": monotonic_by_definition}


@pytest.mark.parametrize("promise", DEFINITIONS)
def test_a_checker_says_what_the_definition_says(promise: str) -> None:
    verdicts = {True: 0, False: 0}

    @settings(max_examples=150, deadline=None, database=None, derandomize=True)
    @given(HISTORIES)
    def same(history: Chronicle) -> None:
        found = list(CHECKERS[promise](history))
        assert found == list(DEFINITIONS[promise](history))
        verdicts[bool(found)] += 1

    same()
    assert min(verdicts.values()) > 0, "both answers were given"
