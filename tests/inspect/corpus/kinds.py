"""All kinds of the corpus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..golden import BAD
from . import data_files, properties, timelines
from .kind import Kind

_OF_OURS: Final[Mapping[str, tuple[str, str]]] = {
    "truncated-commit": ("SNAP TRAVEL INCR ATOM RO", ""),
    "swapped-commit": ("SNAP TRAVEL INCR ATOM RO", ""),
    "compaction-named-as-delta": ("QUIET PART MONO", "equal-times"),
    "rolled-back-and-completed": ("REC MONO", "no-time unreadable"),
    "completion-lost": ("", ""),
    "marks-lost": ("SNAP TRAVEL INCR RO", "unreadable"),
    "ordering-is-no-column": ("SNAP TRAVEL INCR RO", ""),
    "schema-is-none": ("SNAP TRAVEL INCR RO", ""),
    "metadata-table": ("", ""),
    "plan-gone": ("QUIET PROGRESS", ""),
    "a-time-that-is-none": ("MONO", ""),
    "instant-in-the-future": ("SNAP INCR MONO", ""),
    "equal-times": ("QUIET PART MONO", "log-in-two-slices"),
    "completed-before-requested": ("MONO", ""),
    "completed-twice": ("TRAVEL MONO", ""),
    "log-left-out-of-a-plan": ("SNAP INCR RO QUIET PART", "compaction-left-logs-out"),
    "bulk-insert-over-logs": ("SNAP INCR RO PART", ""),
    "plan-takes-a-later-log": ("QUIET PART", ""),
    "two-plans-take-one-log": ("QUIET PART", ""),
    "plan-before-the-last-completed": ("QUIET PART", ""),
    "merged-fewer-than-planned": ("SNAP INCR RO QUIET", ""),
    "plan-without-its-base": ("SNAP INCR RO QUIET PART", ""),
    "input-of-a-plan-gone": ("SNAP TRAVEL INCR CLEAN PROGRESS", "listed-file-missing"),
    "written-after-replace": ("SNAP INCR MONO", "no-time"),
    "oldest-log-pending": ("CLEAN", "writer-gone unreadable"),
    "log-gone": ("SNAP TRAVEL INCR", ""),
    "superseded-log-gone": ("TRAVEL INCR", ""),
    "longer-file": ("SNAP TRAVEL INCR", ""),
    "fewer-rows-than-listed": ("SNAP TRAVEL INCR", ""),
    "listed-under-a-wrong-name": ("SNAP TRAVEL INCR ATOM", ""),
    "forgotten-write": ("", ""),
    "late-attempt": ("", ""),
    "parquet-without-instant": ("", ""),
    "two-groups-in-a-bucket": ("KEY", ""),
    "bucket-out-of-range": ("SNAP TRAVEL INCR RO KEY", "properties-contradict"),
    "partition-not-marked": ("", ""),
    "uncommitted-base": ("MONO", "equal-times writer-gone"),
}
"""The promises that each bad table of ours breaks, and the rules that report consequences."""

_VERDICTS: Final = {"oldest-log-pending": "BROKEN", "uncommitted-base": "BROKEN"}
"""Verdicts that the consequences decide."""

KINDS: Final[Mapping[str, Kind]] = {
    **{
        f"ours: {name}": Kind(
            "ours MOR", bad.do, bad.rule, promises, bad.gravity, deep=True, also=also, verdict=_VERDICTS.get(name, "")
        )
        for name, bad in BAD.items()
        for promises, also in [_OF_OURS[name]]
    },
    **data_files.KINDS,
    **timelines.KINDS,
    **properties.KINDS,
}
