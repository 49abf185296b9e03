"""Instants and their file names (timeline layout 2, docs/hudi-format.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from .. import html

HOME: Final = ".hoodie/timeline"
"""The folder of the active timeline."""

State = Literal["requested", "inflight", "completed"]

COMPLETES_AS: Final = {"compaction": "commit", "logcompaction": "deltacommit", "clustering": "replacecommit"}
"""Pending action -> action of the completed file, for actions where the two differ."""

WRITE_ACTIONS: Final = frozenset(
    {"commit", "deltacommit", "replacecommit", "compaction", "logcompaction", "clustering"}
)
"""Actions that add data files."""

ACTIONS: Final = WRITE_ACTIONS | {"clean", "rollback", "savepoint", "restore", "indexing"}

PENDING: Final[tuple[State, State]] = ("inflight", "requested")
"""States before completion, the later one first."""

COLUMNS: Final = ("action", "state", "requested", "completed")
"""Column heads of a table of instants."""

_COMPLETED: Final = re.compile(r"(\d+)_(\d+)\.([a-z]+)")
_PENDING: Final = re.compile(r"(\d+)(?:\.([a-z]+))?\.(requested|inflight)")
_LEGACY: Final = re.compile(r"(\d+)\.([a-z]+)")


@dataclass(frozen=True, slots=True)
class Instant:
    """An instant of the timeline: an action with its requested time and its state.

    `action` is the action in the file name: ``compaction`` for a pending compaction, ``commit`` for a completed one.
    `completed` is the completion time; None for a requested or inflight instant.
    """

    requested: str
    action: str
    state: State
    completed: str | None = None

    @property
    def completes_as(self) -> str:
        """The action that the instant has after completion, such as ``commit`` for ``compaction``."""
        return COMPLETES_AS.get(self.action, self.action)

    @property
    def key(self) -> tuple[str, str]:
        """The requested time and the completed action, which identify the instant."""
        return self.requested, self.completes_as

    @property
    def writes(self) -> bool:
        """Return whether the instant's action adds data files."""
        return self.action in WRITE_ACTIONS

    @property
    def file_name(self) -> str:
        """The name of the instant's file in the timeline folder."""
        if self.state == "completed":
            return f"{self.requested}_{self.completed}.{self.action}"
        # Hudi's oldest file name, from a time when commits were the only action.
        if self.action == "commit" and self.state == "inflight":
            return f"{self.requested}.inflight"
        return f"{self.requested}.{self.action}.{self.state}"

    @property
    def row(self) -> tuple[object, ...]:
        """The values of the instant, in the order of the columns in `COLUMNS`."""
        return self.action, self.state, self.requested, self.completed

    def __str__(self) -> str:
        """Return a description such as ``deltacommit requested 2026…, completed 2026…`` or ``…, inflight``."""
        reached = {"requested": "", "inflight": ", inflight", "completed": f", completed {self.completed}"}
        return f"{self.action} requested {self.requested}{reached[self.state]}"

    def _repr_html_(self) -> str:
        return html.table(COLUMNS, [self.row])


@lru_cache(maxsize=1 << 12)
def parse_instant(name: str) -> Instant | None:
    """Return the instant that a file name in the timeline folder represents; None for other names, which readers
    ignore.
    """
    if match := _COMPLETED.fullmatch(name):
        requested, completed, action = match.groups()
        return Instant(requested, action, "completed", completed) if action in ACTIONS else None
    if match := _PENDING.fullmatch(name):
        requested, action, state = match.groups()
        if action is None and state == "inflight":
            return Instant(requested, "commit", "inflight")
        if action in ACTIONS:
            return Instant(requested, action, "inflight" if state == "inflight" else "requested")
    return None


def is_layout_1(name: str) -> bool:
    """Return whether `name` is the file name of a completed instant in timeline layout 1, which has no completion
    times.
    """
    match = _LEGACY.fullmatch(name)
    return match is not None and match[2] in ACTIONS
