"""Tables that Apache Hudi makes by its defaults, with a metadata table and two partition columns."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from nbcc import BadInput, NotATable, Table, Unsupported
from nbcc.engine.data_source.options import read_options
from nbcc.engine.data_source.read import plan
from nbcc.engine.errors import Damaged, LimitExceeded
from nbcc.engine.files.hfile import decode_hfile
from nbcc.engine.files.metadata_table import metadata_files
from nbcc.engine.limits import Limits, limits, set_limits
from nbcc.engine.storage import open_storage
from tests.builders.hudi import FACTS, unpacked

TABLES = sorted(FACTS["snapshot"])
LISTINGS = ("folders", "metadata", "both")
LISTING = "nbcc.file.listing"

pytestmark = pytest.mark.filterwarnings("ignore:nbcc. .* has a metadata table")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One copy of each table, which no test changes."""
    return {name: unpacked(name, tmp_path_factory.mktemp("defaults")) for name in TABLES}


def opened(folder: Path, listing: str = "folders") -> Table:
    return Table.open(None, folder, options={LISTING: listing})


def rows(found: pa.Table) -> list[list[Any]]:
    return sorted([row[column] for column in FACTS["columns"]] for row in found.to_pylist())


@pytest.mark.parametrize("listing", LISTINGS)
@pytest.mark.parametrize("name", TABLES)
def test_its_snapshot_is_that_of_hudi(name: str, listing: str, folders: dict[str, Path]) -> None:
    """With and without a bucket index, in hive style and plain, after cleans, archiving and compactions of the metadata
    table.
    """
    assert rows(opened(folders[name], listing).snapshot()) == FACTS["snapshot"][name]


def test_the_data_source_has_the_same_option(folders: dict[str, Path]) -> None:
    options = {"path": str(folders["mor_buckets"]), LISTING: "both"}
    assert len(plan(read_options(options)).tasks) == 8
    with pytest.raises(BadInput, match="use folders, metadata or both"):
        read_options({**options, LISTING: "all"})


def test_each_state_is_the_same_by_each_listing(folders: dict[str, Path]) -> None:
    table = opened(folders["mor_buckets"])
    states = []
    for instant in table.timeline():
        [state, *others] = [rows(opened(folders["mor_buckets"], listing).as_of(instant)) for listing in LISTINGS]
        assert others == [state, state]
        states.append(state)
    assert len(states) == 4
    assert all(state != other for state, other in pairwise(states))


def test_conditions_and_partitions_of_two_columns(folders: dict[str, Path]) -> None:
    table = opened(folders["mor_buckets"], "metadata")
    wanted = [row for row in FACTS["snapshot"]["mor_buckets"] if row[1] == "2026-11-01" and row[2] == "us"]
    assert 0 < len(wanted) < len(FACTS["snapshot"]["mor_buckets"])
    assert rows(table.snapshot(where=(pc.field("day") == "2026-11-01") & (pc.field("region") == "us"))) == wanted
    assert rows(table.snapshot(partitions=["day=2026-11-01/region=us"])) == wanted


def test_the_metadata_table_lists_the_files_in_the_folders(folders: dict[str, Path]) -> None:
    for folder in folders.values():
        data = [path for path in folder.rglob("*[0-9]") if path.is_file()] + [*folder.rglob("*.parquet")]
        here = {path.relative_to(folder).as_posix(): path.stat().st_size for path in data}
        here = {path: size for path, size in here.items() if not path.startswith(".hoodie")}
        assert {entry.path: entry.size for entry in metadata_files(open_storage(folder))} == here


def newest_base(folder: Path) -> Path:
    return max(folder.glob("day=*/*/*.parquet"), key=lambda path: path.name.rpartition("_")[2])


def test_a_file_that_the_metadata_table_does_not_list(tmp_path: Path) -> None:
    folder = unpacked("mor_buckets", tmp_path)
    base = newest_base(folder)
    shutil.copy(base, base.with_name(f"7{base.name[1:]}"))
    assert len(opened(folder).snapshot()) > len(FACTS["snapshot"]["mor_buckets"])
    assert rows(opened(folder, "metadata").snapshot()) == FACTS["snapshot"]["mor_buckets"]
    with pytest.raises(Damaged, match=r"differ in 1 files, and .*/7.*\.parquet is missing in the metadata table"):
        opened(folder, "both").snapshot()


def test_a_file_that_the_folders_lack(tmp_path: Path) -> None:
    folder = unpacked("mor_buckets", tmp_path)
    newest_base(folder).unlink()
    with pytest.raises(Damaged, match=r"differ in 1 files, and .*\.parquet is missing in the folders"):
        opened(folder, "both").snapshot()
    with pytest.raises(NotATable):
        opened(folder, "metadata").snapshot()


def test_a_file_of_another_size(tmp_path: Path) -> None:
    folder = unpacked("cow_plain_paths", tmp_path)
    [base, *_] = sorted(folder.glob("2026-11-02/us/*.parquet"))[-1:]
    base.write_bytes(base.read_bytes() + b"x")
    with pytest.raises(Damaged, match=r"differ in 1 files, and .*\.parquet has another size in the metadata table"):
        opened(folder, "both").snapshot()


def test_a_commit_that_the_metadata_table_lacks(tmp_path: Path) -> None:
    """A log of the metadata table whose instant is pending counts as absent. A snapshot nevertheless reads the files
    that a completed commit of the table lists.
    """
    folder = unpacked("mor_buckets", tmp_path)
    newest = max((folder / ".hoodie" / "metadata" / ".hoodie" / "timeline").glob("*.deltacommit"))
    newest.unlink()
    assert rows(opened(folder, "metadata").snapshot()) == FACTS["snapshot"]["mor_buckets"]
    with pytest.raises(Damaged, match="is missing in the metadata table"):
        opened(folder, "both").snapshot()


def test_the_option_is_refused_where_it_does_not_apply(tmp_path: Path) -> None:
    folder = unpacked("cow_plain_paths", tmp_path)
    with pytest.raises(BadInput, match=f"'nbcc.file.list', but there is no such option: the nearest is '{LISTING}'"):
        Table.open(None, folder, options={"nbcc.file.list": "both"})
    properties = folder / ".hoodie" / "hoodie.properties"
    lines = properties.read_text().splitlines(keepends=True)
    properties.write_text("".join(line for line in lines if "metadata.partitions" not in line))
    with pytest.raises(BadInput, match="no metadata table that lists its files"):
        opened(folder, "metadata")
    schema = pa.schema([("id", pa.string()), ("ts", pa.int64())])
    Table.create(None, tmp_path / "ours", schema, record_key="id", ordering_fields="ts")
    with pytest.raises(BadInput, match="its commits list its files"):
        opened(tmp_path / "ours", "both")


def an_hfile(folder: Path) -> bytes:
    files = (folder / ".hoodie" / "metadata" / "files").glob("*.hfile")
    return max(files, key=lambda path: path.name.rpartition("_")[2]).read_bytes()


def test_an_hfile_that_was_cut_or_changed(folders: dict[str, Path]) -> None:
    data = an_hfile(folders["cow_buckets_cleaned"])
    assert decode_hfile(data, "f").pairs[0][0] == "__all_partitions__"
    for end in range(0, len(data), 97):
        with pytest.raises(Damaged, match="is not a whole HFile"):
            decode_hfile(data[:end], "f")
    refusals = set()
    for at in [*range(0, 300, 3), *range(len(data) - 4096, len(data) - 3950)]:
        changed = data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]
        try:
            decode_hfile(changed, "f")
        except (Damaged, Unsupported) as refused:
            refusals.add(type(refused))
    assert Damaged in refusals
    head, trailer = data[:-4096], data[-4096:]
    assert trailer.count(b"\x60\x01") == 1
    with pytest.raises(Unsupported, match="it has the compression 4, and nbcc reads gzip"):
        decode_hfile(head + trailer.replace(b"\x60\x01", b"\x60\x04"), "f")


def test_an_hfile_that_expands_beyond_the_limit(folders: dict[str, Path]) -> None:
    data, before = an_hfile(folders["cow_buckets_cleaned"]), limits()
    set_limits(Limits(decoded_bytes=1, decoded_ratio=1))
    try:
        with pytest.raises(LimitExceeded, match=f"its blocks have more than {len(data)} bytes"):
            decode_hfile(data, "f")
    finally:
        set_limits(before)
