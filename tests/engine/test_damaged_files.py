"""Data files that are not what their commits list, and instants that a power cut has torn: never read as nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc.engine import Table, open_table
from nbcc.engine.audit import why
from nbcc.engine.errors import Damaged, Missing, NbccError, Unsupported
from nbcc.engine.file_names import parse_base, parse_log
from nbcc.engine.files.log_block import BlockKind, encode_block, read_blocks
from nbcc.engine.files.slices import load_slices, to_read
from nbcc.engine.timeline import CommitMetadata, Instant, WriteStat, decode_commit, encode_commit, own_extra
from nbcc.engine.timeline.decisions import FOLDER as DECISIONS
from nbcc.engine.timeline.decisions import Decision, last_entry, put_decision
from nbcc.engine.timeline.timeline import FOLDER
from nbcc.simulator.cli.main import run as command
from tests.builders.data_file_paths import data_files
from tests.builders.files import HUDI_TABLES, hudi_table
from tests.builders.tables import TickClock, batch, context, keys, make_table

FORMATS = {"hoodie.logfile.data.block.format": "avro"}, {"hoodie.logfile.data.block.format": "parquet"}
CUTS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "half": lambda data: data[: len(data) // 2],
    "one byte short": lambda data: data[:-1],
    "one byte long": lambda data: data + b"\0",
}
READERS: dict[str, Callable[[Table, str], Any]] = {
    "snapshot": lambda table, first: table.snapshot(),
    "as_of": lambda table, first: table.as_of(table.settled() or ""),
    "incremental": lambda table, first: table.incremental(first),
    "changes": lambda table, first: table.changes(first),
    "compact": lambda table, first: table.compact(),
    "cluster": lambda table, first: table.cluster(["a"]),
    "log_compact": lambda table, first: table.log_compact(),
    "why": lambda table, first: why(table.context.storage, "b"),
}


def hudi_folder(folder: Path) -> Path:
    """A table of Hudi's with logs that no compaction has taken."""
    storage = hudi_table("hudi120_00_mor_event_b4_avro", folder)
    return Path(storage.url.removeprefix("file://"))


def reopened(folder: Path, table: Table) -> Table:
    """The table in another process: nothing is remembered."""
    seams = context(folder)
    assert isinstance(seams.clock, TickClock)
    assert isinstance(table.context.clock, TickClock)
    seams.clock.now = table.context.clock.now
    return open_table(seams)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("options", FORMATS, ids=["avro", "parquet"])
def test_a_log_of_another_size_than_its_commit_lists_is_an_error(
    reader: str, cut: str, options: dict[str, str], tmp_path: Path
) -> None:
    table = make_table(tmp_path, options=options)
    first = table.upsert(batch(("a", 1, "x"))).completed
    table.upsert(batch(("b", 1, "x")))
    damaged = data_files(tmp_path)[-1]
    whole = damaged.read_bytes()
    damaged.write_bytes(CUTS[cut](whole))
    sizes = rf"{damaged.name}.* has {len(CUTS[cut](whole))} bytes, and its commit lists {len(whole)}"
    table = reopened(tmp_path, table)
    with pytest.raises(Damaged, match=sizes):
        READERS[reader](table, first or "")
    damaged.write_bytes(whole)
    assert reopened(tmp_path, table).snapshot()["id"].to_pylist() == ["a", "b"]


@pytest.mark.parametrize("reader", ["snapshot", "read_optimized", "compact"])
@pytest.mark.parametrize("cut", CUTS)
def test_so_is_a_base_file(reader: str, cut: str, tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("a", 1, "x")))
    table.compact()
    table.upsert(batch(("a", 2, "y")))
    base = next(path for path in data_files(tmp_path) if path.suffix == ".parquet")
    base.write_bytes(CUTS[cut](base.read_bytes()))
    with pytest.raises(Damaged, match=rf"{base.name}.* bytes, and its commit lists"):
        getattr(reopened(tmp_path, table), reader)()


@pytest.mark.parametrize("change", ["upsert", "delete", "changes", "incremental"])
def test_so_is_what_a_copy_on_write_table_merges(change: str, tmp_path: Path) -> None:
    table = make_table(tmp_path, table_type="COPY_ON_WRITE", concurrency_mode=None)
    first = table.upsert(batch(("a", 1, "x"))).completed or ""
    base = data_files(tmp_path)[-1]
    table.upsert(batch(("b", 1, "x")))
    newest = data_files(tmp_path)[-1]
    (base if change in ("changes", "incremental") else newest).write_bytes(b"")
    table = reopened(tmp_path, table)
    operations: dict[str, Callable[[], Any]] = {
        "upsert": lambda: table.upsert(batch(("c", 1, "x"))),
        "delete": lambda: table.delete(keys(("a", 9))),
        "changes": lambda: table.changes(first),
        "incremental": lambda: table.incremental(first),
    }
    with pytest.raises(Damaged, match="it has 0 bytes"):
        operations[change]()


def test_a_log_of_a_table_of_hudi_is_held_against_its_commit(tmp_path: Path) -> None:
    """By directories: the listing shows the size that the file has, not the one that it must have."""
    folder = hudi_folder(tmp_path)
    assert len(Table.open(None, folder).snapshot())
    log = max((path for path in data_files(folder) if parse_log(path.name)), key=lambda path: str(parse_log(path.name)))
    log.write_bytes(b"")
    with pytest.raises(Damaged, match="it has 0 bytes"):
        Table.open(None, folder).snapshot()


def test_a_log_that_later_writes_have_appended_to_may_only_be_too_short(tmp_path: Path) -> None:
    table = make_table(tmp_path, options=FORMATS[0])
    first = table.upsert(batch(("a", 1, "x")))
    second = table.upsert(batch(("a", 2, "y")))
    log, other = data_files(tmp_path)
    log.write_bytes(log.read_bytes() + other.read_bytes())

    def lists_the_first(commit: CommitMetadata) -> CommitMetadata:
        (stat,) = commit.stats
        size, path = log.stat().st_size, f"part=p/{log.name}"
        shared = WriteStat(stat.file_id, path, "part=p", size, stat.prev_commit, log_version=1)
        return CommitMetadata((shared,), "UPSERT", extra=commit.extra)

    path = tmp_path / FOLDER / second.file_name
    path.write_bytes(encode_commit(lists_the_first(decode_commit(path.read_bytes()))))
    (tmp_path / FOLDER / first.file_name).unlink()
    assert reopened(tmp_path, table).snapshot()["a"].to_pylist() == ["y"]
    log.write_bytes(log.read_bytes() + other.read_bytes())  # a second append to the same log
    assert reopened(tmp_path, table).snapshot()["a"].to_pylist() == ["y"]
    log.write_bytes(log.read_bytes()[:10])
    with pytest.raises(Damaged, match="it has 10 bytes"):
        reopened(tmp_path, table).snapshot()


@pytest.mark.parametrize("reader", ["snapshot", "compact", "log_compact"])
def test_a_missing_data_file_is_a_typed_error(reader: str, tmp_path: Path) -> None:
    table = make_table(tmp_path)
    for number in (1, 2):
        table.upsert(batch(("a", number, "x")))
    data_files(tmp_path)[0].unlink()
    with pytest.raises(Missing, match="a completed commit lists the file, and it is missing: restore the file"):
        getattr(reopened(tmp_path, table), reader)()


def one_record_too_many(data: bytes) -> bytes:
    """An Avro log whose block claims a record more than it has, empty: of the same size by its last block."""
    block = next(iter(read_blocks(data)))
    content = bytearray(block.content)
    content[4:8] = (int.from_bytes(content[4:8], "big") + 1).to_bytes(4, "big")
    return encode_block(BlockKind.AVRO, dict(block.headers), bytes(content) + bytes(4))


def flipped(data: bytes) -> bytes:
    """A parquet block with other bytes in the middle of its pages."""
    pages = data.index(b"PAR1") + 4
    return data[:pages] + bytes(byte ^ 0xFF for byte in data[pages : pages + 40]) + data[pages + 40 :]


def relisted(folder: Path, instant: Instant) -> None:
    """Let the commit list the size that its one file has now."""
    path = folder / FOLDER / instant.file_name
    commit = decode_commit(path.read_bytes())
    (stat,) = commit.stats
    size = (folder / stat.path).stat().st_size
    changed = WriteStat(stat.file_id, stat.path, stat.partition, size, stat.prev_commit, log_version=1)
    path.write_bytes(encode_commit(CommitMetadata((changed,), commit.operation, extra=commit.extra)))


@pytest.mark.parametrize(("options", "damage"), [(FORMATS[0], one_record_too_many), (FORMATS[1], flipped)])
def test_what_a_decoder_makes_of_damaged_bytes_is_one_typed_error(
    options: dict[str, str], damage: Callable[[bytes], bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A damaged Avro log was an EOFError, which the command took for Ctrl-D: "interrupted", exit 130."""
    table = make_table(tmp_path, options=options, partition_by=None, schema=SCHEMA)
    instant = table.upsert(pa.table({"id": ["a"] * 50, "ts": range(50)}, schema=SCHEMA))
    (log,) = data_files(tmp_path)
    log.write_bytes(damage(log.read_bytes()))
    relisted(tmp_path, instant)
    table = reopened(tmp_path, table)
    for read in (table.snapshot, table.compact):
        with pytest.raises(Damaged, match=rf"{log.name}.*cannot be decoded.*restore the file"):
            read()
    assert command(["why", str(tmp_path), "a"]) == 2
    assert "cannot be decoded" in capsys.readouterr().err


SCHEMA = pa.schema([("id", pa.string()), ("ts", pa.int64())])


@pytest.mark.parametrize("cut", ["empty", "half", "one byte short"])
def test_nothing_is_written_onto_a_torn_instant(cut: str, tmp_path: Path) -> None:
    table = make_table(tmp_path)
    table.upsert(batch(("a", 1, "x")))
    torn = tmp_path / FOLDER / table.upsert(batch(("b", 1, "x"))).file_name
    whole = torn.read_bytes()
    torn.write_bytes(CUTS[cut](whole))
    table = reopened(tmp_path, table)
    before = sorted(tmp_path.rglob("*"))
    operations = (lambda: table.upsert(batch(("c", 1, "x"))), table.compact, table.clean, table.snapshot)
    for operation in operations:
        with pytest.raises(NbccError, match=torn.name):
            operation()
    assert [path for path in sorted(tmp_path.rglob("*")) if path not in before and ".nbcc" not in str(path)] == []
    torn.write_bytes(whole)
    table.upsert(batch(("c", 1, "x")))
    assert table.snapshot()["id"].to_pylist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    "name",
    [
        "00000000-0000-0000-0000-000000000000-0_0-1-1_20260101000000000_1.parquet",
        "00000000-0000-0000-0000-000000000000-0_0-1-1_20260101000000000.log.parquet",
        "00000000-0000-0000-0000-000000000000-0_0-1-1_20260101000000000.delete.parquet",
        "notes.txt",
    ],
)
@pytest.mark.parametrize("reader", ["snapshot", "as_of", "incremental", "changes", "compact", "log_compact"])
def test_a_listed_file_of_an_unknown_kind_is_an_error_for_a_reader_that_has_the_table_open(
    reader: str, name: str, tmp_path: Path
) -> None:
    table = make_table(tmp_path)
    first = table.upsert(batch(("a", 1, "x"))).completed or ""
    table.snapshot()
    (tmp_path / "part=p" / name).write_bytes(b"12345")
    requested, completed = table.context.clock.take(), table.context.clock.take()
    stat = WriteStat("00000000-0000-0000-0000-000000000000-0", f"part=p/{name}", "part=p", 5, "null")
    later = tmp_path / FOLDER / Instant(requested, "deltacommit", "completed", completed).file_name
    later.write_bytes(encode_commit(CommitMetadata((stat,), "UPSERT", extra=own_extra("{}"))))
    with pytest.raises(Unsupported, match=rf"{name}, which is neither a base file nor a log file"):
        READERS.get(reader, READERS["snapshot"])(table, first)


def test_the_same_in_a_table_of_hudi_and_strays_stay_ignored(tmp_path: Path) -> None:
    folder = hudi_folder(tmp_path)
    table = Table.open(None, folder)
    rows = table.snapshot()
    partition = data_files(folder)[-1].parent
    (partition / "f_0-1-1_20260101000000000_1.parquet").write_bytes(b"stray")
    assert table.snapshot().equals(rows)
    listed = WriteStat("f", f"{partition.name}/f_0-1-1_20260101000000000_1.parquet", partition.name, 5, "null")
    later = folder / FOLDER / "20990101000000000_20990101000000001.deltacommit"
    later.write_bytes(encode_commit(CommitMetadata((listed,), "UPSERT")))
    with pytest.raises(Unsupported, match="neither a base file nor a log file"):
        table.snapshot()


@pytest.mark.parametrize("content", [b"", b"{", b'{"format": 1}\n', b'{"format": 1, "kind": "commit"', b"[]\n"])
def test_a_torn_decision_does_not_count_as_absent(content: bytes, tmp_path: Path) -> None:
    storage = context(tmp_path).storage
    assert put_decision(storage, Decision(1, "time", "20260101000000001", "", "20260101000000001"))
    storage.put(f"{DECISIONS}/{2:020d}", content)
    with pytest.raises(Damaged, match="read the decision 2"):
        last_entry(storage)


def test_a_decided_instant_that_is_torn_is_not_taken_for_published(tmp_path: Path) -> None:
    table = make_table(tmp_path, options={"nbcc.decision": "log"})
    torn = tmp_path / FOLDER / table.upsert(batch(("a", 1, "x"))).file_name
    torn.write_bytes(b"")
    with pytest.raises(Damaged, match=torn.name):
        reopened(tmp_path, table).upsert(batch(("b", 1, "x")))
    torn.unlink()  # as the error says: the decision holds what it decided
    table = reopened(tmp_path, table)
    table.upsert(batch(("b", 1, "x")))
    assert table.snapshot()["id"].to_pylist() == ["a", "b"]


@pytest.mark.parametrize("name", HUDI_TABLES)
def test_a_missing_file_of_another_engine_is_an_error_and_not_fewer_rows(name: str, tmp_path: Path) -> None:
    """Hudi's readers that list folders return the other rows. Files that no snapshot needs may be missing."""
    storage = hudi_table(name, tmp_path)
    whole = Table.open(None, storage.url)
    timeline = whole.context.history().whole
    slices = to_read(load_slices(storage, timeline, whole.context.commits, whole.context.rules), whole.context.rules)
    needed = {path for piece in slices for path in piece.paths}
    listed = {stat.path for i in timeline.completed if i.writes for stat in whole.context.commits.commit(i).stats}
    expected = whole.snapshot()
    for path in sorted(entry.path for entry in storage.list("") if entry.path[0] != "." or ".log." in entry.path):
        if parse_base(path.rpartition("/")[2]) or parse_log(path.rpartition("/")[2]):
            data = storage.get(path)
            storage.delete(path)
            if path in needed & listed:
                with pytest.raises(Missing, match="a completed commit lists the file, and it is missing"):
                    Table.open(None, storage.url).snapshot()
            elif path not in needed:
                assert Table.open(None, storage.url).snapshot().equals(expected)
            storage.put(path, data)
    bases = {piece.base.path for piece in slices if piece.base} & listed
    for path in bases:
        storage.delete(path)
        with pytest.raises(Missing):
            Table.open(None, storage.url).read_optimized()
        break
