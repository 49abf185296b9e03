"""What the workers of one run build once and share."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def built_once(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], None]) -> Path:
    """Return the folder `name` of this run, which `build` has filled. The first worker that asks builds it, and the
    others wait.
    """
    own = factory.getbasetemp()
    run = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder, built = run / name, run / f"{name}.built"
    with (run / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # released with the file, so that the death of a worker leaves no lock
        if not built.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a worker that died or whose build failed
            folder.mkdir()
            build(folder)
            built.touch()
    return folder
