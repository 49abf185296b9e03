"""Tests of one group run in one worker, so that a run starts Spark once and computes a costly fixture once."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("in one worker")
def test_a_group_stays_in_one_worker(request: pytest.FixtureRequest) -> None:
    """The scheduler reads the group from the name of a test. A pytest that xdist does not know hides it in silence."""
    grouped = getattr(request.config.option, "loadgroup", False)  # only with --dist loadgroup, as in `make test`
    assert request.node.nodeid.endswith("@in one worker") == grouped
