"""A scene is the content of a picture as values; pictures of tables and of traces use the same types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from .style import Hue

Ending = Literal["completed", "pending", "crashed"]
Status = Literal["read", "merged", "hidden", "pending"]


class Lane(NamedTuple):
    """A horizontal line of the timeline. `dots` contains the columns of a reader's steps, each with a sentence."""

    label: str
    hue: Hue
    dots: tuple[tuple[int, str], ...] = ()


class Bar(NamedTuple):
    """An instant from column `start` to column `end` of its lane.

    `begins` and `ends` are the times above the two ends of the bar. `content` is the text below the bar, and `lost`
    draws a ring around the end of the bar. A plan that another actor resumes has two bars. The first bar ends with a
    crash; `resumes` of the second bar is the lane of the first bar.
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
    """A timeline with its lanes and bars, and with its columns and their labels from left to right. `marked` is the
    highlighted column.
    """

    axis: str
    columns: tuple[str, ...]
    lanes: tuple[Lane, ...]
    bars: tuple[Bar, ...]
    marked: int | None = None
    caption: str = ""


class Chip(NamedTuple):
    """A file in a picture: `text`, then `at` in a smaller font, and each of the `notes` on a line below. `lost` marks a
    row that the reader misses.
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
    """A file slice. `order` is the position of the slice's barrier among all barriers; 0 if the slice is older than
    every barrier.

    `reason` explains why a hidden slice is not read.
    """

    name: str
    order: int
    barrier: str
    chips: tuple[Chip, ...]
    hidden: bool
    reason: str


class Group(NamedTuple):
    """A file group, its slices newest first."""

    label: str
    slices: tuple[Slice, ...]


class Files(NamedTuple):
    """All file groups in the picture."""

    groups: tuple[Group, ...]
    caption: str = ""


def cells(rows: Sequence[Sequence[Any]], with_ordering: bool = False, most: int = 2) -> str:
    """Return rows as text: ``k1=B``, ``delete k1``, ``k1=B k2=C …``, or ``k1=B ord 2`` with ordering values. A row is
    (key, value, ordering).
    """
    words = [
        (f"delete {shortened(key)}" if value is None else f"{shortened(key)}={shortened(value)}")
        + (f" ord {ordering}" if with_ordering else "")
        for key, value, ordering, *_ in rows[:most]
    ]
    return " ".join([*words, "…"] if len(rows) > most else words)


def shortened(text: str, most: int = 20) -> str:
    """Return the text, or the beginning of the text with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
