"""What tests of the engine share: an S3 server that ends with the test, a table, and a folder for its lock."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nbcc import Table
from nbcc.simulator.lockstep.s3.server import Bucket, s3_server
from tests.builders.tables import make_table


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with s3_server() as started:
        yield started


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return make_table(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".hoodie").mkdir()
    return tmp_path
