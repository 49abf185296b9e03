"""The policy of services: which values it refuses, and the options of Hudi that make one."""

from __future__ import annotations

import pytest

from nbcc.engine.config.maintenance import MaintenancePolicy, inline_policy
from nbcc.engine.data_source.options import write_options
from nbcc.engine.errors import BadInput, NbccError


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"compact_logs": 0}, "whole number from 1 on"),
        ({"compaction": "sometimes"}, "the values are run, plan, off"),
        ({"clean": 1}, "a service is on or off"),
        ({"clean_policy": "KEEP"}, "the policies are KEEP_LATEST_COMMITS"),
        ({"archive_least": 30}, "archive_least is 30"),
        ({"batch_hours": None}, "whole number from 1 on"),
    ],
)
def test_a_policy_refuses_values_that_mean_nothing(given: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        MaintenancePolicy(**given)  # type: ignore[arg-type]


def refused(name: str, value: str, needed: str) -> NbccError:
    return BadInput(name, value, needed)


def test_options_of_hudi_make_a_policy() -> None:
    assert inline_policy({}, refused) is None
    assert inline_policy({"hoodie.compact.inline": "false", "hoodie.clean.automatic": "false"}, refused) is None
    inline = inline_policy({"hoodie.compact.inline": "true"}, refused)
    assert inline is not None
    assert (inline.compaction, inline.compact_commits, inline.compact_seconds) == ("run", 5, None)
    assert (inline.rollback, inline.clean, inline.archive, inline.collect) == (False, False, False, False)
    timed = {"hoodie.compact.schedule.inline": "true", "hoodie.compact.inline.trigger.strategy": "NUM_OR_TIME"}
    planner = inline_policy(timed, refused)
    assert planner is not None
    assert (planner.compaction, planner.compact_commits, planner.compact_seconds) == ("plan", 5, 3600)
    hours = {"hoodie.clean.automatic": "true", "hoodie.cleaner.policy": "KEEP_LATEST_BY_HOURS"}
    cleaner = inline_policy(hours, refused)
    assert cleaner is not None
    assert (cleaner.clean_policy, cleaner.clean_retained, cleaner.compaction) == ("KEEP_LATEST_BY_HOURS", 24, "off")
    archiver = inline_policy({"hoodie.archive.automatic": "true", "hoodie.keep.min.commits": "40"}, refused)
    assert archiver is not None
    assert (archiver.archive_least, archiver.archive_most) == (40, 41)


@pytest.mark.parametrize(
    ("option", "value", "needed"),
    [
        ("hoodie.compact.inline", "yes", "true or false"),
        ("hoodie.clean.commits.retained", "0", "a whole number from 1 on"),
        ("hoodie.compact.inline.trigger.strategy", "NUM_AND_TIME", "NUM_COMMITS, TIME_ELAPSED or NUM_OR_TIME"),
        ("hoodie.keep.max.commits", "5", "a number above hoodie.keep.min.commits, which is 20"),
        ("compaction.async.enabled", "false", "that is Flink's name"),
    ],
)
def test_options_of_services_that_mean_nothing_are_refused(option: str, value: str, needed: str) -> None:
    with pytest.raises(BadInput, match=needed):
        write_options({"path": "t", option: value})
