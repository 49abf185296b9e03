"""Phrases for writes, rows and keys, used in messages about violated promises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..kernel.table import Log, Write
from ..mechanisms.merge_function import MergedRecords, Value
from ..mechanisms.partial_updates import ROW, Made
from .oracle import Row


def write_named(write: Write | None, requested: int) -> str:
    """Return a phrase that names a write, such as "w1's write (requested t1, completed t3)". If `write` is None, the
    phrase contains only the requested time.
    """
    if write is None:
        return f"the write requested at t{requested}"
    which = f"write {write.number}" if write.number > 1 else "write"
    done = f"completed t{write.completed}" if write.completed is not None else "not completed"
    return f"{write.actor}'s {which} (requested t{write.requested}, {done})"


def several(parts: Iterable[str]) -> str:
    """Join phrases in the form "one, two and three"."""
    words = list(parts)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def log_named(log: Log, writes: Mapping[int, Write]) -> str:
    """Return a phrase for a log file: the actor that wrote it, followed by its version if that is not 1."""
    write = writes.get(log[0])
    owner = f"the write requested at t{log[0]}" if write is None else write.actor
    if write is not None and write.number > 1:
        owner += f" in write {write.number}"
    return owner if log[1] == 1 else f"{owner} in log version {log[1]}"


def _operation(row: Row) -> str:
    return "deletes" if row.deleted else f"sets {several(row.sets)}" if row.sets else "upserts"


def key_given(rows: Mapping[Log, Row], writes: Mapping[int, Write]) -> str:
    """Return a phrase that states the record of one key in each log."""
    operations = [
        f"{log_named(log, writes)} {_operation(row)} with ordering value {row.ordering}"
        for log, row in rows.items()
    ]
    return f"a key that {several(operations)}"


def row_of(shown: Log | Made | MergedRecords | None, writes: Mapping[int, Write]) -> str:
    """Return a phrase for the row that a read returns for one key."""
    if isinstance(shown, MergedRecords):
        return _merged_row(shown, writes)
    if isinstance(shown, Made):
        parts = [f"{name} of {log_named(log, writes)}" for name, log in shown.columns if name != ROW]
        parts += [] if shown.delete is None else [f"the delete of {log_named(shown.delete, writes)}"]
        return several(parts)
    return "no row" if shown is None else f"the row of {log_named(shown, writes)}"


def _merged_row(shown: MergedRecords, writes: Mapping[int, Write]) -> str:
    parts = []
    if shown.newest is not None:
        made, newest = _value(shown.value, writes), log_named(shown.newest, writes)
        parts.append(f"the row of {made}" if made == newest else f"{made} as of {newest}")
    if shown.delete is not None:
        parts.append(f"the delete of {log_named(shown.delete, writes)}")
    return several(parts)


def _value(value: Value, writes: Mapping[int, Write]) -> str:
    parts = [
        ", ".join(_value(each, writes) for each in part) if isinstance(part[0], tuple) else log_named(part, writes)
        for part in value
    ]
    return parts[0] if len(value) == 1 and not isinstance(value[0][0], tuple) else f"f({', '.join(parts)})"
