"""The words in which pages tell of a run: who wrote a row, when it completed, which of two rows is the wrong one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from nbcc.model import Model, Protocol, Record
from nbcc.model.kernel.answers import Data

from .files import Files
from .rows import Case, Put

Parts = list[Any]
"""A sentence in pieces: text, or [text, requested time] where the text is coloured like that instant."""


class Setting(NamedTuple):
    """A run under one rule, with the case that is shown."""

    model: Model
    states: Sequence[Any]
    case: Case
    puts: Sequence[Put]
    files: Files

    @property
    def protocol(self) -> Protocol:
        return self.model.protocol


def published_at(setting: Setting, requested: int | None) -> int | None:
    """The step after which an instant is completed."""
    steps = range(len(setting.states))
    return next((step for step in steps if completed_at(setting, step, requested) is not None), None)


def completed_at(setting: Setting, step: int, requested: int | None) -> int | None:
    """When an instant completed, as the timeline of a step says; None: it has not."""
    timeline = setting.model.timeline(setting.states[step])
    return next((each.completed for each in timeline if each.requested == requested), None)


def culprit(setting: Setting, must: Record | None, got: Record | None) -> Record:
    """The row the thread follows: the one that should be read, or the one that is and should not be."""
    if must is None or (got is not None and _intrudes(setting, got)):
        assert got is not None, "two absent rows do not differ"
        return got
    return must


def _intrudes(setting: Setting, got: Record) -> bool:
    """Whether a row is read that no read of this kind may hold: not completed, completed later, or a changed answer."""
    completed = completed_at(setting, len(setting.states) - 1, got.requested)
    until = setting.case.reading.query.until
    return setting.case.reading.stable or completed is None or (until is not None and completed > until)


def by_ordering(setting: Setting, lost: Record, got: Record) -> bool:
    """Whether ordering values decide between two rows, not which write completed last."""
    return setting.model.merger.event_time and lost.ordering > got.ordering


def ranked(data: Data) -> bool:
    """Whether ordering values decide anything: there are two."""
    records = (record for files in data.values() for rows in files.values() for record in rows.values())
    return len({record.ordering for record in records}) > 1


def actor_of(setting: Setting, record: Record) -> str:
    """Who wrote a row."""
    return next(put.actor for put in setting.puts if put.requested == record.requested)


def says_read(case: Case) -> str:
    """A read by its name: `snapshot`, `read as of t5`, `incremental read (t2, t5]`."""
    kind, says = case.reading.query.kind, case.reading.says()
    if kind == "as_of":
        return f"read {says}"
    return says.replace(" ", " read ", 1) if kind in ("incremental", "changes") else says


def says_put(key: Any, record: Record) -> Parts:
    """`a=1`, or of a delete the key alone, in the colour of its instant."""
    return [[str(key) if record.deleted else f"{key}={record.value}", record.requested]]


def says_row(key: Any, record: Record | None) -> Parts:
    """What a read shows of a key."""
    if record is None or record.deleted:
        return [f"nothing for {key}"]
    return says_put(key, record)
