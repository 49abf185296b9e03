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


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.timeout(SECONDS + 60)
@pytest.mark.skipif(find_spec("grpc") is None, reason="Spark Connect needs grpcio: pip install 'nbcc[connect]'")
def test_a_table_through_spark_connect(tmp_path: Path) -> None:
    """The workers of the server lack nbcc. Compactions and replaces raised an AttributeError there, and left a pending
    plan on the timeline.
    """
    python, packages = tmp_path / "python", sysconfig.get_paths()["purelib"]
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(python)], check=True)
    environment = {**without_spark(), "PYTHONPATH": packages, "PYSPARK_PYTHON": str(python / "bin/python")}
    given = {"capture_output": True, "text": True, "timeout": SECONDS, "env": environment, "cwd": tmp_path}
    ran = subprocess.run([sys.executable, SCRIPT, ROOT], check=False, **given)
    assert ran.returncode == 0, ran.stderr[-3000:]
    scenarios = ("workers_without_nbcc", "every_operation", "a_stream")
    assert [line for line in ran.stdout.splitlines() if " has run" in line] == [f"{each} has run" for each in scenarios]
