"""Is a table's history possible? Every piece is played under every setting; equal shapes are played once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from nbcc.model import Protocol

from .. import specs
from .history import Histories, histories
from .pieces import Piece, Shape, pieces_by_axes
from .play import Refused, play, traced
from .view import View

MOST_REFUSALS: Final = 100
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Refusal:
    """Where the model cannot go on: the event's time and file group, what was false; `before` instants are legal."""

    time: str
    group: str
    event: str
    before: int
    reasons: tuple[str, ...]
    enabled: tuple[str, ...]


@dataclass(frozen=True)
class Possible:
    """`own` is the setting that the table is to follow. `legal` are those under which its history is, `excluded` not.

    `refusal` is the first one under `own`, None if there is none. `left_out`: reason -> file groups that the model
    does not know how to tell. `notes` say what was taken as given.
    """

    own: str
    legal: tuple[str, ...]
    excluded: tuple[str, ...]
    refusal: Refusal | None
    instants: int
    groups: int
    played: int
    shapes: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        if self.refusal is not None:
            return "BROKEN"
        return "UNDETERMINED" if self.left_out or not self.groups else "OK"


def possible(view: View, progress: Progress = lambda what, done, of: None) -> Possible:
    """Hold the history of a table against the model. Its own setting: nbcc's default, or that of Hudi."""
    own = "default" if view.found.own else "hudi-1.2.0"
    told = histories(view)
    judge = _Judge(own, progress)
    judge.groups(told)
    instants = view.found.timeline.instants
    notes = [f"{judge.given} base files that no compaction wrote are taken as given"] if judge.given else []
    if view.found.archived:
        notes.append(f"{len(view.found.archived)} archived instants are part of the history")
    return Possible(
        own=own,
        legal=tuple(judge.settings),
        excluded=tuple(sorted(judge.all.keys() - judge.settings.keys())),
        refusal=None if judge.earliest is None else _told(*judge.earliest, view),
        instants=len(instants),
        groups=len(told.told),
        played=judge.played,
        shapes=len({shape for shape, _ in judge.shapes}),
        left_out=dict(told.left_out),
        notes=tuple(notes),
    )


@cache
def _settings() -> Mapping[str, Protocol]:
    """The settings that a table can be held against, the default first. Equal ones are one object, and played once."""
    named = {name: traced(specs.protocol(name)) for name in specs.protocol_names()}
    ours = ("completion", "requested", "temporal")  # elsewhere logs have other names, or are shared by many writes
    alike: dict[Protocol, Protocol] = {}
    return {n: alike.setdefault(p, p) for n, p in named.items() if p.slicing in ours and p.log_layout == "own"}


class _Judge:
    """`settings` are those that are not refused yet; `earliest` is what the own one refuses first."""

    def __init__(self, own: str, progress: Progress) -> None:
        self.own = own
        self.progress = progress
        self.all = _settings()
        self.settings = dict(self.all)
        self.shapes: dict[tuple[Shape, tuple[str, ...]], Mapping[str, Refused]] = {}
        self.played = 0
        self.refusals = 0
        self.given = 0
        self.earliest: tuple[str, Piece, Refused] | None = None

    def groups(self, told: Histories) -> None:
        for done, history in enumerate(told.groups):
            self.progress("file groups", done, len(told.told))
            self.given += sum(plan.given for plan in history.plans)
            for piece, axes in pieces_by_axes(history) if self.refusals < MOST_REFUSALS else ():
                self._piece(piece, axes)
            if self.refusals >= MOST_REFUSALS:
                self.settings.clear()  # nobody has held the rest against them

    def _piece(self, piece: Piece, axes: tuple[str, ...]) -> None:
        self.played += 1
        key = piece.shape, axes
        refusals = self.shapes.get(key)
        if refusals is None:
            refusals = self.shapes[key] = dict(self._refusals(*key))
        if self.own in refusals:
            self._remember(piece, refusals[self.own])
        for name in refusals:
            self.settings.pop(name, None)

    def _refusals(self, shape: Shape, axes: tuple[str, ...]) -> Iterator[tuple[str, Refused]]:
        """The settings that refuse a shape, of those that order neighbours by one of the axes, and are not out yet."""
        for name in {self.own: 0, **self.settings}:
            protocol = self.all[name]
            if protocol.merge_order in axes and (refused := play(shape, protocol)) is not None:
                yield name, refused

    def _remember(self, piece: Piece, refused: Refused) -> None:
        self.refusals += 1
        time = piece.times[refused.event]
        if self.earliest is None or time < self.earliest[0]:
            self.earliest = time, piece, refused


def _told(time: str, piece: Piece, refused: Refused, view: View) -> Refusal:
    partition, file_id = piece.group
    return Refusal(
        time=time,
        group=f"{partition}/{file_id}" if partition else file_id,
        event=_event(piece, refused.event),
        before=sum(instant.requested < time for instant in view.found.timeline.instants),
        reasons=tuple(_named(reason, piece) for reason in refused.reasons),
        enabled=tuple(dict.fromkeys(_named(sentence, piece) for sentence in refused.enabled)),
    )


def _event(piece: Piece, number: int) -> str:
    kind, who = piece.shape.events[number]
    match kind:
        case "request" | "complete":
            return f"the write {piece.writes[who]} {'requests its instant' if kind == 'request' else 'completes'}"
        case "compact logs" | "logs compacted":
            done = "is planned" if kind == "compact logs" else "completes"
            return f"the log compaction {piece.log_plans[who]} {done}"
        case "replace" | "replaced":
            return f"the replace {piece.plans[who]} {'is planned' if kind == 'replace' else 'completes'}"
    return f"the plan {piece.plans[who]} {'is made' if kind == 'plan' else 'completes'}"


def _named(sentence: str, piece: Piece) -> str:
    """A sentence with the actors of the piece as the instants that they stand for."""
    actors = {
        "w": ("write", piece.writes), "c": ("compaction", piece.plans), "o": ("replace", piece.plans),
        "m": ("log compaction", piece.log_plans),
    }  # fmt: skip

    def name(found: re.Match[str]) -> str:
        kind, times = actors[found[1]]
        number = int(found[2]) - 1
        if number >= len(times):
            return found[0]
        return f"the {kind} {times[number]}" if times[number] else "another write"

    return re.sub(r"\b([wcom])(\d+)\b", name, sentence)
