"""Apache Hudi 1.2.0 answers about each kind of damage of the corpus as docs/damage.md says.

``NBCC_RECORD=1`` records the answers instead of comparing them.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi import HudiReadOptions, HudiTable

from nbcc.simulator.lockstep.peers.process import PeerRefused, peer
from tests.inspect.corpus.answers import recorded, write
from tests.inspect.corpus.kinds import KINDS
from tests.inspect.corpus.tables import TABLES

RECORDS = bool(os.environ.get("NBCC_RECORD"))


def rows_of(folder: Path, columns: tuple[str, ...]) -> list[Any] | None:
    """The rows of a snapshot by Hudi's defaults; None if it fails."""
    process = peer("hudi")
    try:
        process.ask("open", str(folder))
        rows: list[Any] = process.ask("read_by_defaults", str(folder), columns=columns)
        process.ask("forget", str(folder))
    except PeerRefused:
        return None
    return rows


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("healthy")


@cache
def healthy(table: str, folders: Path) -> tuple[tuple[str, ...], list[Any]]:
    folder = folders / table.replace(" ", "_")
    TABLES[table](folder)
    names = pa.Table.from_batches(HudiTable(str(folder)).read(HudiReadOptions())).column_names
    columns = tuple(name for name in names if not name.startswith("_hoodie_"))
    right = rows_of(folder, columns)
    assert right, table
    return columns, right


@pytest.mark.parametrize("name", KINDS)
def test_hudi_answers_as_the_corpus_says(name: str, folders: Path, tmp_path: Path) -> None:
    kind = KINDS[name]
    columns, right = healthy(kind.table, folders)
    kind.do(TABLES[kind.table](tmp_path / "t"))
    rows = rows_of(tmp_path / "t", columns)
    if rows is None:
        answer = "fails"
    elif rows == right:
        answer = "right"
    else:
        answer = "lacks rows" if {*map(str, rows)} < {*map(str, right)} else "other rows"
    answers = recorded()
    if RECORDS:
        write({**answers, name: {**answers[name], "hudi": answer}})
    else:
        assert answer == answers[name]["hudi"]
