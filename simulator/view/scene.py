"""Types that describe the content of a picture, for tables and for traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from .style import Hue

Ending = Literal["completed", "pending", "crashed"]
Status = Literal["read", "merged", "hidden", "pending"]


class Lane(NamedTuple):
    """One lane (row) of the timeline. `dots` contains the column and the description of each step of a reader, or of
    each step of a Flink job that no instant shows.
    """

    label: str
    hue: Hue
    dots: tuple[tuple[int, str], ...] = ()


class Bar(NamedTuple):
    """One instant on the timeline, drawn from column `start` to column `end` of its lane.

    `begins` and `ends` are the times above the ends of the bar; `content` is the text below the bar. If `lost` is True,
    a ring at the end of the bar marks the write, because a read wrongly omits or returns its row. `resumes` is the lane
    of a crashed actor whose plan this bar's actor resumes.
    """

    name: str
    lane: int
    start: int
    end: int
    ending: Ending
    begins: str
    ends: str
    content: str
    mono: bool = False
    barrier: bool = False
    lost: bool = False
    resumes: int | None = None


class Times(NamedTuple):
    """A timeline: its bars, its lanes, and the labels of its columns from left to right. `marked` is the index of the
    highlighted column.
    """

    axis: str
    columns: tuple[str, ...]
    lanes: tuple[Lane, ...]
    bars: tuple[Bar, ...]
    marked: int | None = None
    caption: str = ""


class Chip(NamedTuple):
    """A file in a picture. The picture shows `text`, followed by `at` in a smaller font, and each of `notes` on a
    separate line. `lost` is True for the file with the row that a read wrongly omits or returns.
    """

    name: str
    kind: Literal["base", "log"]
    text: str
    at: str
    notes: tuple[str, ...]
    hue: Hue
    status: Status
    lost: bool = False


class Slice(NamedTuple):
    """A file slice in a picture. `order` numbers the barriers of all file groups from 1 in chronological order; 0 means
    that the slice has no barrier.

    If the slice is hidden, `reason` explains why it is not read.
    """

    name: str
    order: int
    barrier: str
    chips: tuple[Chip, ...]
    hidden: bool
    reason: str


class Group(NamedTuple):
    """A file group in a picture, with its slices newest first."""

    label: str
    slices: tuple[Slice, ...]


class Files(NamedTuple):
    groups: tuple[Group, ...]
    caption: str = ""


def cells(rows: Sequence[Sequence[Any]], with_ordering: bool = False, most: int = 2) -> str:
    """Return rows (key, value, ordering) as text: ``k1=B``, ``delete k1``, ``k1=B k2=C …``, or ``k1=B ord 2`` with
    ordering values.
    """
    words = [
        (f"delete {shortened(key)}" if value is None else f"{shortened(key)}={shortened(value)}")
        + (f" ord {ordering}" if with_ordering else "")
        for key, value, ordering, *_ in rows[:most]
    ]
    return " ".join([*words, "…"] if len(rows) > most else words)


def shortened(text: str, most: int = 20) -> str:
    """Return the text, shortened with an ellipsis to at most `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
