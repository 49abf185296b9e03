"""Hudi's lock file on a disk without space, and one that a crash left empty."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nbcc.engine.errors import CannotRun, LockTimeout
from nbcc.engine.lock import held
from nbcc.engine.lock.hudi_file import EMPTY_MS, HudiFileLock

NOW = 1_700_000_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".hoodie").mkdir()
    return tmp_path


@contextmanager
def no_space() -> Iterator[None]:
    """Files can be created in this process, and not a byte written into them, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_no_lock_file(folder: Path) -> None:
    lock, refused = HudiFileLock(folder.as_uri(), 0.0), None
    with no_space():
        try:
            lock.acquire()
        except CannotRun as raised:
            refused = raised
    assert refused is not None
    assert "its lock file .hoodie/lock cannot be written (File too large)" in str(refused)
    assert list((folder / ".hoodie").iterdir()) == []
    with held(HudiFileLock(folder.as_uri(), 0.0)):
        assert (folder / ".hoodie/lock").read_bytes()
    assert list((folder / ".hoodie").iterdir()) == []


@pytest.mark.parametrize(("content", "taken"), [(b"", True), (b"{}", False)])
def test_an_empty_file_is_removed_after_a_while(content: bytes, taken: bool, folder: Path) -> None:
    """It never had a holder; one with content has, and is not removed unless a setting says when."""
    path, now = folder / ".hoodie/lock", [NOW + EMPTY_MS]
    path.write_bytes(content)
    os.utime(path, ns=(NOW * 10**6, NOW * 10**6))
    lock = HudiFileLock(folder.as_uri(), 0.0, now=lambda: now[0])
    with pytest.raises(LockTimeout):
        lock.acquire()
    now[0] += 1
    assert lock.try_once() is taken
