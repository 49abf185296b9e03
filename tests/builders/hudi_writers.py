"""Writers of Apache Hudi that a test drives step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nbcc.simulator.lockstep.peers.process import peer

Ask = Callable[..., Any]


OCC = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}


@pytest.fixture
def ask(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Ask]:
    """The steps of the peer on a table of one bucket and two partitions."""
    process, more = peer("hudi"), getattr(request, "param", {})
    shape = {"merge_mode": "EVENT_TIME_ORDERING", "buckets": 1, "partitions": ["p0", "p1"]}
    process.ask("create", str(tmp_path), **shape, more=more)
    yield lambda step, **arguments: process.ask(step, str(tmp_path), **arguments)
    process.ask("forget", str(tmp_path))


def begin(ask: Ask, actor: str, key: str, part: str = "p0") -> str:
    """Returns the requested time of the write."""
    requested: str = ask("start", actor=actor)
    ask("data", actor=actor, rows=[[key, part, 1, actor, False]])
    return requested


def shown(ask: Ask) -> list[tuple[str, str]]:
    return sorted((key, value) for key, _, value, _ in ask("read", kind="snapshot"))


def completed(ask: Ask) -> list[str]:
    """The actions of completed instants, by requested time."""
    return [name.rpartition(".")[2] for name in ask("look")["timeline"] if "_" in name]
