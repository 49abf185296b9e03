"""`nbcc simulate`: its text, its JSON, its picture and its errors."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from nbcc.engine.table import Table
from nbcc.simulator.cli import main

SMALL = """
format = 1
about = "a test"
hours = 0.1
[table]
buckets = 2
[[writers]]
name = "stream"
count = 2
every = "20s"
[[writers]]
name = "backfill"
arrival = "continuous"
compute = "30s"
"""


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return str(path)


def ran(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main.nbcc, ["simulate", *arguments], standalone_mode=False)
    error = "" if result.exception is None else str(getattr(result.exception, "message", result.exception))
    return int(result.return_value or 0), result.stdout, error


def tables(text: str) -> list[list[str]]:
    """The lines of each table: a report of many columns has several tables, each of at most 80 columns."""
    blocks = [block.splitlines() for block in text.split("\n\n")]
    found = [block for block in blocks if any(line.startswith("log files") for line in block)]
    assert all(len(line) <= 80 for table in found for line in table)
    return found


def cells(lines: list[str], words: str) -> dict[str, str]:
    """The cells of the row that begins with these words, by the heads of the columns in the first line."""
    heads = lines[0].split()
    (row,) = (line for line in lines if line.startswith(words))
    return dict(zip(heads, row.split()[-len(heads) :], strict=True))


def test_the_report_compares_the_modes(small: str) -> None:
    code, text, _ = ran(small, "--seeds", "2")
    lines = text.splitlines()
    assert code == 0
    assert lines[0] == "small: a test"
    assert lines[3].split() == ["nbcc", "occ", "single"]
    for words in ("committed rows", "commit latency, 95th percentile", "the lock is held", "backfill: commits in all"):
        assert any(line.startswith(words) for line in lines)
    assert any(line.startswith("occ: ") and "the skew wait is" in line for line in lines)
    assert "warning: the latencies of s3 are published figures, not measured ones" in lines


def test_json_has_every_figure_of_the_text(small: str) -> None:
    code, text, _ = ran(small, "--mode", "occ", "--hours", "0.05", "--store", "s3-express", "--json")
    document = json.loads(text)
    assert (code, document["format"], document["store"], document["hours"]) == (0, 1, "s3-express", 0.05)
    occ = document["modes"]["occ"]
    assert len(occ["figures"]) == 21
    assert occ["figures"]["rows_per_second"]["median"] > 0
    assert set(occ["by_writers"]) == {"stream", "backfill"}


def test_another_interval_of_compactions_is_compared_with_its_own_one(small: str) -> None:
    answer = json.loads(ran(small, "--json", "--compact-every", "30s")[1])
    logs = [each["modes"]["nbcc"]["figures"]["logs_greatest"]["median"] for each in (answer["compared_with"], answer)]
    assert logs[1] < logs[0]
    assert [each["compact_every"] for each in (answer["compared_with"], answer)] == [0, 30]
    text = ran(small, "--compact-every", "30s")[1]
    never, each = tables(text)
    assert (never[0].strip(), each[0].strip()) == ("never compacted", "each 30 s")
    assert never[1].split() == each[1].split() == ["nbcc", "occ", "single"]
    assert cells(each[1:], "log files of the longest slice")["nbcc"] == f"{logs[1]:g}"
    assert cells(never[1:], "log files of the longest slice")["nbcc"] == f"{logs[0]:g}"
    assert "\nnbcc, each 30 s: " in text


def test_a_table_is_compared_with_its_own_past(tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.string()), ("ts", pa.int64())])
    table = Table.create(None, tmp_path / "t", schema, record_key="id", ordering_fields="ts", buckets=2)
    for number in range(4):
        table.upsert(pa.table({"id": [f"k{n}" for n in range(9)], "ts": [number] * 9}, schema=schema))
        if number != 1:
            table.compact()
    path = str(tmp_path / "t")
    answer = json.loads(ran("--from", path, "--compact-every", "1h", "--json")[1])
    assert (answer["recorded"]["mode"], answer["recorded"]["compactions"]) == ("nbcc", 3)
    assert answer["recorded"]["figures"]["logs_greatest"] == 2
    assert answer["compared_with"]["compact_every"] == answer["recorded"]["compact_every"] < 3600
    text = ran("--from", path)[1]
    assert "\nthe table's own mode is nbcc; 3 compactions, each " in text
    found = tables(text)
    assert [mode for lines in found for mode in lines[0].split()] == ["recorded", "nbcc", "occ", "single"]
    assert cells(found[0], "log files of the longest slice")["recorded"] == "2"
    assert cells(found[0], "the lock is held")["recorded"] == "-"


def test_a_picture_is_written(small: str, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    assert ran(small, "--mode", "nbcc", "--plot", str(picture))[0] == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a SCENARIO, or a table with --from"),
        (["two-pipeline"], "did you mean 'two-pipelines'"),
        (["two-pipelines", "--store", "s4"], "no store is called 's4'"),
        (["two-pipelines", "--compact-every", "often"], "'often' is not a duration"),
        (["two-pipelines", "--hours", "0"], "0"),
    ],
)
def test_a_mistake_is_one_sentence(arguments: list[str], message: str) -> None:
    assert message in ran(*arguments)[2]
