"""`nbcc inspect` summarises a table; --all and --json hold everything; a folder that is not a table is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from nbcc.engine.config.properties import encode_properties, table_checksum
from nbcc.engine.storage import open_storage
from nbcc.engine.table import Table
from nbcc.simulator.cli.main import run
from tests.builders.inspected import SCHEMA
from tests.builders.tables import table_of


@pytest.fixture
def months(tmp_path: Path) -> Path:
    """Twelve partitions, 13 writes, and files that no read uses after a compaction and a lost writer."""
    table = Table.create(None, tmp_path / "m", SCHEMA, record_key="id", ordering_fields="ts", partition_by="part")
    for ts in range(13):
        table.upsert(table_of(SCHEMA, *((f"k{month}", str(month), ts, "x") for month in range(1, 13))))
    table.compact()
    storage = open_storage(tmp_path / "m")
    group = table.file_slices()[0].file_id
    for number in range(30):
        storage.put_if_absent(f"part=1/.{group}_203001010000000{number:02}.log.1_0-1-1", b"gone")
    return tmp_path / "m"


def lines_of(capfd: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    capfd.readouterr()
    assert run(["inspect", *arguments]) == 0
    return capfd.readouterr().out.splitlines()


def test_a_small_table_is_summarised_on_one_screen(months: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = lines_of(capfd, str(months))
    assert len(lines) < 40
    assert max(map(len, lines[2:])) <= 100
    heads = [line for line in lines if line and not line.startswith(" ")]
    assert heads[1] == "Instants: 14, 0 of them pending; the newest 10"
    assert re.fullmatch(r"File slices: 24 in 12 file groups, .* kB; a snapshot reads .* kB", heads[2])
    partitions = [line.split()[0] for line in lines if line.startswith("  part=")]
    assert partitions == [f"part={month}" for month in range(1, 11)]
    assert any(re.match(r"  2 more  +2  +4 ", line) for line in lines)
    assert "  30 files, 120 B: its instant is on no timeline: it failed, or was removed" in lines
    everything = lines_of(capfd, str(months), "--all")
    assert len(everything) > 250
    assert sum("on no timeline" in line for line in everything) == 30
    assert len(lines_of(capfd, str(months), "--limit", "2")) < 25


def test_json_holds_what_the_text_shows(months: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(lines_of(capfd, str(months), "--all"))
    found = json.loads("\n".join(lines_of(capfd, str(months), "--json")))
    assert len(found["left_out"]) == 30
    for file in (*found["left_out"], *(file for piece in found["slices"] for file in piece["files"])):
        assert file["name"] in text
    assert all(file["because"] in text for file in found["left_out"])
    assert [found["table"][name] for name in ("name", "as_of", "notices")] == ["m", None, []]
    assert {i["files"] for i in found["instants"]} == {12}
    partitions = list(dict.fromkeys(piece["partition"] for piece in found["slices"]))
    assert partitions == [f"part={month}" for month in range(1, 13)]


@pytest.mark.parametrize("properties", [{}, {"hoodie.table.type": "MERGE_ON_READ"}])
@pytest.mark.parametrize("checksum", [True, False])
def test_a_folder_that_is_no_table_is_refused(
    properties: dict[str, str], checksum: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".hoodie").mkdir()
    sums = {"hoodie.table.checksum": table_checksum("fake")} if checksum else {}
    (tmp_path / ".hoodie/hoodie.properties").write_bytes(
        encode_properties({"hoodie.table.name": "fake", **properties, **sums})
    )
    for command in (["inspect", str(tmp_path)], ["why", str(tmp_path), "k"]):
        assert run(command) == 2
        out, err = capfd.readouterr()
        assert out == ""
        assert err.startswith("Error: Asked to ")
