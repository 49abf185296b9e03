"""A writer of Apache Hudi and a writer of nbcc, in two processes, exclude each other by Hudi's lock file."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.engine.errors import LockTimeout
from nbcc.engine.lock import held
from nbcc.engine.lock.hudi_file import HudiFileLock
from nbcc.simulator.lockstep.peers.process import PeerProcess, PeerRefused, peer

PACKAGE = "org.apache.hudi.client.transaction.lock."
PATIENCE = {
    "hoodie.write.lock.wait_time_ms": "500",
    "hoodie.write.lock.num_retries": "1",
    "hoodie.write.lock.client.num_retries": "1",
    "hoodie.write.lock.wait_time_ms_between_retry": "100",
    "hoodie.write.lock.client.wait_time_ms_between_retry": "100",
}


def hudis(folder: Path, provider: str) -> PeerProcess:
    """The peer, with a table in a folder whose writers use that provider."""
    shape = {"merge_mode": "EVENT_TIME_ORDERING", "buckets": 1, "partitions": ["p0"]}
    process, more = peer("hudi"), {**PATIENCE, "hoodie.write.lock.provider": PACKAGE + provider}
    process.ask("create", str(folder), **shape, more=more)
    return process


def test_hudi_and_ours_keep_each_other_out(tmp_path: Path) -> None:
    process, ours = hudis(tmp_path, "FileSystemBasedLockProvider"), HudiFileLock(tmp_path.as_uri(), 0.5)
    with held(ours), pytest.raises(PeerRefused, match="HoodieLockException"):
        process.ask("hold", str(tmp_path), actor="w1")
    process.ask("hold", str(tmp_path), actor="w1")
    with pytest.raises(LockTimeout), held(ours):
        pytest.fail("both have the lock")
    process.ask("give_back", str(tmp_path), actor="w1")
    with held(ours):
        assert ours.held_by()
    process.ask("forget", str(tmp_path))


def test_hudi_has_no_storage_lock_for_a_folder(tmp_path: Path) -> None:
    """Ours has: on a local file system it does not and could not keep out a writer of Hudi."""
    with pytest.raises(PeerRefused, match="StorageLock"):
        hudis(tmp_path, "StorageBasedLockProvider").ask("hold", str(tmp_path), actor="w1")
