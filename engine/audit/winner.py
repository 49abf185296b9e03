"""Determines which record a read returns for a key, and by which rule every other record of the key is outranked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..data.layers import MergeRule
from ..data.merge import merge
from .key_records import NUMBER, KeyRecord


def winner(records: Sequence[KeyRecord], rule: MergeRule) -> KeyRecord | None:
    """Return the record that wins when the engine merges `records` (in merge order). Returns None if `records` is
    empty.
    """
    if not records:
        return None
    merged = merge([record.layer for record in records], rule)
    [number] = merged.rows[NUMBER].to_pylist() + merged.deletes[NUMBER].to_pylist()
    return next(record for record in records if _number(record) == number)


def _number(record: KeyRecord) -> int:
    part = record.layer.rows if len(record.layer.rows) else record.layer.deletes
    return int(part[NUMBER][0].as_py())


def outranked(loser: KeyRecord, best: KeyRecord, rule: MergeRule, merge_order: str) -> str:
    """Return a phrase that explains why the record `best` wins over the record `loser`. `merge_order` selects the time
    ("completion" or "requested") that orders the logs of a slice.
    """
    name = rule.ranked_by
    if name is None:
        return f"commit time: {_later(loser, best, merge_order)}"
    if best.ordering is None and best.record == "delete":
        return f"a delete without a value of {name} outranks every earlier record"
    if loser.ordering is None and loser.record == "delete":
        return f"every later record outranks a delete without a value of {name}"
    if best.ordering > loser.ordering:
        return f"event time: {name} {_shown(loser.ordering)} is smaller than {_shown(best.ordering)}"
    if best.ordering == loser.ordering:
        return f"event time: {name} is {_shown(best.ordering)} in both, and {_later(loser, best, merge_order)}"
    return f"a delete without a value of {name} came after it, among the logs"


def _later(loser: KeyRecord, best: KeyRecord, merge_order: str) -> str:
    mine, other = loser.placement.file, best.placement.file
    if mine.path == other.path:
        return "the answer comes later in the same file"
    if loser.placement.kind != "log" and best.placement.kind == "log":
        return "a log of the slice is later than its base file"
    if loser.placement.kind != best.placement.kind:
        return "the deletes that a compaction keeps rank after its base file"
    if mine.requested == other.requested:
        return "the answer is in a later file of the same write"
    times = (other.requested, "requested") if merge_order == "requested" else (other.completed, "completed")
    return f"the answer was {times[1]} later, at {times[0]}"


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)
