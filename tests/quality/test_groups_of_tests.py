"""Tests of one group run in one worker, so that a run starts Spark once and computes a costly fixture once."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import pytest

from tests.builders.once import built_once

FILE = "tests/quality/test_groups_of_tests.py"


@pytest.mark.parametrize("group", [
    pytest.param("in one worker", marks=pytest.mark.xdist_group("in one worker")),
    pytest.param(f"{FILE}::test_a_group_stays_in_one_worker alone", marks=pytest.mark.spark, id="alone"),
    FILE,
])  # fmt: skip
def test_a_group_stays_in_one_worker(group: str, request: pytest.FixtureRequest) -> None:
    """The scheduler reads the group from the name of a test: one that it marks itself, or that of tests/conftest.py. A
    pytest that xdist does not know, and a hook that marks too late, hide it in silence. A test that starts Spark itself
    is alone: in one group, the last of them ran while the other workers had nothing left to do."""
    grouped = getattr(request.config.option, "loadgroup", False)  # only with --dist loadgroup, as in `make test`
    assert request.node.nodeid.endswith(f"@{group}") == grouped


def test_what_the_workers_share_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    built: list[Path] = []

    def build(folder: Path) -> None:
        built.append(folder)
        (folder / "part").touch(exist_ok=False)  # the folder of a failed build is deleted
        if len(built) == 1:
            raise ValueError("the first build fails")
        time.sleep(0.1)  # without the lock, the other workers would build, too

    def worker(name: str, begins: Callable[[], Any] = lambda: None) -> Any:
        def base() -> Path:
            begins()
            return tmp_path / name

        return SimpleNamespace(getbasetemp=base)

    with pytest.raises(ValueError, match="the first build fails"):
        built_once(worker("gw0"), "shared", build)
    together = Barrier(3)
    workers = [worker(name, together.wait) for name in ("gw0", "gw1", "gw2")]
    with ThreadPoolExecutor(3) as pool:
        folders = {*pool.map(lambda each: built_once(each, "shared", build), workers)}
    assert folders == {tmp_path / "shared"}
    assert len(built) == 2
    assert (tmp_path / "shared" / "part").exists()
