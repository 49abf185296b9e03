"""Tests of one group run in one worker, so that a run starts Spark once and computes a costly fixture once."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("group", [
    pytest.param("in one worker", marks=pytest.mark.xdist_group("in one worker")),
    "tests/quality/test_groups_of_tests.py",
])  # fmt: skip
def test_a_group_stays_in_one_worker(group: str, request: pytest.FixtureRequest) -> None:
    """The scheduler reads the group from the name of a test: one that it marks itself, or that of tests/conftest.py. A
    pytest that xdist does not know, and a hook that marks too late, hide it in silence."""
    grouped = getattr(request.config.option, "loadgroup", False)  # only with --dist loadgroup, as in `make test`
    assert request.node.nodeid.endswith(f"@{group}") == grouped
