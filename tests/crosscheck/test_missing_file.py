"""A reader that misses a file searches the timeline for the clean. Footprints ignore only that search, at its end."""

from __future__ import annotations

import pytest

from nbcc.simulator.lockstep.control.footprints import Access, violations

TIMELINE = ".hoodie/timeline"
LOG = ".00000000-0000-0000-0000-000000000000-0_20240101000000001.log.1_2301-1-1"
OTHER = LOG.replace("log.1", "log.2")
PLAN = f"{TIMELINE}/20240101000000004.clean.requested"

REQUESTED = f"{TIMELINE}/20240101000000001.deltacommit.requested"
BEGUN = Access("w1", 0, "put", REQUESTED, False)
PUBLISHED = Access("w1", 0, "put", f"{TIMELINE}/20240101000000001_20240101000000002.deltacommit", False)
DELETED = [Access("d1", 1, "delete", path, False) for path in (LOG, OTHER)]
MISSED = Access("r1", 2, "get", LOG, False, "missing")
ASKED = [
    Access("r1", 2, "list.begin", TIMELINE, False),
    Access("r1", 2, "list.end", TIMELINE, False),
    Access("r1", 2, "get", PLAN, False),
]


def test_to_ask_why_a_file_is_gone_is_atomic() -> None:
    assert violations([PUBLISHED, DELETED[0], MISSED, *ASKED]) == []


@pytest.mark.parametrize(
    "segment",
    [
        [MISSED, *ASKED, MISSED._replace(path=OTHER)],
        [MISSED, *ASKED, MISSED._replace(path=OTHER, outcome="done")],
        [MISSED._replace(outcome="done"), MISSED, *ASKED, Access("r1", 2, "put", OTHER, False)],
        [MISSED._replace(path=REQUESTED), *ASKED],
    ],
    ids=["reads on and misses", "reads on", "writes", "missed a file that no actor deletes"],
)
def test_a_reader_that_goes_on_with_what_it_asked_for_is_found(segment: list[Access]) -> None:
    """A listing that anything follows, or that follows anything but a missing data file, is one of its own."""
    found = violations([BEGUN, PUBLISHED, *DELETED, *segment])
    assert len([sentence for sentence in found if "of r1 is not atomic" in sentence]) == 1
