"""Deep JSON, huge numbers and contradictory properties in a table's metadata are typed errors, or are ignored."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nbcc import BadInput, NotATable, Table, Unsupported
from nbcc.engine import open_table
from nbcc.engine.config.options import BEAT, MISSES, MOST_SKEW_MS, SKEW
from nbcc.engine.data.ranges import decode_ranges
from nbcc.engine.json_text import parse_json
from nbcc.engine.lock.storage_lock import lease_of
from nbcc.engine.services.consumers import FOLDER
from nbcc.engine.storage.conditional import Version
from nbcc.engine.timeline.decisions import FOLDER as DECISIONS
from tests.builders.tables import batch, make_table, state

from .hooked import watched

DEEP = b"[" * 200_000
ENGINE = Path(__file__).parents[2] / "engine"


def properties(table: Table) -> Path:
    return Path(table.context.storage.url.removeprefix("file://")) / ".hoodie/hoodie.properties"


def reopened(table: Table, **changes: str) -> Table:
    """The table with changed properties."""
    path = properties(table)
    lines = [line for line in path.read_text().splitlines() if line.partition("=")[0] not in changes]
    path.write_text("\n".join([*(f"{name}={value}" for name, value in changes.items()), *lines, ""]))
    return open_table(table.context)


def test_json_that_is_nested_too_deep_is_no_json() -> None:
    with pytest.raises(ValueError, match="nested too deep"):
        parse_json(DEEP)
    assert decode_ranges(DEEP.decode()) == {}
    assert lease_of(Version(DEEP)) is None


def test_the_engine_parses_json_in_one_place() -> None:
    """`json.loads` raises RecursionError, which no caller expects."""
    calls = [path.name for path in ENGINE.rglob("*.py") if re.search(r"\bjson\.loads?\(", path.read_text())]
    assert calls == ["json_text.py"]


def test_consumers_with_deep_json_or_without_end_are_ignored(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("k", 1, "a")))
    table.context.storage.put(f"{FOLDER}/deep", DEEP)
    table.context.storage.put(f"{FOLDER}/large", b'{"completed": "20260101000000000"' + b" " * 5_000 + b"}")
    seen, calls = watched(table)
    assert seen.consumers() == {}
    assert [call for call in calls if "large" in call and call.startswith("get")] == [], "it is not read into memory"
    assert table.clean(retained=1) is None


def test_a_decision_with_deep_json_is_a_typed_error(tmp_path: Path) -> None:
    table = make_table(tmp_path, options={"nbcc.decision": "log"})
    table.upsert(batch(("k", 1, "a")))
    table.context.storage.put(f"{DECISIONS}/{2:020d}", DEEP + b"\n")
    with pytest.raises(NotATable, match="are not a decision"):
        open_table(table.context).upsert(batch(("k", 2, "b")))


@pytest.mark.parametrize(
    "name", ["hoodie.table.recordkey.fields", "hoodie.table.ordering.fields", "hoodie.table.partition.fields"]
)
def test_a_key_partition_or_ordering_field_is_a_column(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotATable, match="its properties name the column 'nope', and its columns are id, "):
        reopened(make_table(tmp_path), **{name: "nope"})


@pytest.mark.parametrize("name", [BEAT, MISSES, SKEW, "hoodie.write.lock.storage.renew.interval.secs"])
def test_a_number_of_400_digits_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match=f"its {name} is '9{{40}}…' and not a whole number"):
        reopened(make_table(tmp_path), **{name: "9" * 400})


def test_a_skew_of_years_is_refused(tmp_path: Path) -> None:
    """A writer waits for the skew at each commit."""
    with pytest.raises(Unsupported, match="milliseconds up to 3600000, an hour"):
        reopened(make_table(tmp_path / "t"), **{SKEW: f"{10**11}"})
    with pytest.raises(BadInput, match="milliseconds up to 3600000, an hour"):
        make_table(tmp_path / "u", options={SKEW: f"{MOST_SKEW_MS + 1}"})
    table = make_table(tmp_path / "v", options={SKEW: f"{MOST_SKEW_MS}"})
    assert state(table.snapshot()) == set()
