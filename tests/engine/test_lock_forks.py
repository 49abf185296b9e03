"""Forked children: they hold no lock of their parent's, free none, and are not stopped by one that no thread holds."""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from nbcc.engine.clock import WallClock
from nbcc.engine.errors import Conflict, LockTimeout
from nbcc.engine.lock import BetweenProcesses, InProcessLock, Lock, held
from nbcc.engine.lock.hudi_file import HudiFileLock
from nbcc.engine.lock.single_process import SingleProcessLock
from nbcc.engine.lock.storage_lock import StorageLock
from nbcc.engine.storage import open_storage
from nbcc.engine.storage.conditional import LocalObject
from nbcc.engine.storage.flock import FileLock

FORK, SPAWN = multiprocessing.get_context("fork"), multiprocessing.get_context("spawn")
PATIENCE = 20.0

Make = Callable[[Path], Lock]
LOCKS: dict[str, Make] = {
    "between processes": lambda folder: BetweenProcesses(folder.as_uri(), 0.05),
    "single process": lambda folder: SingleProcessLock(folder.as_uri(), 0.05),
    "file": lambda folder: HudiFileLock(folder.as_uri(), 0.05),
}


@contextmanager
def child(target: Callable[..., None], *given: Any, context: Any = FORK) -> Iterator[Any]:
    """A process that runs `target`, ended with the block."""
    process = context.Process(target=target, args=given)
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def answer(target: Callable[..., None], *given: Any, context: Any = FORK) -> Any:
    """What `target` sends through the pipe that it is given."""
    receiver, sender = context.Pipe(duplex=False)
    with child(target, sender, *given, context=context):
        sender.close()
        assert receiver.poll(PATIENCE), "the child hangs"
        return receiver.recv()


def sleep(ready: Any) -> None:
    ready.set()
    time.sleep(60)


def try_lock(pipe: Any, make: Make, folder: Path) -> None:
    """The outcome of an attempt by a lock of the process's own."""
    try:
        with held(make(folder)):
            pipe.send("acquired")
    except Conflict as refused:
        pipe.send(type(refused).__name__)


def between(folder: Path) -> Lock:
    return BetweenProcesses(folder.as_uri(), 0.05)


@pytest.mark.parametrize("kind", LOCKS)
def test_a_child_forked_under_a_lock_does_not_keep_it(kind: str, folder: Path) -> None:
    lock, ready = LOCKS[kind](folder), FORK.Event()
    lock.acquire()
    with child(sleep, ready):
        assert ready.wait(PATIENCE)
        lock.release()
        if kind == "single process":
            del lock  # its claim ends with it
        assert answer(try_lock, LOCKS[kind], folder) == "acquired"


@pytest.mark.parametrize("kind", LOCKS)
def test_a_child_that_ends_does_not_free_its_parents_lock(kind: str, folder: Path) -> None:
    lock = LOCKS[kind](folder)
    with held(lock):
        for _ in range(2):
            assert answer(try_lock, LOCKS[kind], folder) in ("LockTimeout", "Conflict")
        assert answer(release_inherited, lock) == "begin and end an operation in the same process"
        assert answer(try_lock, LOCKS[kind], folder) in ("LockTimeout", "Conflict")
    if kind != "single process":
        assert answer(try_lock, LOCKS[kind], folder) == "acquired"


def release_inherited(pipe: Any, lock: Lock) -> None:
    try:
        lock.release()
        pipe.send("released")
    except Conflict as refused:
        pipe.send(refused.remedy)


@pytest.mark.parametrize("context", [FORK, SPAWN], ids=["fork", "spawn"])
def test_a_child_has_to_wait_for_the_lock_and_gets_it_then(context: Any, folder: Path) -> None:
    lock = BetweenProcesses(folder.as_uri(), PATIENCE)
    with held(lock):
        assert answer(try_lock, between, folder, context=context) == "LockTimeout"
    assert answer(try_lock, between, folder, context=context) == "acquired"


def test_a_thread_lock_that_another_thread_held_is_free_in_a_child() -> None:
    lock = InProcessLock("forked", PATIENCE)
    holding, over = threading.Event(), threading.Event()

    def hold() -> None:
        with held(lock):
            holding.set()
            over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    assert holding.wait(PATIENCE)
    try:
        assert answer(acquire_inherited, lock) == "acquired"
        with pytest.raises(LockTimeout):
            InProcessLock("forked", 0.01).acquire()
    finally:
        over.set()
        thread.join()


def acquire_inherited(pipe: Any, lock: Lock) -> None:
    with held(lock):
        pipe.send("acquired")


def test_a_clock_that_a_thread_was_waiting_for_can_be_read_in_a_child() -> None:
    waiting, over = threading.Event(), threading.Event()

    def wait(_: float) -> None:
        waiting.set()
        over.wait()

    clock = WallClock(0, lambda: 0 if not over.is_set() else 10**12, sleep=wait)
    thread = threading.Thread(target=clock.take)
    thread.start()
    assert waiting.wait(PATIENCE)
    try:
        assert answer(take_inherited, clock, over) == "taken"
    finally:
        over.set()
        thread.join()


def take_inherited(pipe: Any, clock: WallClock, over: threading.Event) -> None:
    clock._now_ns = iter(range(10**12, 2 * 10**12, 10**9)).__next__
    clock.take()
    pipe.send("taken")


def test_a_lease_is_not_held_by_a_child_of_its_holder(folder: Path) -> None:
    lock = StorageLock(open_storage(folder), 0.0, 60, 10)
    path = folder / ".hoodie/.locks/table_lock.json"
    with held(lock):
        before = path.read_bytes()
        assert answer(use_inherited_lease, lock) == [False, False, "Conflict"]
        assert path.read_bytes() == before
    assert json.loads(path.read_bytes())["expired"] is True
    assert answer(use_inherited_lease, lock)[0] is True, "free again, also for the child"


def use_inherited_lease(pipe: Any, lock: StorageLock) -> None:
    found: list[Any] = [lock.try_once(), lock.renew()]
    try:
        lock.release()
    except Conflict as refused:
        found.append(type(refused).__name__)
    pipe.send(found)


def test_a_child_forked_under_the_guard_of_an_object_does_not_keep_it(folder: Path) -> None:
    """The moment between comparing and renaming, as another thread would meet it."""
    one, ready = LocalObject(str(folder), "o", folder.as_uri()), FORK.Event()
    processes = []

    class Forking(LocalObject):
        def read(self) -> Any:
            process = FORK.Process(target=sleep, args=(ready,))
            process.start()
            processes.append(process)
            assert ready.wait(PATIENCE)
            return super().read()

    try:
        assert Forking(str(folder), "o", folder.as_uri()).write(b"1", None)
        assert processes
        done = threading.Thread(target=lambda: one.write(b"2", one.read()), daemon=True)
        done.start()
        done.join(PATIENCE)
        assert (folder / "o").read_bytes() == b"2"
    finally:
        for process in processes:
            process.kill()
            process.join()


def test_descriptors_are_closed_in_a_child_and_not_in_its_parent(folder: Path) -> None:
    file = FileLock(folder / "f")
    assert file.lock()
    assert answer(state_of, file, folder / "f") == (False, False)
    assert file.is_open
    file.close()
    file.close()
    assert not file.is_open


def state_of(pipe: Any, file: FileLock, path: Path) -> None:
    descriptors = [int(name) for name in os.listdir("/dev/fd")]
    there = False
    for descriptor in descriptors:
        with suppress(OSError):
            there = there or os.path.samestat(os.fstat(descriptor), path.stat())
    file.close()
    pipe.send((file.is_open, there))
