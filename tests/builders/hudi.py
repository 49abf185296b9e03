"""What tests need of Apache Hudi and hudi-rs: their rows of a table, options, savepoints and writers."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pytest
from hudi import HudiReadOptions, HudiTable

from nbcc import Table
from nbcc.simulator.lockstep.peers.process import PeerProcess, peer
from tests.builders.files import FOLDER

FACTS: dict[str, Any] = json.loads((FOLDER / "defaults" / "snapshots.json").read_text())


def unpacked(name: str, folder: Path) -> Path:
    with zipfile.ZipFile(FOLDER / "defaults" / f"{name}.zip") as packed:
        packed.extractall(folder)
    return folder / name


def by_hudi_rs(table: Table) -> pa.Table:
    found = HudiTable(unquote(urlsplit(table.context.storage.url).path)).read(HudiReadOptions())
    return pa.Table.from_batches(found) if found else table.snapshot().slice(0, 0)


def same(table: Table) -> bool:
    """Whether hudi-rs and we give the same rows, Hudi's columns included (but the order and names of files)."""
    ours, theirs = table.snapshot(), by_hudi_rs(table)
    names = [name for name in ours.column_names if name != "_hoodie_file_name"]
    ordered = (sorted(map(repr, rows.select(names).to_pylist())) for rows in (ours, theirs))
    return next(ordered) == next(ordered)


def write(process: PeerProcess, folder: Path, *rows: list[Any]) -> str:
    instant: str = process.ask("start", str(folder), actor="w1")
    given = [[key, "p0", ordering, value, False] for key, ordering, value in rows]
    process.ask("data", str(folder), actor="w1", rows=given)
    process.ask("commit", str(folder), actor="w1")
    return instant


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
