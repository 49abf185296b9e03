"""Storage, lock, clock, rules and errors: what operations rely on."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcc.engine.clock import WallClock, to_instant, to_millis
from nbcc.engine.errors import BadInput, Cleaned, Conflict, NbccError, NotATable, Unsupported
from nbcc.engine.lock import InProcessLock, held
from nbcc.engine.rules import HUDI, NBCC, Rules
from nbcc.engine.storage import NotFound, Storage, open_storage
from tests.builders.threads import in_threads


@pytest.fixture(params=["file", "memory"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    return open_storage(tmp_path / "a b" / "tä#b%20" if request.param == "file" else "memory:///")


def test_put_if_absent_creates_once(storage: Storage) -> None:
    assert storage.put_if_absent("p=1/x", b"1")
    assert not storage.put_if_absent("p=1/x", b"22")
    assert storage.get("p=1/x") == b"1"
    storage.put("p=1/x", b"333")
    assert [entry[:2] for entry in storage.list("p=1")] == [("p=1/x", 3)]


def test_only_one_of_many_creates(storage: Storage) -> None:
    won: list[int] = []
    in_threads(8, lambda number: won.append(number) if storage.put_if_absent("x", bytes([number])) else None)
    assert len(won) == 1
    assert storage.get("x") == bytes(won)


def test_what_is_not_there(storage: Storage) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        storage.get("nowhere")
    storage.delete("nowhere")
    assert storage.list("nowhere") == []
    assert storage.list("") == []


def test_a_listing_is_recursive_sorted_and_by_whole_folders(storage: Storage) -> None:
    for path in ("b/.x", "b/a/y", "bc/z", "a"):
        storage.put_if_absent(path, b"1")
    assert [entry.path for entry in storage.list("")] == ["a", "b/.x", "b/a/y", "bc/z"]
    assert [entry.path for entry in storage.list("b")] == ["b/.x", "b/a/y"]


def test_the_same_store_from_its_url_and_from_a_pickle(tmp_path: Path) -> None:
    first = open_storage(tmp_path / "a b" / "ä%20#")
    first.put_if_absent("x", b"1")
    assert (tmp_path / "a b" / "ä%20#" / "x").read_bytes() == b"1"
    for other in (open_storage(first.url), pickle.loads(pickle.dumps(first))):
        assert other.url == first.url
        assert other.get("x") == b"1"


def test_checksums_of_hadoop_are_not_listed_and_go_with_their_file(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    for write in (storage.put, storage.put_if_absent):
        (tmp_path / ".x.crc").write_bytes(b"stale")
        write("x", b"1")
        assert not (tmp_path / ".x.crc").exists()
        (tmp_path / ".x.crc").write_bytes(b"again")
        assert [entry[:2] for entry in storage.list("")] == [("x", 1)]
        storage.delete("x")
        assert list(tmp_path.iterdir()) == []


ODD_NAMES = ["p=a b/ä", "p=%20/x", "p=a#b/x#y", "p=a+b/~x", "p=1/.x.log.1_0-1-2", 'p=\'/"x"', "#1/x"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_what_is_put_by_the_store_is_found_by_the_operating_system(tmp_path: Path, name: str) -> None:
    """Puts go another way than gets, listings and deletes: both must mean the same file by a path."""
    storage = open_storage(tmp_path)
    assert storage.put_if_absent(name, b"1")
    storage.put(name, b"22")
    assert storage.get(name) == (tmp_path / name).read_bytes() == b"22"
    (entry,) = storage.list("")
    assert tuple(entry) == (name, 2, pytest.approx((tmp_path / name).stat().st_mtime))
    assert storage.list(name.partition("/")[0]) == [entry]
    assert storage.paths("") == [name]
    storage.delete_all([name, "p=1/nowhere", f"{name}/below"])
    assert storage.list("") == []


def test_sizes_of_all_but_one_folder_are_those_of_a_listing(storage: Storage) -> None:
    for path in ("a", "p/b", "home/c", "home/sub/d", "home2/e"):
        storage.put(path, path.encode())
    sizes, inside = storage.sizes_but("home")
    assert sizes == {"a": 1, "p/b": 3, "home2/e": 7}
    assert sorted(inside) == ["home/c", "home/sub/d"]


def test_what_is_being_put_is_not_listed(tmp_path: Path) -> None:
    """obstore first writes `x#1` next to `x`."""
    storage = open_storage(tmp_path)
    storage.put("x", b"1")
    (tmp_path / "y#1").write_bytes(b"half of")
    assert [entry.path for entry in storage.list("")] == ["x"]


def test_a_folder_is_no_object_and_an_object_no_folder(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    storage.put("a/b", b"1")
    for path in ("a", "a/b/c"):
        with pytest.raises(NotFound, match=path):
            storage.get(path)
    assert storage.list("a/b") == []


def test_a_listing_leaves_out_what_goes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = open_storage(tmp_path)
    for path in ("a/x", "a/y", "b/x"):
        storage.put(path, b"1")
    scandir = os.scandir

    def scanned(folder: str) -> Any:
        """Both go after their folder was opened, the whole of b before it is."""
        found = scandir(folder)
        if folder.endswith("/a"):
            storage.delete("a/x")
            storage.delete("b/x")
            (tmp_path / "b").rmdir()
        return found

    monkeypatch.setattr(os, "scandir", scanned)
    assert [entry.path for entry in storage.list("")] == ["a/y"]


@given(st.integers(0, 4_000_000_000_000))
def test_instants_are_milliseconds(millis: int) -> None:
    instant = to_instant(millis)
    assert len(instant) == 17
    assert to_millis(instant) == millis
    assert to_instant(millis + 1) > instant


def test_instants_by_hand() -> None:
    assert to_instant(0) == "19700101000000000"
    assert to_millis("20260101000000123") == 1767225600123
    assert to_millis("20260101000000") == 1767225600000
    for wrong in ("2026", "2026010100000012x", "20261301000000000"):
        with pytest.raises(ValueError, match=r"not an instant|month must be"):
            to_millis(wrong)


class Time:
    """A machine's clock that moves only by being slept on."""

    def __init__(self, millis: int) -> None:
        self.ns = millis * 1_000_000

    def sleep(self, seconds: float) -> None:
        self.ns += round(seconds * 1e9)

    def clock(self, skew_ms: int) -> WallClock:
        return WallClock(skew_ms, lambda: self.ns, self.sleep)


def test_times_rise_and_the_skew_is_waited_out() -> None:
    time = Time(1_000_000)
    clock = time.clock(200)
    taken = [to_millis(clock.take()) for _ in range(3)]
    assert taken == [1_000_000, 1_000_201, 1_000_402]  # a clock behind by all of the skew must be past each, too
    assert time.ns == 1_000_603 * 1_000_000


def test_a_time_is_greater_than_what_the_timeline_holds() -> None:
    time = Time(1_000_000)
    clock = time.clock(1)
    clock.not_before(to_instant(1_000_150))
    clock.not_before(to_instant(900_000))
    assert to_millis(clock.take()) == 1_000_151
    assert to_millis(clock.take()) == 1_000_153  # the skew of 1 ms and the millisecond of the first were waited out


def test_a_clock_that_was_set_back_a_little_is_waited_for_a_lot_is_refused() -> None:
    time = Time(1_000_000)
    clock = time.clock(1)
    clock.take()
    time.ns -= 100 * 1_000_000
    assert to_millis(clock.take()) == 1_000_001
    time.ns -= 1_000 * 1_000_000
    with pytest.raises(Conflict, match="ahead of this machine's clock"):
        clock.take()


def test_locks_of_one_name_are_one_lock() -> None:
    ours, theirs, other = InProcessLock("t", 0.01), InProcessLock("t", 0.01), InProcessLock("u", 0.01)
    with held(ours):
        with pytest.raises(Conflict, match="lock the table t"):
            theirs.acquire()
        with held(other):
            pass
    with held(theirs):
        pass


def test_the_lock_is_given_back_when_the_block_fails() -> None:
    lock = InProcessLock("v", 0.01)
    with pytest.raises(KeyError), held(lock):
        raise KeyError
    with held(lock):
        pass


def test_rules_are_values_that_know_their_names() -> None:
    assert Rules.from_mapping({}) == NBCC == Rules()
    hudi = {"merge_order": "requested", "tombstones": "drop", "fold": "logs_first", "files": "directory"}
    assert Rules.from_mapping(hudi) == HUDI
    with pytest.raises(BadInput, match="nearest is 'slicing'"):
        Rules.from_mapping({"slicin": "requested"})
    with pytest.raises(BadInput, match="one of completion, requested"):
        Rules.from_mapping({"merge_order": "alphabetical"})


@pytest.mark.parametrize("kind", [BadInput, NotATable, Unsupported, Conflict, Cleaned])
def test_errors_are_one_sentence_of_three_parts(kind: type[NbccError]) -> None:
    error = kind("open x", "there is nothing", "create it")
    assert str(error) == "Asked to open x, but there is nothing: create it."
    assert (error.asked, error.exists, error.remedy) == ("open x", "there is nothing", "create it")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
