"""Spark Connect: operations that need no `SparkContext`, on a server of this test's own."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest

from .cluster import without_spark

ROOT = Path(__file__).absolute().parents[2]
SCRIPT = Path(__file__).with_name("spark_connect.py")
SECONDS = 400  # a minute on an idle machine of two cores


def played(folder: Path, *scenarios: str, **environment: str) -> None:
    """Play scenarios on a server whose workers run a Python of their own, without packages."""
    python = folder / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(python)], check=True)
    ours = {**without_spark(), "PYSPARK_PYTHON": str(python / "bin/python"), **environment}
    command: list[str | Path] = [sys.executable, SCRIPT, ROOT, *scenarios]
    ran = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=SECONDS, env=ours, cwd=folder
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert [line for line in ran.stdout.splitlines() if " has run" in line] == [f"{each} has run" for each in scenarios]


pytestmark = [
    pytest.mark.spark,
    pytest.mark.nightly,
    pytest.mark.timeout(SECONDS + 60),
    pytest.mark.skipif(find_spec("grpc") is None, reason="Spark Connect needs grpcio: pip install 'nbcc[connect]'"),
]


def test_a_table_through_spark_connect(tmp_path: Path) -> None:
    """The workers of the server lack nbcc. Compactions and replaces raised an AttributeError there, and left a pending
    plan on the timeline.
    """
    packages = sysconfig.get_paths()["purelib"]
    played(tmp_path, "workers_without_nbcc", "every_operation", "a_stream", PYTHONPATH=packages)


def test_workers_without_packages_are_found_before_anything_is_written(tmp_path: Path) -> None:
    played(tmp_path, "workers_without_packages")
