"""The conductor: one actor at a time, every call a scheduling point, crashes that touch nothing."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from nbcc.engine.lock import held
from nbcc.simulator.lockstep.control.audit import LeakOutsideSeams
from nbcc.simulator.lockstep.control.conductor import RETURN, ActorBlocked, ActorSilent
from nbcc.simulator.lockstep.control.harness import Handle, Harness

COMMIT = ".hoodie/timeline/20240101000000001_20240101000000002.deltacommit"
LOG = ".00000000-0_20240101000000001.log.1_0-0-1"


def audited_since(version: tuple[int, int]) -> pytest.MarkDecorator:
    return pytest.mark.skipif(sys.version_info < version, reason="this interpreter raises no audit event for it")


def writes(handle: Handle) -> str:
    handle.clock.take()
    handle.storage.put_if_absent(LOG, b"rows")
    with held(handle.lock):
        handle.storage.put_if_absent(COMMIT, b"")
    return "done"


def test_every_call_is_a_point() -> None:
    harness = Harness()
    task = harness.start("w1", writes).task
    seen = []
    for call in ("clock.take", "put log", "lock.acquire", "put deltacommit", "lock.release"):
        seen += [call.text for call in task.run(call)]
        assert task.pending is not None or call == "lock.release"
    assert seen == ["clock.take", "put log", "lock.acquire", "put deltacommit", "lock.release"]
    assert task.finished
    assert task.result == "done"


def test_a_segment_ends_in_front_of_the_next_call() -> None:
    harness = Harness()
    task = harness.start("w1", writes).task
    assert [call.text for call in task.run("put log")] == ["clock.take", "put log"]
    assert task.pending is not None
    assert task.pending.text == "lock.acquire"
    assert harness.lock.holder is None
    assert len(task.run(RETURN)) == 3


def test_calls_that_also_belong_to_the_segment_are_taken_along() -> None:
    harness = Harness()

    def three_logs(handle: Handle) -> None:
        for version in (1, 2, 3):
            handle.storage.put_if_absent(LOG.replace("log.1", f"log.{version}"), b"")
        handle.clock.take()

    task = harness.start("w1", three_logs).task
    assert len(task.run("put log", also=("put log",))) == 3
    assert not task.finished


def test_a_lock_that_is_held_parks_the_actor() -> None:
    harness = Harness()
    first = harness.start("w1", writes).task
    second = harness.start("w2", writes).task
    first.run("lock.acquire")
    second.run("put log")
    with pytest.raises(ActorBlocked, match="w2 waits"):
        second.run("lock.acquire")
    first.run(RETURN)
    assert [call.text for call in second.run("lock.acquire")] == ["lock.acquire"]


def test_a_crash_cannot_reach_the_table_any_more() -> None:
    harness = Harness()
    unwound = threading.Event()

    def tidies_up(handle: Handle) -> None:
        try:
            with held(handle.lock):
                handle.storage.put_if_absent(LOG, b"")
                handle.storage.put_if_absent(COMMIT, b"")
        except Exception:
            handle.storage.delete(LOG)
        finally:
            unwound.set()
            handle.storage.delete(LOG)

    task = harness.start("w1", tidies_up).task
    task.run("put log")
    task.crash()
    assert unwound.is_set()
    assert task.finished
    assert [entry.path for entry in harness.storage.list("")] == [LOG]
    assert harness.lock.holder == "w1", "a dead holder gives nothing back"
    harness.lock.expire()
    assert harness.lock.holder is None


def test_a_silent_actor_is_reported_with_its_stack() -> None:
    harness = Harness(patience=0.05)
    gate = threading.Event()

    def hangs_here(handle: Handle) -> None:
        handle.clock.take()
        gate.wait()

    task = harness.start("w1", hangs_here).task
    with pytest.raises(ActorSilent, match=r"(?s)silent and waited for 0.05 s \(last call: clock.take\).*hangs_here"):
        task.run(RETURN)
    gate.set()


def test_an_actor_is_not_silent_while_it_computes() -> None:
    """The step computes for longer than its patience. One that never stops is reported."""
    harness = Harness(patience=0.2)
    over = threading.Event()

    def computes(handle: Handle) -> None:
        end = time.process_time() + 0.3
        while time.process_time() < end:
            pass
        handle.clock.take()
        handle.clock.take()
        while not over.is_set():
            pass

    task = harness.start("w1", computes).task
    task.run("clock.take")
    with pytest.raises(ActorSilent, match="w1 was silent and computed for"):
        task.run(RETURN)
    over.set()


@pytest.mark.parametrize(
    ("name", "leak"),
    [
        ("open", lambda folder: (folder / "x").open("w")),
        ("os.rename", lambda folder: os.rename(folder / "a", folder / "b")),
        ("os.remove", lambda folder: os.remove(folder / "a")),
        ("socket.connect", lambda folder: socket.socket().connect(("127.0.0.1", 1))),
        pytest.param("time.sleep", lambda folder: time.sleep(0), marks=audited_since((3, 13))),
        pytest.param("thread", lambda folder: threading.Thread(target=print).start(), marks=audited_since((3, 12))),
    ],
)
def test_io_outside_the_seams_fails_with_the_actors_name(name: str, leak: object, tmp_path: Path) -> None:
    harness = Harness()
    task = harness.start("w1", lambda handle: leak(tmp_path)).task  # type: ignore[operator]
    task.run(RETURN)
    assert isinstance(task.error, LeakOutsideSeams)
    assert "w1 called" in str(task.error)
    assert name in str(task.error)
    assert list(tmp_path.iterdir()) == []


def test_imports_are_no_leak() -> None:
    sys.modules.pop("colorsys", None)

    def imports(handle: Handle) -> None:
        import colorsys  # noqa: F401

    task = Harness().start("w1", imports).task
    task.run(RETURN)
    assert task.error is None


def test_a_listing_holds_what_was_there_and_what_the_schedule_shows() -> None:
    harness = Harness()
    harness.storage.put_if_absent(".hoodie/timeline/20240101000000001.deltacommit.requested", b"")
    handle = harness.start("r1", lambda own: [entry.path for entry in own.storage.list(".hoodie/timeline")])
    task = handle.task
    task.run("list.begin timeline")
    late = [f".hoodie/timeline/2024010100000000{n}.deltacommit.requested" for n in (2, 3)]
    for path in late:
        harness.storage.put_if_absent(path, b"")
    handle.shows = lambda path: path == late[1]
    task.run("list.end timeline")
    assert task.result == [".hoodie/timeline/20240101000000001.deltacommit.requested", late[1]]
