"""States for each record of a key whether the answer of a read comes from it, and by which rule.

Each function asks the engine's own merge which records win: the record numbers are merged along with the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from ..data.layers import Merged, MergeRule
from ..data.merge import merge
from ..data.partial import contributing, merge_columns
from .key_records import NUMBER, KeyRecord

Part = Literal["answers", "outranked"]

_GREATEST = "it has the greatest rank"


class RankedRecord(NamedTuple):
    """The part of a record in the answer, and the reason."""

    part: Part
    because: str


def ranking(records: Sequence[KeyRecord], rule: MergeRule, merge_order: str) -> list[RankedRecord]:
    """Return the part of each record in the answer. `records` are all records of one key that a read merges, in merge
    order. `merge_order` selects the time ("completion" or "requested") that orders the logs of a slice.
    """
    if not records:
        return []
    if rule.function:
        return _by_function(records, rule)
    if rule.partial:
        return _by_column(records, rule)
    return _by_record(records, rule, merge_order)


def _by_record(records: Sequence[KeyRecord], rule: MergeRule, merge_order: str) -> list[RankedRecord]:
    winners = _numbers(merge([record.layer for record in records], rule))
    best = next(record for record in records if record.number == winners[0])
    because = _GREATEST if len(records) > 1 else "it is the only record that is merged for this key"

    def part(record: KeyRecord) -> RankedRecord:
        if record is best:
            return RankedRecord("answers", because)
        return RankedRecord("outranked", _outranked(record, best, rule, merge_order))

    return [part(record) for record in records]


def _numbers(merged: Merged) -> list[int]:
    """Return the numbers of the winning records, rows before deletes."""
    return [int(n) for part in (merged.rows, merged.deletes) for n in part[NUMBER].to_pylist()]


# partial updates


def _by_column(records: Sequence[KeyRecord], rule: MergeRule) -> list[RankedRecord]:
    numbered = replace(rule, always=(*rule.always, NUMBER))
    layers = [record.layer for record in records]
    winners = contributing(layers, numbered)
    supplied = {n: each.sets for each in winners for n in each.rows[NUMBER].to_pylist()}
    if not supplied:
        [best] = merge_columns(layers, numbered).deletes[NUMBER].to_pylist()
        lost = RankedRecord("outranked", "a delete of the key outranks it")
        return [RankedRecord("answers", _GREATEST) if record.number == best else lost for record in records]
    deletes = {n for each in winners for n in each.deletes[NUMBER].to_pylist()}
    parts = []
    for record in records:
        if record.number in supplied:
            parts.append(RankedRecord("answers", _supplies(supplied[record.number], record)))
        else:
            parts.append(RankedRecord("outranked", _no_column(record, records, deletes, numbered)))
    return parts


def _supplies(columns: frozenset[str] | None, record: KeyRecord) -> str:
    if columns is None:
        return "the answer takes all columns from it"
    if not columns:
        return f"{_GREATEST}, and every column that it sets has a later value" if record.sets else _GREATEST
    return f"the answer takes {', '.join(sorted(columns))} from it"


def _no_column(loser: KeyRecord, records: Sequence[KeyRecord], deletes: set[int], rule: MergeRule) -> str:
    if loser.deletes:
        return "records of greater rank set the row again"
    if loser.layer.base and not loser.layer.kept and any(record.layer.kept for record in records):
        return "the compaction also kept the records from which it merged this row"
    contenders = [record.layer for record in records if record is loser or record.number in deletes]
    if not len(merge_columns(contenders, rule).rows):
        return "a delete of the key outranks it"
    return "each column that it sets has a value of greater rank"


# a merge function


def _by_function(records: Sequence[KeyRecord], rule: MergeRule) -> list[RankedRecord]:
    """The function merges all rows after the last delete, in merge order."""
    last = max((place for place, record in enumerate(records) if len(record.layer.deletes)), default=-1)
    merged = range(last + 1, len(records))
    several = f"the function {rule.function} merges it" if len(merged) > 1 else "no other row is merged for this key"

    def part(place: int) -> RankedRecord:
        if place in merged:
            return RankedRecord("answers", several)
        if place == last and not merged:
            return RankedRecord("answers", "it is the last record of the key")
        later = "a row" if place == last else "a delete of the key"
        return RankedRecord("outranked", f"{later} came after it")

    return [part(place) for place in range(len(records))]


# why a record loses against another


def _outranked(loser: KeyRecord, best: KeyRecord, rule: MergeRule, merge_order: str) -> str:
    name = rule.ranked_by
    if name is None:
        return f"commit time: {_later(loser, best, merge_order)}"
    if best.ordering is None and best.deletes:
        return f"a delete without a value of {name} outranks every earlier record"
    if loser.ordering is None and best.ordering is not None:
        if loser.deletes:
            return f"every later record outranks a delete without a value of {name}"
        return f"event time: it has no value of {name}, and the answer has {shown(best.ordering)}"
    if best.ordering == loser.ordering:
        return f"event time: {name} is {shown(best.ordering)} in both, and {_later(loser, best, merge_order)}"
    is_smaller = best.ordering is not None and best.ordering > loser.ordering
    smaller = f"event time: {name} {shown(loser.ordering)} is smaller than {shown(best.ordering)}"
    return smaller if is_smaller else f"a delete without a value of {name} came after it, among the logs"


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


def shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)
