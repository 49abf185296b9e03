"""Checks histories of file groups: replays short parts (segments) of each history under every protocol. Segments that
differ only in their times are replayed only once.
"""

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
from .play import RefusedEvent, play, traced
from .segments import Segment, SegmentShape, segments_by_axes

MAX_REFUSALS: Final = 100


class Judgement(NamedTuple):
    """The combined result of replaying the histories of several file groups. `refusing` contains the protocols under
    which at least one segment is impossible.

    `played` is the number of replayed segments (short parts of a history). `refusals` is the number of segments that
    are impossible under the protocol implied by the table's properties. `unplanned` is the number of base files without
    a compaction plan. `earliest` describes the earliest event that the model refuses: its time, the segment that
    contains it, and the violated conditions. Replaying stops after `MAX_REFUSALS` refusals. Then `refusing` contains
    every protocol, because no protocol is known to allow the remaining segments.
    """

    played: int = 0
    unplanned: int = 0
    refusals: int = 0
    shapes: frozenset[SegmentShape] = frozenset()
    refusing: frozenset[str] = frozenset()
    earliest: tuple[str, Segment, RefusedEvent] | None = None

    def joined(self, other: Judgement) -> Judgement:
        """Return one verdict that combines the verdicts on two sets of file groups. If two refusals have the same time,
        the refusal in the first file group is reported.
        """
        both = [each for each in (self.earliest, other.earliest) if each is not None]
        earliest = min(both, key=lambda refusal: (refusal[0], refusal[1].group), default=None)
        counts = (self.played + other.played, self.unplanned + other.unplanned, self.refusals + other.refusals)
        return Judgement(*counts, self.shapes | other.shapes, self.refusing | other.refusing, earliest)


def judge(
    groups: Iterable[GroupHistory],
    own: str,
    progress: Callable[[int], None] = lambda done: None,
    candidates: Mapping[str, Protocol] | None = None,
) -> Judgement:
    """Replay the histories of file groups on the model under the candidates, by default all protocols. `own` names the
    protocol that the table's properties imply, which is one of them.
    """
    judging = _Judging(own, protocols() if candidates is None else candidates)
    for done, history in enumerate(groups):
        progress(done)
        judging.group(history)
    return judging.judgement()


def alone(name: str) -> Mapping[str, Protocol]:
    """Return one protocol, without reading the files of the others."""
    return {name: traced(specs.protocol(name))}


@cache
def protocols() -> Mapping[str, Protocol]:
    """Return the protocols under which a table's history is replayed, the default first."""
    named = {name: traced(specs.protocol(name)) for name in specs.protocol_names()}
    # Under other protocols logs have other names, or several writes share one.
    slicings = ("completion", "requested", "temporal")
    equal: dict[Protocol, Protocol] = {}
    playable = {n: p for n, p in named.items() if p[Slicing].slicing in slicings and p[SharedLogs].log_layout == "own"}
    return {n: equal.setdefault(p, p) for n, p in playable.items()}


class _Judging:
    def __init__(self, own: str, candidates: Mapping[str, Protocol]) -> None:
        self.own = own
        self.candidates = candidates
        self.left = dict(candidates)
        self.shapes: dict[tuple[SegmentShape, tuple[str, ...]], Mapping[str, RefusedEvent]] = {}
        self.played = 0
        self.refusals = 0
        self.unplanned = 0
        self.earliest: tuple[str, Segment, RefusedEvent] | None = None

    def judgement(self) -> Judgement:
        shapes = frozenset(shape for shape, _ in self.shapes)
        refusing = frozenset(self.candidates.keys() - self.left.keys())
        return Judgement(self.played, self.unplanned, self.refusals, shapes, refusing, self.earliest)

    def group(self, history: GroupHistory) -> None:
        self.unplanned += sum(plan.unplanned for plan in history.plans)
        for segment, axes in segments_by_axes(history) if self.refusals < MAX_REFUSALS else ():
            self._segment(segment, axes)
        if self.refusals >= MAX_REFUSALS:
            self.left.clear()  # the rest was not played under them

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

    def _refusals(self, shape: SegmentShape, axes: tuple[str, ...]) -> Iterator[tuple[str, RefusedEvent]]:
        for name in {self.own: 0, **self.left}:
            protocol = self.candidates[name]
            if protocol[Order].merge_order in axes and (refused := play(shape, protocol)) is not None:
                yield name, refused

    def _remember(self, segment: Segment, refused: RefusedEvent) -> None:
        self.refusals += 1
        time = segment.times[refused.event]
        if self.earliest is None or time < self.earliest[0]:
            self.earliest = time, segment, refused
