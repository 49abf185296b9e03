"""Commits skimmed say what commits read say; what cannot be skimmed is never misread."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nbcc.engine.timeline import CommitMetadata, WriteStat, decode_commit, encode_commit, fast_commit_parser
from nbcc.engine.timeline.container import DIGEST, decode_record
from nbcc.engine.timeline.fast_commit_parser import FIELDS, Odd, skim_commit
from tests.builders.files import HUDI_TABLES, hudi_table


def read(data: bytes) -> dict[str, Any]:
    """The slow twin of the fast parser: it reads everything."""
    record = decode_record(data, "a commit")
    by_partition = record.pop("partitionToWriteStats") or {}
    listed = {p: [{**s, "logFiles": tuple(s["logFiles"] or ()) or None} for s in by_partition[p]] for p in by_partition}
    stats = {p: [tuple(stat[name] for name in FIELDS) for stat in listed[p]] for p in listed}
    return {"partitionToWriteStats": stats, **record}


def commit(seed: int) -> bytes:
    """A commit of a few files, whose numbers are of all lengths."""
    draw = random.Random(seed)

    def number() -> int:
        return draw.randrange(1 << draw.randrange(1, 50))

    def stat(partition: str, n: int) -> WriteStat:
        name = f"{n:08}-x_{'7' * draw.randrange(1, 90)}.log.1"
        return WriteStat(
            f"{n:08}-x", f"{partition}/{name}", partition, number(), "null", number(), number(),
            log_version=draw.choice((None, number() % 9)), prev_base_file=draw.choice((None, name)),
            log_files_compacted=draw.randrange(3),
        )  # fmt: skip

    stats = tuple(stat(f"part={'p' * draw.randrange(1, 4)}", n) for n in range(draw.randrange(6)))
    if seed % 2:
        extra, replaced = {"schema": "ä" * draw.randrange(99)}, {"p": ("x",)}
        return encode_commit(CommitMetadata(stats, "INSERT_OVERWRITE", extra=extra, replaced=replaced))
    return encode_commit(CommitMetadata(stats, "COMPACT", True))


def test_what_is_skimmed_is_what_is_read() -> None:
    for seed in range(200):
        assert skim_commit(commit(seed)) == read(commit(seed)), seed


@pytest.mark.parametrize("name", HUDI_TABLES)
def test_of_commits_of_hudi_too(name: str, tmp_path: Path) -> None:
    storage = hudi_table(name, tmp_path)
    paths = [e.path for e in storage.list(".hoodie/timeline") if e.path.endswith(("commit", "replacecommit"))]
    skimmed = {path: found for path in paths if (found := skimmed_or_none(storage.get(path)))}
    assert skimmed
    assert all(found == read(storage.get(path)) for path, found in skimmed.items())


def skimmed_or_none(data: bytes) -> Any:
    try:
        return skim_commit(data)
    except Exception:
        return None


def test_a_broken_commit_is_skimmed_as_it_is_read_or_not_at_all() -> None:
    plain = without_checksum(commit(3))
    differences = 0
    for broken in flipped(plain, 3000):
        if (skimmed := skimmed_or_none(broken)) is not None:
            assert skimmed == read(broken)
            differences += skimmed != read(plain)
    assert differences, "no flip gave another value: nothing was shown"


def without_checksum(data: bytes) -> bytes:
    """The container as another engine writes it."""
    assert DIGEST.encode() in data
    return data.replace(DIGEST.encode(), b"x" * len(DIGEST))


def flipped(data: bytes, count: int) -> Iterator[bytes]:
    draw = random.Random(0)
    for _ in range(count):
        at = draw.randrange(len(data))
        yield data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]


@pytest.mark.parametrize("name", ["part=Zürich/.00000000-x_1.log.1", "part=p/.00000000-x_1.log.1\n"])
def test_what_is_not_plain_is_read(name: str) -> None:
    data = encode_commit(CommitMetadata((WriteStat("x", name, "part=p", 7, "null", 1),), "UPSERT"))
    with pytest.raises(Odd):
        skim_commit(data)
    assert [stat.path for stat in decode_commit(data).stats] == [name]


def test_lengths_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text that goes on after its length says that it ends: all printable, and not what a reader of Avro sees."""
    stat = WriteStat("x", "part=p/abc", "part=p", 7, "null", 1)
    data = without_checksum(encode_commit(CommitMetadata((stat,), "UPSERT")))
    short = data.replace(b"\x14part=p/abc", b"\x12part=p/abc")
    assert short != data
    with pytest.raises(Odd):
        skim_commit(short)
    monkeypatch.setattr(fast_commit_parser, "length_hint", lambda text: 0)
    monkeypatch.setattr(fast_commit_parser, "_lengths", lambda encoded: (0,) * len(encoded))
    assert skim_commit(short)["partitionToWriteStats"]["part=p"][0][0] == "part=p/abc"
