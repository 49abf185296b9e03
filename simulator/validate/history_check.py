"""Is a table's history possible, under which setting, and if not, why not?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms.insert_overwrite import OVERWRITER
from nbcc.model.mechanisms.log_compaction.log_compactor import LOG_COMPACTOR

from .history import histories
from .judge import MOST_REFUSALS, judge, protocols
from .parallel import judge_in_parallel
from .play import Refused
from .segments import Segment
from .view import View

BIG: Final = 200_000
"""So many data files are worth the second that another process takes to begin."""

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
class HistoryCheck:
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


def check_history(view: View, progress: Progress = lambda what, done, of: None, workers: int = 1) -> HistoryCheck:
    """Hold the history of a table against the model. Its own setting: nbcc's default, or that of Hudi.

    `workers`: how many processes share the file groups of a big table.
    """
    own = "default" if view.found.own else "hudi-1.2.0"
    told = histories(view)

    def played(done: int) -> None:
        progress("file groups", done, len(told.playable))

    judged = judge_in_parallel(told, own, played, workers - 1) if workers > 1 and len(view.counted) >= BIG else None
    if judged is None or judged.refusals >= MOST_REFUSALS:  # who had so many would have stopped earlier by itself
        judged = judge(told.groups, own, played)
    instants = view.found.timeline.instants
    notes = (
        [f"{judged.unplanned} base files written without a compaction are taken as they are"]
        if judged.unplanned
        else []
    )
    if view.found.archived:
        notes.append(f"{len(view.found.archived)} archived instants are part of the history")
    return HistoryCheck(
        own=own,
        legal=tuple(name for name in protocols() if name not in judged.refusing),
        excluded=tuple(sorted(judged.refusing)),
        refusal=None if judged.earliest is None else _told(*judged.earliest, view),
        instants=len(instants),
        groups=len(told.playable),
        played=judged.played,
        shapes=len(judged.shapes),
        left_out=dict(told.left_out),
        notes=tuple(notes),
    )


def _told(time: str, segment: Segment, refused: Refused, view: View) -> Refusal:
    partition, file_id = segment.group
    return Refusal(
        time=time,
        group=f"{partition}/{file_id}" if partition else file_id,
        event=_event(segment, refused.event),
        before=sum(instant.requested < time for instant in view.found.timeline.instants),
        reasons=tuple(_named(reason, segment) for reason in refused.reasons),
        enabled=tuple(dict.fromkeys(_named(sentence, segment) for sentence in refused.enabled)),
    )


def _event(segment: Segment, number: int) -> str:
    kind, who = segment.shape.events[number]
    match kind:
        case "request" | "complete":
            return f"the write {segment.writes[who]} {'requests its instant' if kind == 'request' else 'completes'}"
        case "compact logs" | "logs compacted":
            done = "is planned" if kind == "compact logs" else "completes"
            return f"the log compaction {segment.log_plans[who]} {done}"
        case "replace" | "replaced":
            return f"the replace {segment.plans[who]} {'is planned' if kind == 'replace' else 'completes'}"
    return f"the plan {segment.plans[who]} {'is made' if kind == 'plan' else 'completes'}"


def _named(sentence: str, segment: Segment) -> str:
    """A sentence with the actors of the segment as the instants that they stand for."""
    actors = {
        WRITER.prefix: ("write", segment.writes), COMPACTOR.prefix: ("compaction", segment.plans),
        OVERWRITER.prefix: ("replace", segment.plans), LOG_COMPACTOR.prefix: ("log compaction", segment.log_plans),
    }  # fmt: skip

    def name(found: re.Match[str]) -> str:
        kind, times = actors[found[1]]
        number = int(found[2]) - 1
        if number >= len(times):
            return found[0]
        return f"the {kind} {times[number]}" if times[number] else "another write"

    return re.sub(rf"\b({'|'.join(actors)})(\d+)\b", name, sentence)
