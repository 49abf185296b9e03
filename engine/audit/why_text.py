"""Formats an explanation of a key's row (see `why`) as text for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import date, datetime
from typing import Any

from ..terminal import folded
from .ranking import shown
from .why import Why, WhyGroup, WhyLine

_WORDS = {"answers": "ANSWERS", "outranked": "outranked", "superseded": "superseded", "hidden": "hidden"}


def render(explanation: Why) -> str:
    """Return the explanation of a key's row as text, one file group after the other, without a newline at the end."""
    groups = (line for group in explanation.groups for line in _group(explanation, group))
    return "\n".join(folded([*_head(explanation), *groups]))


def to_mapping(explanation: Why) -> dict[str, Any]:
    """Return the JSON object that ``why --json`` prints, without the field ``format``. Values without a JSON type
    become strings.
    """
    return {
        "key": explanation.key,
        "rules": explanation.rules,
        "merge_mode": explanation.merge_mode,
        "as_of": explanation.as_of,
        "groups": [
            {
                "partition": group.partition,
                "file_group": group.file_id,
                "row": _plain(group.row),
                "answer": group.answer,
                "files": [{"file": line.path, **_plain(_without_path(line))} for line in group.lines],
            }
            for group in explanation.groups
        ],
    }


def _without_path(line: WhyLine) -> dict[str, Any]:
    values = asdict(line)
    del values["path"]
    return values


def _head(explanation: Why) -> Iterator[str]:
    rules = "nbcc's" if explanation.rules == "nbcc" else "Hudi's"
    ordering = f" by {explanation.ordering}" if explanation.ordering else ""
    time = f", as of {explanation.as_of}" if explanation.as_of else ""
    yield f"key {explanation.key!r}: {rules} rules, {explanation.merge_mode}{ordering}{time}"
    if not explanation.groups:
        yield "  no file holds it"


def _group(explanation: Why, group: WhyGroup) -> Iterator[str]:
    yield ""
    yield f"{group.partition + '/' if group.partition else ''}{group.file_id}"
    for number, line in enumerate(group.lines, start=1):
        yield from _line(explanation, number, line)
    yield f"  answer: {group.answer}"
    if group.row is not None:
        yield "    " + ", ".join(f"{name} = {shown(value)}" for name, value in group.row.items())


def _line(explanation: Why, number: int, line: WhyLine) -> Iterator[str]:
    record = line.record + (f" {explanation.ordering} = {shown(line.ordering)}" if explanation.ordering else "")
    sets = "" if line.sets is None else f", sets {', '.join(line.sets) or 'no column'}"
    yield f"  {number}. {line.kind} {line.path.rpartition('/')[2]}: {record}{sets}"
    others = "no slice" if line.status == "hidden" else "slice before every barrier"
    piece = f"slice {line.slice}" if line.slice else others
    yield f"     requested {line.requested}, completed {line.completed or '-'}, {piece}"
    yield f"     {_WORDS[line.status]}: {line.because}"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
