"""Spark Connect: operations that need no `SparkContext`, on a server of this test's own."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("spark_connect.py")
SECONDS = 400  # a minute on an idle machine of two cores


@pytest.mark.spark
@pytest.mark.timeout(SECONDS + 60)
@pytest.mark.skipif(find_spec("grpc") is None, reason="Spark Connect needs grpcio: pip install 'nbcc[connect]'")
def test_a_table_through_spark_connect() -> None:
    """Compactions and replaces raised an AttributeError there, and left a pending plan on the timeline."""
    given = {"capture_output": True, "text": True, "timeout": SECONDS, "env": _environment()}
    ran = subprocess.run([sys.executable, SCRIPT], check=False, **given)
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert ran.stdout.split("\n")[-3:] == ["every_operation has run", "a_stream has run", ""]


def _environment() -> dict[str, str]:
    """Without the settings of a session that this process runs."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK_", "SPARK_"))}
