"""The answer to a why, as text for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from .why import Group, Line, Why

_WORDS = {"answers": "ANSWERS", "outranked": "kept, outranked", "superseded": "hidden", "hidden": "hidden"}


def render(found: Why) -> str:
    """In lines, a file group after the other; no newline at the end."""
    return "\n".join([*_head(found), *(line for group in found.groups for line in _group(found, group))])


def to_mapping(found: Why) -> dict[str, Any]:
    """The value of ``why --json``, without its ``format``; values that JSON has no type for are text."""
    return {
        "key": found.key,
        "rules": found.rules,
        "merge_mode": found.merge_mode,
        "as_of": found.as_of,
        "groups": [
            {
                "partition": group.partition,
                "file_group": group.file_id,
                "row": _plain(group.row),
                "answer": group.answer,
                "files": [_line_mapping(line) for line in group.lines],
            }
            for group in found.groups
        ],
    }


def _line_mapping(line: Line) -> dict[str, Any]:
    return {
        "file": line.path,
        "kind": line.kind,
        "requested": line.requested,
        "completed": line.completed,
        "slice": line.slice,
        "record": line.record,
        "ordering": _plain(line.ordering),
        "status": line.status,
        "because": line.because,
    }


def _head(found: Why) -> Iterator[str]:
    rules = "nbcc's" if found.rules == "nbcc" else "Hudi's"
    ordering = f" by {found.ordering}" if found.ordering else ""
    time = f", as of {found.as_of}" if found.as_of else ""
    yield f"key {found.key!r}: {rules} rules, {found.merge_mode}{ordering}{time}"
    if not found.groups:
        yield "  no file holds it"


def _group(found: Why, group: Group) -> Iterator[str]:
    yield ""
    yield f"{group.partition + '/' if group.partition else ''}{group.file_id}"
    for number, line in enumerate(group.lines, start=1):
        yield from _line(found, number, line)
    yield f"  answer: {group.answer}"
    if group.row is not None:
        yield "    " + ", ".join(f"{name} = {_shown(value)}" for name, value in group.row.items())


def _line(found: Why, number: int, line: Line) -> Iterator[str]:
    record = line.record + (f" {found.ordering} = {_shown(line.ordering)}" if found.ordering else "")
    yield f"  {number}. {line.kind} {line.path.rpartition('/')[2]}: {record}"
    piece = f"slice {line.slice}" if line.slice else "no slice" if _unsliced(line) else "slice before every barrier"
    yield f"     requested {line.requested}, completed {line.completed or '-'}, {piece}"
    yield f"     {_WORDS[line.status]}: {line.because}"


def _unsliced(line: Line) -> bool:
    return line.status == "hidden"


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
