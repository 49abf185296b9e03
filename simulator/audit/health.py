"""The cadence of a table's services: how old the last compaction, clean, archived instant and savepoint are, how many
logs a snapshot merges in one file group, and what is pending. Correctness is judged elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from nbcc.engine.audit import Audit
from nbcc.engine.clock import to_millis
from nbcc.engine.files.slices import to_read
from nbcc.engine.timeline import parse_instant

from .view import TableView

_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
METADATA: Final = ".hoodie/metadata/.hoodie/timeline/"

NAMES: Final[Mapping[str, str]] = {
    "compaction": "Age of the last compaction",
    "clean": "Age of the last clean",
    "archive": "Age of the oldest instant that is not archived",
    "savepoint": "Age of the newest savepoint",
    "logs": "The most logs that a snapshot merges in one file group",
    "pending": "Pending instants",
    "oldest-pending": "Age of the oldest pending instant",
    "metadata": "Lag of the metadata table behind the newest commit",
}
"""What is measured. Ages are seconds; `logs` and `pending` are counts."""
COUNTS: Final = ("logs", "pending")


@dataclass(frozen=True, slots=True)
class Cadence:
    """One measured value, with the threshold that the user gave. `value` is None if the table has nothing to measure,
    such as no compaction; a threshold then fails unless nothing is due.
    """

    name: str
    value: float | None
    threshold: float | None = None

    @property
    def about(self) -> str:
        return NAMES[self.name]

    @property
    def unit(self) -> str:
        return "" if self.name in COUNTS else "seconds"

    @property
    def metric(self) -> str:
        noun = self.name.replace("-", "_")
        return f"nbcc_{noun}" if self.name in COUNTS else f"nbcc_{noun}_age_seconds"

    @property
    def late(self) -> bool:
        return self.threshold is not None and self.value is not None and self.value > self.threshold

    @property
    def text(self) -> str:
        """The value as people read it, such as ``7 days``."""
        value = "none" if self.value is None else self._amount(self.value)
        return value if self.threshold is None else f"{value}, at most {self._amount(self.threshold)} allowed"

    def _amount(self, value: float) -> str:
        return f"{value:g}" if self.name in COUNTS else duration(value)


@dataclass(frozen=True, slots=True)
class Health:
    """The figures of a table."""

    figures: tuple[Cadence, ...] = ()

    @property
    def checked(self) -> tuple[Cadence, ...]:
        """The figures with a threshold."""
        return tuple(figure for figure in self.figures if figure.threshold is not None)

    @property
    def late(self) -> bool:
        """True if a threshold is exceeded."""
        return any(figure.late for figure in self.checked)


def thresholds(texts: Iterable[str]) -> dict[str, float]:
    """Parse thresholds such as ``compaction=7d`` and ``logs=50``. Raises ValueError for any other text."""
    found: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in NAMES:
            raise ValueError(f"{name!r} is not a figure; use {', '.join(NAMES)}")
        if name not in COUNTS:
            found[name] = seconds_of(value)
        elif value.isdecimal():
            found[name] = float(value)
        else:
            raise ValueError(f"{value!r} of {name} is not a whole number")
    return found


def seconds_of(text: str) -> float:
    """Parse a duration such as ``7d``. Raises ValueError for any other text."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a duration; use 90s, 5m, 2h or 7d")
    return float(match[1]) * _SECONDS[match[2]]


def duration(seconds: float) -> str:
    """Return a duration in the largest unit in which it is at least two, such as ``7 days``."""
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds // size)} {unit}s"
    return f"{int(seconds)} s"


def health_of(view: TableView, limits: Mapping[str, float]) -> Health:
    """Measure a table. `limits` maps names of figures to thresholds."""
    measured = dict(_measured(view))
    return Health(tuple(Cadence(name, measured.get(name), limits.get(name)) for name in NAMES))


def _measured(view: TableView) -> Iterator[tuple[str, float | None]]:
    audit, now = view.audit, _seconds(view.now)
    compactions = [c.instant.completed for c in audit.commits.values() if c.operation == "COMPACT"]
    cleans = [clean.instant.completed for clean in audit.cleans]
    done = [instant for instant in audit.timeline.completed if instant.action != "savepoint"]
    ages = {
        "compaction": max(filter(None, compactions), default=None),
        "clean": max(filter(None, cleans), default=None),
        "archive": min((instant.requested for instant in done), default=None),
        "savepoint": max(audit.savepoints, default=None),
        "oldest-pending": min((instant.requested for instant in audit.timeline.pending), default=None),
    }
    for name, time in ages.items():
        yield name, _age(time, now)
    yield "logs", max((len(piece.logs) for piece in to_read(view.slices, audit.rules)), default=0)
    yield "pending", len(audit.timeline.pending)
    yield "metadata", _metadata_lag(audit)


def _metadata_lag(audit: Audit) -> float | None:
    """Return how much older the newest instant of the metadata table is than the newest write of the table."""
    names = (path.removeprefix(METADATA) for path in audit.listing if path.startswith(METADATA))
    applied = [i.requested for name in names if (i := parse_instant(name)) and i.completed]
    newest = max((i.requested for i in audit.timeline.completed if i.writes), default=None)
    if not applied or newest is None:
        return None
    behind = _seconds(newest) - _seconds(max(applied)[: len(newest)])
    return max(0.0, behind)


def _age(time: str | None, now: float) -> float | None:
    try:
        return None if time is None else max(0.0, now - _seconds(time))
    except ValueError:
        return None


def _seconds(time: str) -> float:
    return to_millis(time) / 1000
