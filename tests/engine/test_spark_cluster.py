"""A cluster whose workers lack nbcc: what reaches them, what they refuse, and what a killed executor costs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .cluster import Cluster, cluster
from .spark_cluster import DISTURBED

PROGRAM = Path(__file__).with_name("spark_cluster.py")
SECONDS = 1500  # half a minute on an idle machine of two cores

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("cluster"),
    pytest.mark.timeout(SECONDS + 500),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the scenarios find processes in /proc"),
]


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


def run(there: Cluster, master: str, *scenarios: str) -> None:
    command: list[str | Path] = [sys.executable, PROGRAM, master, there.driver, *scenarios]
    ran = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=SECONDS, env=there.environment, cwd=there.driver
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    assert ran.stdout.splitlines() == [f"{name} has run" for name in scenarios]


@pytest.mark.nightly
def test_a_cluster_without_nbcc(standalone: Cluster) -> None:
    run(standalone, standalone.url, "lacking", "registered", "other_disk", "upsert_after_file")


@pytest.mark.nightly
def test_executors_that_die_and_tasks_that_stall(standalone: Cluster) -> None:
    run(standalone, standalone.url, "source_write", *(name for name in DISTURBED if name != "upsert_after_file"))


@pytest.mark.nightly
def test_a_local_cluster(standalone: Cluster) -> None:
    run(standalone, "local-cluster[2,1,512]", "local_cluster")
