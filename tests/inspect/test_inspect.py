"""`nbcc inspect`: the slices of tables that Apache Hudi wrote, derived once more from file names in here."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import fastavro
import pytest

from nbcc.engine.audit import CountingStorage, inspect, redacted
from nbcc.engine.audit.amounts import size
from nbcc.engine.audit.inventory_text import render
from nbcc.engine.config.properties import encode_properties, table_checksum
from nbcc.engine.errors import BadInput, NotATable, Unsupported
from nbcc.engine.storage import open_storage
from nbcc.engine.table import Table
from nbcc.simulator.cli.main import run
from tests.builders.inspected import SCHEMA
from tests.builders.tables import table_of

TABLES = Path(__file__).parents[1] / "tables"
NAMES = sorted(path.stem for path in TABLES.glob("*.zip"))

BASE = re.compile(r"([^_]+)_[\d-]+_(\d+)\.parquet")
LOG = re.compile(r"\.([^_]+)_(\d+)\.log\.(\d+)_([\d-]+)")


@pytest.fixture(scope="module", params=NAMES)
def hudi_table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    with zipfile.ZipFile(TABLES / f"{request.param}.zip") as archive:
        archive.extractall(folder)
    name: str = request.param
    return folder / name


def derived(table: Path) -> set[tuple[str, str, str | None, str | None, tuple[str, ...]]]:
    """(partition, file group, barrier, base file, logs by name) from nothing but names and compaction plans."""
    timeline = [path.name for path in (table / ".hoodie/timeline").iterdir() if path.is_file()]
    finished = [re.match(r"(\d+)_(\d+)\.(?:delta|replace)?commit$", name) for name in timeline]
    done = {found[1]: found[2] for found in finished if found}
    plans: dict[tuple[str, str], set[str]] = {}
    for name in timeline:
        barrier = name.partition(".")[0]
        if name.endswith(".compaction.requested") and barrier not in done:
            plan: Any
            [plan] = fastavro.reader(io.BytesIO((table / ".hoodie/timeline" / name).read_bytes()))
            for operation in plan["operations"]:
                plans.setdefault((operation["partitionPath"], operation["fileId"]), set()).add(barrier)
    bases: dict[tuple[str, str], dict[str, str]] = {}
    logs: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for path in table.rglob("*"):
        partition = path.relative_to(table).parent.as_posix().removeprefix(".")
        if not path.is_file() or partition.startswith("hoodie"):
            continue
        if (base := BASE.fullmatch(path.name)) and base[2] in done:
            bases.setdefault((partition, base[1]), {})[base[2]] = path.name
        if (log := LOG.fullmatch(path.name)) and log[2] in done:
            logs.setdefault((partition, log[1]), []).append((done[log[2]], path.name))
    found = set[tuple[str, str, str | None, str | None, tuple[str, ...]]]()
    for group in {*bases, *logs, *plans}:
        barriers = sorted({*bases.get(group, ()), *plans.get(group, ())})
        inside: dict[str | None, list[str]] = {barrier: [] for barrier in barriers}
        for completed, name in logs.get(group, ()):
            at = max((barrier for barrier in barriers if barrier <= completed), default=None)
            inside.setdefault(at, []).append(name)
        for start, names in inside.items():
            found.add((*group, start, bases.get(group, {}).get(start or ""), tuple(sorted(names))))
    return found


def test_slices_of_hudi_tables_are_those_derived_from_the_names(hudi_table: Path) -> None:
    storage = CountingStorage(open_storage(hudi_table))
    report = inspect(storage).to_mapping()
    assert {name: report["table"][name] for name in ("version", "layout", "type", "merge_mode", "rules")} == {
        "version": 9,
        "layout": 2,
        "type": "COPY_ON_WRITE" if "_cow_" in hudi_table.name else "MERGE_ON_READ",
        "merge_mode": hudi_table.name.split("_")[3].upper() + "_TIME_ORDERING",
        "rules": "hudi",
    }
    slices = {
        (s["partition"], s["file_group"], s["barrier"], s["base_file"], tuple(sorted(s["log_files"])))
        for s in report["slices"]
    }
    assert len(slices) == len(report["slices"])
    assert slices == derived(hudi_table)


def test_instants_of_hudi_tables_are_those_of_the_timeline(hudi_table: Path) -> None:
    report = inspect(open_storage(hudi_table)).to_mapping()
    names = json.loads((TABLES / f"{hudi_table.name}.json").read_text())["timeline"]
    finished = {(name.partition("_")[0], name.partition("_")[2].partition(".")[0]) for name in names if "_" in name}
    assert {(i["requested"], i["completed"]) for i in report["instants"] if i["state"] == "completed"} == finished
    assert {i["requested"] for i in report["instants"]} == {re.split(r"[._]", name)[0] for name in names}


def test_no_data_file_is_opened(hudi_table: Path) -> None:
    class Watched(CountingStorage):
        def get(self, path: str) -> bytes:
            assert path.startswith(".hoodie/"), f"{path} holds rows"
            return super().get(path)

    storage = Watched(open_storage(hudi_table))
    inspect(storage)
    assert storage.reads >= 1
    assert storage.objects_listed > 20


def test_as_of_shows_what_had_completed_by_then(hudi_table: Path) -> None:
    now = inspect(open_storage(hudi_table))
    completions = sorted(i.completed for i in now.instants if i.completed and i.files)
    then = inspect(open_storage(hudi_table), completions[0])
    assert {file.completed for segment in then.slices for file in segment.files} == {completions[0]}
    later = sum(1 for segment in now.slices for file in segment.files if file.completed != completions[0])
    assert sum("completed after the time asked for" in file.because for file in then.left_out) == later


def test_redaction_hides_values_and_keeps_the_shape(hudi_table: Path) -> None:
    found = inspect(open_storage(hudi_table))
    hidden = redacted(found)
    text = render(hidden) + json.dumps(hidden.to_mapping())
    partitions = {segment.partition for segment in hidden.slices}
    assert partitions == {f"p{place}" for place in range(1, len(partitions) + 1)}
    for segment in found.slices:
        random = re.sub(r"^\d{8}-|-\d+$", "", segment.file_group)
        assert set(random) <= {"0", "-"} or random not in text
    assert hudi_table.name not in text
    assert str(hudi_table) not in text
    assert [(s.barrier, s.size, len(s.logs)) for s in hidden.slices] == [
        (s.barrier, s.size, len(s.logs)) for s in found.slices
    ]
    groups = [len({(s.partition, s.file_group) for s in each.slices}) for each in (hidden, found)]
    assert groups[0] == groups[1]
    assert redacted(inspect(open_storage(hudi_table))) == hidden


@pytest.fixture
def own(tmp_path: Path) -> Table:
    table = Table.create(
        None, tmp_path / "own", SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=2
    )
    table.upsert(table_of(SCHEMA, ("k1", "a", 1, "x"), ("k2", "a", 1, "x"), ("k3", "b", 1, "x")))
    table.compact()
    table.upsert(table_of(SCHEMA, ("k1", "a", 2, "y")))
    return table


def test_own_table_has_the_slices_that_the_engine_reads(own: Table, tmp_path: Path) -> None:
    own.schedule_compaction()
    own.upsert(table_of(SCHEMA, ("k1", "a", 3, "z")))
    found = inspect(open_storage(tmp_path / "own"))
    assert found.rules == "nbcc"
    engine = [
        (s.partition, s.file_id, s.barrier, s.base.path if s.base else None, tuple(log.path for log in s.logs))
        for s in own.file_slices()
    ]
    inspected = [
        (s.partition, s.file_group, s.barrier, f"{s.partition}/{s.base.name}" if s.base else None,
         tuple(f"{s.partition}/{log.name}" for log in s.logs))
        for s in found.slices
    ]  # fmt: skip
    assert inspected == engine
    assert [(plan.state, plan.groups, plan.logs) for plan in found.plans] == [("requested", 1, 1)]
    assert [s.role for s in found.slices if s.partition == "part=a" and s.barrier == found.plans[0].barrier] == [
        "planned"
    ]
    assert found.left_out == ()


def test_files_of_a_dead_writer_are_distinguished(own: Table, tmp_path: Path) -> None:
    storage = open_storage(tmp_path / "own")
    group = own.file_slices()[0].file_id
    storage.put_if_absent(".hoodie/timeline/20300101000000000.deltacommit.requested", b"")
    storage.put_if_absent(f"part=a/.{group}_20300101000000000.log.1_0-1-1", b"dead")
    storage.put_if_absent(f"part=a/.{group}_20300101000000001.log.1_0-1-1", b"gone")
    because = {file.requested: file.because for file in inspect(storage).left_out}
    assert because == {
        "20300101000000000": "its instant 20300101000000000 is not completed (requested)",
        "20300101000000001": "its instant 20300101000000001 is on no timeline: it failed, or was removed",
    }
    late = own.timeline()[0].requested
    storage.put_if_absent(f"part=a/.{group}_{late}.log.9_0-1-1", b"late")
    assert any("does not list it" in file.because for file in inspect(storage).left_out)


def test_a_table_of_version_6_says_what_its_names_tell(tmp_path: Path) -> None:
    (tmp_path / ".hoodie").mkdir()
    properties = {"hoodie.table.name": "old", "hoodie.table.version": "6", "hoodie.table.type": "MERGE_ON_READ",
                  "hoodie.table.precombine.field": "ts", "hoodie.table.checksum": table_checksum("old")}  # fmt: skip
    (tmp_path / ".hoodie/hoodie.properties").write_bytes(encode_properties(properties))
    timeline = ("1001.deltacommit.requested", "1001.deltacommit.inflight", "1001.deltacommit", "1002.deltacommit",
                "1003.compaction.requested", "1003.compaction.inflight", "1003.commit", "1004.deltacommit.inflight",
                "1005.inflight")  # fmt: skip
    for name in timeline:
        (tmp_path / ".hoodie" / name).touch()
    for name in ("f1_0-1-1_1001.parquet", ".f1_1001.log.1_0-1-1", ".f1_1001.log.2_0-2-2", "f1_0-3-3_1003.parquet",
                 "f2_0-5-5_1005.parquet", ".f1_1003.log.1_0-4-4"):  # fmt: skip
        (tmp_path / name).write_bytes(b"12345")
    found = inspect(open_storage(tmp_path))
    assert (found.version, found.layout, found.rules, found.merge_mode) == (6, 1, "names", "EVENT_TIME_ORDERING")
    assert [(i.requested, i.action, i.state, i.completed) for i in found.instants] == [
        ("1001", "deltacommit", "completed", None), ("1002", "deltacommit", "completed", None),
        ("1003", "commit", "completed", None), ("1004", "deltacommit", "inflight", None),
        ("1005", "commit", "inflight", None),
    ]  # fmt: skip
    slices = [(s.barrier, s.base.name if s.base else None, [log.name for log in s.logs], s.role) for s in found.slices]
    assert slices == [
        ("1001", "f1_0-1-1_1001.parquet", [".f1_1001.log.1_0-1-1", ".f1_1001.log.2_0-2-2"], "superseded"),
        ("1003", "f1_0-3-3_1003.parquet", [".f1_1003.log.1_0-4-4"], "read"),
    ]
    assert [file.because for file in found.left_out] == ["its instant 1005 is not completed"]
    assert "no completion times" in render(found)
    with pytest.raises(BadInput, match="record no completion times"):
        inspect(open_storage(tmp_path), "20260101000000000")


def test_refusals_say_what_to_do(own: Table, tmp_path: Path) -> None:
    storage = open_storage(tmp_path / "own")
    newest = own.settled()
    with pytest.raises(BadInput, match=f"the newest completion is {newest}"):
        inspect(storage, "29990101000000000")
    with pytest.raises(BadInput, match="requested"):
        inspect(storage, own.timeline()[0].requested)
    with pytest.raises(NotATable, match="check the path"):
        inspect(open_storage(tmp_path / "nothing"))
    newer = {"hoodie.table.name": "n", "hoodie.table.version": "10", "hoodie.table.type": "MERGE_ON_READ",
             "hoodie.timeline.layout.version": "2", "hoodie.table.checksum": table_checksum("n")}  # fmt: skip
    storage.put(".hoodie/hoodie.properties", encode_properties(newer))
    with pytest.raises(Unsupported, match="version 10"):
        inspect(storage)


SIZES = [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_960, "1.0 MB"), (5 * 10**12, "5.0 TB")]


@pytest.mark.parametrize(("count", "text"), SIZES)
def test_sizes_read_well(count: int, text: str) -> None:
    assert size(count) == text


# The command.


def test_the_command_counts_what_it_did(own: Table, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", str(tmp_path / "own"), "--json"]) == 0
    answered, notes = capfd.readouterr()
    assert sorted(json.loads(answered)) == [
        "faults", "format", "instants", "left_out", "missing_or_cut", "plans", "slices", "table",
    ]  # fmt: skip
    objects = sum(1 for path in (tmp_path / "own").rglob("*") if path.is_file())
    assert re.fullmatch(r"listed \d+ objects in 2 listings, read 6 \([\d,]+ bytes\); no rows\n", notes)
    assert objects < int(re.findall(r"\d+", notes)[0])


def test_redacted_output_and_errors_do_not_name_the_place(
    own: Table, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["inspect", str(tmp_path / "own"), "--redact"]) == 0
    assert run(["inspect", str(tmp_path / "secret"), "--redact"]) == 2
    answered, notes = capfd.readouterr()
    assert str(tmp_path) not in answered + notes
    assert "own" not in answered


def test_the_page_is_self_contained_and_escaped(own: Table, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    own.upsert(table_of(SCHEMA, ("k9", "<script>alert(1)</script>", 1, "x")))
    own.schedule_compaction()
    page = tmp_path / "page.html"
    assert run(["inspect", str(tmp_path / "own"), "--html", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "part=&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert not re.search(r"(src|href)=|url\(|@import", text)
    found = inspect(open_storage(tmp_path / "own"))
    for segment in found.slices:
        assert all(file.requested in text and file.name in text for file in segment.files)
    for instant in found.instants:
        assert f"<td>{instant.requested}</td>" in text
        assert f"<td>{instant.completed or ''}</td>" in text
    assert {">compaction<", ">pending<", ">barrier t9<"} <= set(re.findall(r">[^<>]+<", text))
    capfd.readouterr()
    assert run(["inspect", str(tmp_path / "own"), "--redact", "--html", str(page)]) == 0
    hidden = page.read_text(encoding="utf-8")
    assert "alert" not in hidden
    assert str(tmp_path) not in hidden + capfd.readouterr().out
    assert len(text) < 30_000
