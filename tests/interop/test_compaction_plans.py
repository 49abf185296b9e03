"""When Apache Hudi plans a compaction, and which file groups it examines: by default and with the peer's options."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nbcc.simulator.lockstep.peers.process import peer
from tests.builders.hudi import Ask, begin, shown

BY_COMMITS = {"hoodie.compact.inline.max.delta.commits": "1", "hoodie.table.services.incremental.enabled": "true"}
ALWAYS = {"hoodie.compact.inline.max.delta.commits": "0", "hoodie.table.services.incremental.enabled": "false"}


@pytest.fixture
def ask(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Ask]:
    """The steps of the peer on a table in which a rollback has uncovered `b` since the newest compaction."""
    process = peer("hudi")
    shape = {"merge_mode": "EVENT_TIME_ORDERING", "buckets": 1, "partitions": ["p0", "p1", "p2"]}
    process.ask("create", str(tmp_path), **shape, more=request.param)

    def ask(step: str, **arguments: object) -> object:
        return process.ask(step, str(tmp_path), **arguments)

    committed(ask, "w0", "z", "p0")
    begin(ask, "w1", "a", "p1")
    committed(ask, "w2", "b", "p1")
    assert shown(ask) == [("z", "w0")]
    ask("compact", actor="c1", instant=ask("plan", actor="c1"))
    ask("commit_compaction", actor="c1")
    ask("crash", actor="w1")
    ask("stall", actor="w1")
    ask("clean")
    assert shown(ask) == [("b", "w2"), ("z", "w0")]
    yield ask
    process.ask("forget", str(tmp_path))


def committed(ask: Ask, actor: str, key: str, part: str) -> None:
    begin(ask, actor, key, part)
    ask("commit", actor=actor)


@pytest.mark.parametrize("ask", [BY_COMMITS], indirect=True)
def test_what_a_rollback_uncovers_waits_for_the_next_write_of_its_partition(ask: Ask) -> None:
    assert ask("plan", actor="c2") is None
    committed(ask, "w3", "c", "p2")
    assert bases_of(ask, ask("plan", actor="c2")) == ["p2"]
    committed(ask, "w4", "d", "p1")
    assert bases_of(ask, ask("plan", actor="c3")) == ["p1"]


@pytest.mark.parametrize("ask", [ALWAYS], indirect=True)
def test_a_planner_that_looks_everywhere_finds_it_at_once(ask: Ask) -> None:
    assert bases_of(ask, ask("plan", actor="c2")) == ["p1"]


def bases_of(ask: Ask, planned: object) -> list[str]:
    """The partitions in which executing a plan put a base file."""
    before = set(ask("look")["files"])
    ask("compact", actor="c9", instant=planned)
    ask("commit_compaction", actor="c9")
    return sorted({name.partition("/")[0] for name in set(ask("look")["files"]) - before if name.endswith(".parquet")})
