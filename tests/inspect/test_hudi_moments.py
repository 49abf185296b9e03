"""No false alarm: the tables that Apache Hudi wrote, as they were after each of their instants, are not BROKEN."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from nbcc.engine.audit import gather
from nbcc.engine.audit.record import Audit
from nbcc.engine.storage import Storage, open_storage
from nbcc.engine.timeline import parse_instant
from nbcc.simulator.audit import validate
from nbcc.simulator.audit.text import render
from tests.builders.by_day import NIGHTLY
from tests.builders.files import FOLDER

TABLES: Final = sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.zip"))
OF_A_TABLE: Final = 100 if NIGHTLY else 2
DELETING: Final = ("clean", "rollback", "restore")
LEAST: Final = 50
"""The moments that are judged by day, at least."""


def unpacked(name: str, folder: Path) -> Storage:
    with zipfile.ZipFile(FOLDER / f"{name}.zip") as files:
        files.extractall(folder)
    return open_storage(folder / Path(name).name, {"durable": "false"})


def moments(audit: Audit) -> list[str]:
    """The completion times of the active timeline, newest first, from the last instant on that deleted a file."""
    deletes = [i.requested for i in audit.timeline.instants if i.action in DELETING]
    done = sorted((i.completed for i in audit.timeline.completed if i.completed), reverse=True)
    return [time for time in done if time > max(deletes, default="")]


def turned_back(storage: Storage, audit: Audit, until: str) -> None:
    """Make the table what it was at a time: later instants are removed, and those that were pending then are pending.
    """
    later = {i.requested for i in audit.timeline.instants if i.requested > until}
    for path in _later(storage, audit, later, until):
        storage.delete(path)


def _later(storage: Storage, audit: Audit, later: set[str], until: str) -> Iterator[str]:
    for entry in storage.list(""):
        file = audit.files.get(entry.path)
        instant = parse_instant(entry.path.rpartition("/")[2]) if entry.path.startswith(".hoodie/timeline/") else None
        requested = instant.requested if instant is not None else file.requested if file is not None else ""
        completed = instant is not None and (instant.completed or "") > until
        if requested in later or completed or entry.path.startswith(".hoodie/metadata/"):
            yield entry.path  # the entries of the metadata table are of the newest instants


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_hudi_is_not_broken_at_any_moment(name: str, tmp_path: Path) -> None:
    audit = gather(unpacked(name, tmp_path / "whole"))
    for number, until in enumerate(moments(audit)[:OF_A_TABLE]):
        storage = unpacked(name, tmp_path / str(number))
        turned_back(storage, audit, until)
        found = validate(storage, opened=True, now="20270101000000000")
        assert found.verdict != "BROKEN", f"{name} at {until}\n{render(found)}"


def test_enough_moments_are_judged(tmp_path: Path) -> None:
    each = [len(moments(gather(unpacked(n, tmp_path / str(number))))) for number, n in enumerate(TABLES)]
    assert sum(min(count, OF_A_TABLE) for count in each) >= LEAST, each
