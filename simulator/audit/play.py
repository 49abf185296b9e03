"""Replays a segment (a short part of a history) on the model. The recorded times determine the order of all events, so
the replay need not search other orders.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from nbcc.model import Model, Protocol, State, Step, World
from nbcc.model.kernel.compactor import (
    COMPACTOR,
    COMPACTOR_RESUMES_PLAN,
    COMPACTOR_SCHEDULES_PLAN,
    COMPACTOR_STARTS_PLAN,
)
from nbcc.model.kernel.publication import publication_actions
from nbcc.model.kernel.writer import WRITER, WRITER_REQUESTS_INSTANT, WRITER_WRITES_LOG
from nbcc.model.machine.mechanism import Kind
from nbcc.model.mechanisms.crashes import ACTOR_CRASHES
from nbcc.model.mechanisms.insert_overwrite import OVERWRITER
from nbcc.model.mechanisms.log_compaction.mechanism import LOG_COMPACTOR, LOG_COMPACTOR_RESUMES_PLAN
from nbcc.model.mechanisms.requests.mechanism import PUTS_REQUEST
from nbcc.model.variants.completion import Completion

from ..lockstep.mechanisms import traceless
from .segments import Event, SegmentShape

MIN_ACTORS: Final = 8
"""Most segments have at most this many writers and plans. Models are rounded up to it, so that segments share one."""

COMPLETES: Final[Mapping[str, Kind]] = {
    "complete": WRITER, "done": COMPACTOR, "replaced": OVERWRITER, "logs compacted": LOG_COMPACTOR,
}  # fmt: skip
"""The kind of the actor that completes each kind of event."""


class RefusedEvent(NamedTuple):
    """An event that the model does not allow. `event` is the event's index in the segment, and `reasons` are the
    violated conditions.

    `enabled` contains a sentence for each step that the model allows at this point. The name w1 denotes the first write
    of the segment.
    """

    event: int
    reasons: tuple[str, ...]
    enabled: tuple[str, ...]


TRACELESS: Final = frozenset(traceless())
"""Options that leave no trace in the times, plans and file names of a segment."""


def traced(protocol: Protocol) -> Protocol:
    """Return the protocol with default values for all options that cannot be inferred from a table's files. Two
    protocols allow the same histories if this function returns equal protocols for them.
    """
    standard = Protocol().to_mapping()
    return Protocol.from_mapping({**protocol.to_mapping(), **{name: standard[name] for name in TRACELESS}})


NOT_IN_HISTORIES = {ACTOR_CRASHES, COMPACTOR_RESUMES_PLAN, LOG_COMPACTOR_RESUMES_PLAN}
"""A timeline shows neither who died nor who took up the plan of another actor."""


@lru_cache(maxsize=1 << 17)
def play(shape: SegmentShape, protocol: Protocol) -> RefusedEvent | None:
    """Replay a segment under a protocol. `shape` contains the segment's events. Returns the first refused event, or
    None if the model allows every event.
    """
    if _Play(shape, protocol, MIN_ACTORS).refused() is None:
        return None
    return _Play(shape, protocol).refused()


@lru_cache(maxsize=1 << 10)
def _model(versions: tuple[int, ...], plans: int, replaces: bool, log_plans: int, protocol: Protocol) -> Model:
    """Return the model of one file group in which each writer writes once."""
    actors = {WRITER.name: len(versions), COMPACTOR.name: plans}
    if replaces:
        actors[OVERWRITER.name] = plans
    if log_plans:
        actors[LOG_COMPACTOR.name] = log_plans
    world = World(
        bounded=False,  # a plan may take any number of logs
        actors=actors,
        compactions=plans,
        log_compactions=log_plans,
        writes={(WRITER.actor(w + 1), 1): (count,) for w, count in enumerate(versions)},
    )
    return Model(world, protocol)


class _Play:
    def __init__(self, shape: SegmentShape, protocol: Protocol, min_actors: int = 1) -> None:
        self.shape = shape
        replaces = any(event.kind == "replace" for event in shape.events)
        versions = (*shape.versions, *[1] * (-len(shape.versions) % min_actors))
        plans, log_plans = (count + -count % min_actors for count in (len(shape.plans), len(shape.log_plans)))
        self.model = _model(versions, plans, replaces, log_plans, protocol)
        self.late = protocol[Completion].completion_time == "outside_lock"
        self.state: State = self.model.initial
        self.requested: dict[int, int] = {}  # tick -> write, or -1 - log compaction
        self.unpublished: list[str] = []
        self.tied = False

    def refused(self) -> RefusedEvent | None:
        for number, event in enumerate(self.shape.events):
            if reasons := self._timed(number, event):
                enabled = (step for step in self.model.enabled(self.state) if step.action not in NOT_IN_HISTORIES)
                return RefusedEvent(number, reasons, tuple(map(self.model.describe, enabled)))
        return None

    def _timed(self, number: int, event: Event) -> tuple[str, ...]:
        """Replay an event. A tied event (recorded with the same time as the previous event) is refused if the model's
        clock advances.
        """
        before = self.model.component(self.state, "clock")
        self.tied = number in self.shape.tied
        reasons = self._event(event)
        if self.tied and not reasons and self.model.component(self.state, "clock") != before:
            return ("its time must not be that of the event before it",)
        return reasons

    def _event(self, event: Event) -> tuple[str, ...]:
        match event.kind:
            case "request":
                return self._request(event.actor)
            case "plan":
                return self._plan(event.actor)
            case "replace":
                return self._replace(OVERWRITER.actor(event.actor + 1))
            case "compact logs":
                return self._log_plan(event.actor)
        kind = COMPLETES[event.kind]
        return self._complete(kind.actor(event.actor + 1), kind)

    def _request(self, write: int) -> tuple[str, ...]:
        actor = WRITER.actor(write + 1)
        if reasons := self._advance(actor, WRITER_REQUESTS_INSTANT, PUTS_REQUEST):
            return reasons
        self.requested[self.model.component(self.state, actor).requested] = write
        if write < len(self.shape.early) and self.shape.early[write]:
            for _ in range(self.shape.versions[write]):
                if reasons := self._advance(actor, WRITER_WRITES_LOG):
                    return reasons
        return ()

    def _complete(self, actor: str, kind: Kind) -> tuple[str, ...]:
        if not self.model.is_busy(actor, self.model.component(self.state, actor)):
            return (f"{actor} must have begun before it completes",)
        _, takes_time, publishes = (action.name for action in publication_actions(kind.name))
        if not self.late:
            return self._advance(actor, publishes)
        if reasons := self._advance(actor, takes_time):
            return reasons
        if kind is WRITER and self._may_publish_late(actor):
            self.unpublished.append(actor)
            return ()
        return self._advance(actor, publishes)

    def _may_publish_late(self, actor: str) -> bool:
        """True if no plan of the segment includes a log of the given actor's write."""
        write = int(actor.removeprefix(WRITER.prefix)) - 1
        taken = (*(plan.logs for plan in self.shape.plans), *self.shape.log_plans)
        return write < len(self.shape.early) and all(w != write for logs in taken for w, _ in logs)

    def _plan(self, plan: int) -> tuple[str, ...]:
        actor, wanted = COMPACTOR.actor(plan + 1), self.shape.plans[plan]
        if reasons := self._advance(actor, COMPACTOR_SCHEDULES_PLAN):
            return reasons
        if reasons := self._publish_late_writes():
            return reasons
        if self.shape.inflight[plan] and (reasons := self._advance(actor, COMPACTOR_STARTS_PLAN)):
            return reasons
        if wanted.unplanned:
            return ()
        made = self.model.component(self.state, "plans")[-1].groups[0]
        return tuple(_differences(self._named(made.logs), wanted.logs)) + (
            () if wanted.base_is_last else ("a plan must start from the newest base file of its file group",)
        )

    def _publish_late_writes(self) -> tuple[str, ...]:
        for late in self.unpublished:
            if reasons := self._advance(late, "writer_publishes_instant"):
                return reasons
        self.unpublished.clear()
        return ()

    def _replace(self, actor: str) -> tuple[str, ...]:
        if reasons := self._advance(actor, "overwriter_schedules_replace"):
            return reasons
        barriers = [plan.requested for plan in self.model.component(self.state, "plans")]
        made = self.model.component(self.state, actor).requested in barriers
        return () if made else (f"{actor} must name the file groups that it replaces, and make no plan",)

    def _log_plan(self, number: int) -> tuple[str, ...]:
        actor = LOG_COMPACTOR.actor(number + 1)
        if reasons := self._advance(actor, "log_compactor_schedules_plan"):
            return reasons
        if reasons := self._publish_late_writes():
            return reasons
        plan = self.model.component(self.state, "log_plans")[-1]
        self.requested[plan.requested] = -1 - number
        return tuple(_differences(self._named(plan.groups[0].logs), self.shape.log_plans[number]))

    def _named(self, logs: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
        named = [(self.requested[requested], version) for requested, version in logs]
        return [log for log in named if log[0] < len(self.shape.early)]

    def _advance(self, actor: str, *until: str) -> tuple[str, ...]:
        """Take steps of the actor up to one of the actions `until`."""
        while True:
            steps = [(s.action, after) for s, after in self.model.successors_of(self.state, actor) if self._takes(s)]
            wanted = next((after for action, after in steps if action in until), None)
            if wanted is not None:
                self.state = wanted
                return ()
            if not steps:
                return self.model.refusal(self.state, Step(actor, until[0])) or (f"{actor} cannot go on to {until[0]}",)
            self.state = steps[0][1]

    def _takes(self, step: Step) -> bool:
        """True if a history may contain the step, and the step repeats the previous time if and only if the replayed
        event does.
        """
        ahead = dict(step.args).get("ahead")
        return step.action not in NOT_IN_HISTORIES and (ahead is None or (ahead == -1) == self.tied)


def _differences(made: list[tuple[int, int]], wanted: tuple[tuple[int, int], ...]) -> list[str]:
    """Return sentences that describe how the logs of the table's plan differ from the logs of the model's plan."""
    differences = [
        f"{_log_name(log)} must be taken: it completed before the barrier, in the newest slice"
        for log in made
        if log not in wanted
    ]
    differences += [
        f"{_log_name(log)} must not be taken: it did not complete before the barrier, in that slice"
        for log in wanted
        if log not in made
    ]
    if not differences and made != list(wanted):
        differences = [f"logs must be merged in this order: {_ordered(made)}, not {_ordered(wanted)}"]
    return differences


def _log_name(log: tuple[int, int]) -> str:
    actor, version = log
    return (
        f"the log {version} of {WRITER.actor(actor + 1)}" if actor >= 0 else f"the log of {LOG_COMPACTOR.actor(-actor)}"
    )


def _ordered(logs: list[tuple[int, int]] | tuple[tuple[int, int], ...]) -> str:
    return ", ".join(
        f"{WRITER.actor(actor + 1)}.{version}" if actor >= 0 else LOG_COMPACTOR.actor(-actor) for actor, version in logs
    )
