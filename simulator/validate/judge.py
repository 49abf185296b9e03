"""Judging histories of file groups: every segment is played under every setting, equal shapes once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from nbcc.model import Protocol
from nbcc.model.mechanisms.shared_logs import SharedLogs
from nbcc.model.variants.order import Order
from nbcc.model.variants.slicing import Slicing

from .. import specs
from .history import GroupHistory
from .play import Refused, play, traced
from .segments import Segment, Shape, segments_by_axes

MOST_REFUSALS: Final = 100


class Judgement(NamedTuple):
    """What was found of some file groups. `refusing`: the settings under which they are not possible.

    `refusals` counts the segments that the own setting refuses, `earliest` is the one with the smallest time, which
    comes with it. After `MOST_REFUSALS` no more is played, and no setting is left.
    `given`: base files that no plan made.
    """

    played: int = 0
    unplanned: int = 0
    refusals: int = 0
    shapes: frozenset[Shape] = frozenset()
    refusing: frozenset[str] = frozenset()
    earliest: tuple[str, Segment, Refused] | None = None

    def joined(self, other: Judgement) -> Judgement:
        """This and what was found of other file groups; of refusals at one time that of the first group counts."""
        both = [each for each in (self.earliest, other.earliest) if each is not None]
        earliest = min(both, key=lambda refusal: (refusal[0], refusal[1].group), default=None)
        counts = (self.played + other.played, self.unplanned + other.unplanned, self.refusals + other.refusals)
        return Judgement(*counts, self.shapes | other.shapes, self.refusing | other.refusing, earliest)


def judge(groups: Iterable[GroupHistory], own: str, progress: Callable[[int], None] = lambda done: None) -> Judgement:
    """Hold file groups, by name in rising order, against all settings; `own` is the one that they are to follow."""
    judging = _Judging(own)
    for done, history in enumerate(groups):
        progress(done)
        judging.group(history)
    return judging.judged()


@cache
def protocols() -> Mapping[str, Protocol]:
    """The settings that a table can be held against, the default first. Equal ones are one object, and played once."""
    named = {name: traced(specs.protocol(name)) for name in specs.protocol_names()}
    ours = ("completion", "requested", "temporal")  # elsewhere logs have other names, or are shared by many writes
    alike: dict[Protocol, Protocol] = {}
    there = {n: p for n, p in named.items() if p[Slicing].slicing in ours and p[SharedLogs].log_layout == "own"}
    return {n: alike.setdefault(p, p) for n, p in there.items()}


class _Judging:
    """`left` are the settings that are not refused yet; `earliest` is what the own one refuses first."""

    def __init__(self, own: str) -> None:
        self.own = own
        self.left = dict(protocols())
        self.shapes: dict[tuple[Shape, tuple[str, ...]], Mapping[str, Refused]] = {}
        self.played = 0
        self.refusals = 0
        self.unplanned = 0
        self.earliest: tuple[str, Segment, Refused] | None = None

    def judged(self) -> Judgement:
        shapes = frozenset(shape for shape, _ in self.shapes)
        refusing = frozenset(protocols().keys() - self.left.keys())
        return Judgement(self.played, self.unplanned, self.refusals, shapes, refusing, self.earliest)

    def group(self, history: GroupHistory) -> None:
        self.unplanned += sum(plan.unplanned for plan in history.plans)
        for segment, axes in segments_by_axes(history) if self.refusals < MOST_REFUSALS else ():
            self._segment(segment, axes)
        if self.refusals >= MOST_REFUSALS:
            self.left.clear()  # nobody has held the rest against them

    def _segment(self, segment: Segment, axes: tuple[str, ...]) -> None:
        self.played += 1
        key = segment.shape, axes
        refusals = self.shapes.get(key)
        if refusals is None:
            refusals = self.shapes[key] = dict(self._refusals(*key))
        if self.own in refusals:
            self._remember(segment, refusals[self.own])
        for name in refusals:
            self.left.pop(name, None)

    def _refusals(self, shape: Shape, axes: tuple[str, ...]) -> Iterator[tuple[str, Refused]]:
        """The settings that refuse a shape, of those that order neighbours by one of the axes, and are not out yet."""
        for name in {self.own: 0, **self.left}:
            protocol = protocols()[name]
            if protocol[Order].merge_order in axes and (refused := play(shape, protocol)) is not None:
                yield name, refused

    def _remember(self, segment: Segment, refused: Refused) -> None:
        self.refusals += 1
        time = segment.times[refused.event]
        if self.earliest is None or time < self.earliest[0]:
            self.earliest = time, segment, refused
