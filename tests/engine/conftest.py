"""What tests of the engine share: an S3 server that ends with the test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nbcc.simulator.lockstep.s3.server import Bucket, s3_server


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with s3_server() as started:
        yield started
