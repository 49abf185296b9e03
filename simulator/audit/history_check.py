"""Checks whether the model can produce a table's history, and under which protocols. If the model cannot produce the
history, the result names the first event that the model refuses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from nbcc.engine.audit.amounts import several
from nbcc.engine.audit.record import Progress, no_progress
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms.insert_overwrite import OVERWRITER
from nbcc.model.mechanisms.log_compaction.mechanism import LOG_COMPACTOR

from .history import histories
from .judge import MAX_REFUSALS, alone, judge, protocols
from .parallel import judge_in_parallel
from .play import RefusedEvent
from .segments import Segment
from .view import TableView

BIG: Final = 200_000
"""From this number of data files on, a second process saves more than the second that it takes to start."""


@dataclass(frozen=True)
class RefusedHistory:
    """The first event that the model refuses in a table's history: the time, the file group, and the violated
    conditions.

    `before` is the number of instants that were requested before the refused event. `enabled` contains the steps that
    the model allows at this point.
    """

    time: str
    group: str
    event: str
    before: int
    reasons: tuple[str, ...]
    enabled: tuple[str, ...]


@dataclass(frozen=True)
class HistoryCheck:
    """The result of checking a table's history. `own` names the protocol that the table's properties imply. The history
    is possible under exactly the protocols in `legal`.

    `refusal` is the first event that the model refuses under the protocol `own`, or None. `left_out` maps each reason
    why the model does not support a file group to the number of such file groups. `plain` is the number of file groups
    with base files of writes alone, in which there is nothing to play. `played` is the number of replayed
    segments (short parts of histories). `shapes` is the number of distinct segments if their times are ignored.
    """

    own: str
    legal: tuple[str, ...]
    excluded: tuple[str, ...]
    refusal: RefusedHistory | None
    instants: int
    groups: int
    played: int
    shapes: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    plain: int = 0
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        if self.refusal is not None:
            return "BROKEN"
        return "UNDETERMINED" if self.left_out or not (self.groups or self.plain) else "OK"


def check_history(
    view: TableView, progress: Progress = no_progress, workers: int = 1, rivals: bool = True
) -> HistoryCheck:
    """Replay the history of a table on the model. The table properties determine whether the table should follow nbcc's
    default protocol or Hudi's protocol.

    `workers` is the number of processes that share the file groups of a big table. If `rivals` is False, the history is
    replayed under no other protocol.
    """
    own = "default" if view.audit.own else "hudi-1.2.0"
    candidates = protocols() if rivals else alone(own)
    groups = histories(view)
    count = len(groups.playable)

    def played(done: int) -> None:
        progress("file groups", done, count)

    parallel = workers > 1 and len(view.counted) >= BIG
    judgement = judge_in_parallel(groups, own, played, workers - 1) if parallel else None
    if judgement is None or judgement.refusals >= MAX_REFUSALS:  # one process would have stopped earlier
        judgement = judge(groups.groups, own, played, candidates)
    instants, archived = view.audit.timeline.instants, len(view.audit.archived)
    notes = []
    if judgement.unplanned:
        notes.append(f"not checked: how {several(judgement.unplanned, 'base file')} without a compaction came about")
    if groups.plain:
        notes.append(f"nothing to play: {several(groups.plain, 'file group')} without logs and plans")
    if archived:
        notes.append(f"the history includes {several(archived, 'archived instant')}")
    return HistoryCheck(
        own=own,
        legal=tuple(name for name in candidates if name not in judgement.refusing),
        excluded=tuple(sorted(judgement.refusing)),
        refusal=None if judgement.earliest is None else _refusal(*judgement.earliest, view),
        instants=len(instants),
        groups=count,
        played=judgement.played,
        shapes=len(judgement.shapes),
        left_out=dict(groups.left_out),
        plain=groups.plain,
        notes=tuple(notes),
    )


def _refusal(time: str, segment: Segment, refused: RefusedEvent, view: TableView) -> RefusedHistory:
    partition, file_id = segment.group
    return RefusedHistory(
        time=time,
        group=f"{partition}/{file_id}" if partition else file_id,
        event=_event(segment, refused.event),
        before=sum(instant.requested < time for instant in view.audit.timeline.instants),
        reasons=tuple(_with_instants(reason, segment) for reason in refused.reasons),
        enabled=tuple(dict.fromkeys(_with_instants(sentence, segment) for sentence in refused.enabled)),
    )


def _event(segment: Segment, number: int) -> str:
    kind, actor = segment.shape.events[number]
    match kind:
        case "request" | "complete":
            return f"the write {segment.writes[actor]} {'requests its instant' if kind == 'request' else 'completes'}"
        case "compact logs" | "logs compacted":
            done = "is planned" if kind == "compact logs" else "completes"
            return f"the log compaction {segment.log_plans[actor]} {done}"
        case "replace" | "replaced":
            return f"the replace {segment.plans[actor]} {'is planned' if kind == 'replace' else 'completes'}"
    return f"the plan {segment.plans[actor]} {'is made' if kind == 'plan' else 'completes'}"


def _with_instants(sentence: str, segment: Segment) -> str:
    actors = {
        WRITER.prefix: ("write", segment.writes), COMPACTOR.prefix: ("compaction", segment.plans),
        OVERWRITER.prefix: ("replace", segment.plans), LOG_COMPACTOR.prefix: ("log compaction", segment.log_plans),
    }  # fmt: skip

    def name(actor: re.Match[str]) -> str:
        kind, times = actors[actor[1]]
        number = int(actor[2]) - 1
        if number >= len(times):
            return actor[0]
        return f"the {kind} {times[number]}" if times[number] else "another write"

    return re.sub(rf"\b({'|'.join(actors)})(\d+)\b", name, sentence)
