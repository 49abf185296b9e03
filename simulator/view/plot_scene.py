"""What is drawn, as values: one kind of scene for tables and for traces."""

from __future__ import annotations

from typing import Literal, NamedTuple

from .style import Hue

Ending = Literal["completed", "pending", "crashed"]
Status = Literal["read", "merged", "hidden", "pending"]


class Lane(NamedTuple):
    """A horizontal line of the timeline."""

    label: str
    hue: Hue


class Bar(NamedTuple):
    """An instant from column `start` to column `end` of its lane; `says` stands below it, `lost` rings its end."""

    lane: int
    start: int
    end: int
    ending: Ending
    begins: str
    ends: str
    says: str
    mono: bool = False
    barrier: bool = False
    lost: bool = False


class Times(NamedTuple):
    """A timeline: columns from left to right with their labels. `marked` is the column that is looked at."""

    axis: str
    columns: tuple[str, ...]
    lanes: tuple[Lane, ...]
    bars: tuple[Bar, ...]
    marked: int | None = None
    caption: str = ""


class Chip(NamedTuple):
    """A file: `text` with a small `at` behind it, `note` below. The row in a `lost` one is what the reader misses."""

    kind: Literal["base", "log"]
    text: str
    at: str
    note: str
    hue: Hue
    status: Status
    lost: bool = False


class Slice(NamedTuple):
    """`order` places the barrier among all barriers, 0 is before all of them; `reason` says why it is not read."""

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
    """All file groups that are shown."""

    groups: tuple[Group, ...]
    caption: str = ""


def cells(rows: list[list[object]], most: int = 2) -> str:
    """``k1=B``, ``delete k1``, ``k1=B k2=C …``."""
    shown = [f"delete {key}" if value is None else f"{key}={value}" for key, value, *_ in rows[:most]]
    return " ".join([*shown, "…"] if len(rows) > most else shown)
