"""Playing a piece on the model. Nothing is searched: the times order the events, an actor's private steps follow."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from nbcc.model import Model, Protocol, State, Step, World

from .pieces import Event, Shape


class Refused(NamedTuple):
    """The model cannot go on at the event with this number; `reasons` are the conditions that were false.

    `enabled` is what it could have done, in sentences with actors as in the piece (w1 is its first write).
    """

    event: int
    reasons: tuple[str, ...]
    enabled: tuple[str, ...]


ONLY_READS: Final = ("as_of_axis", "incremental_axis", "tombstones", "listing", "read_time", "fold")
"""Choices that leave no trace in times, plans and file names."""


def traced(protocol: Protocol) -> Protocol:
    """The protocol with the default for each choice that leaves no trace: equal ones allow equal histories."""
    standard = Protocol().to_mapping()
    return Protocol.from_mapping({**protocol.to_mapping(), **{name: standard[name] for name in ONLY_READS}})


@lru_cache(maxsize=1 << 17)
def play(shape: Shape, protocol: Protocol) -> Refused | None:
    """Play a piece under a protocol (made by `traced`); None if the model can do all of it."""
    return _Play(shape, protocol).refused()


@lru_cache(maxsize=1 << 10)
def _model(versions: tuple[int, ...], plans: int, protocol: Protocol) -> Model:
    """The model of one file group in which each writer writes once: pieces with as many of both share it."""
    world = World(
        actors={"writer": len(versions), "compactor": plans},
        compactions=plans,
        writes={(f"w{w + 1}", 1): (count,) for w, count in enumerate(versions)},
    )
    return Model(world, protocol)


class _Play:
    def __init__(self, shape: Shape, protocol: Protocol) -> None:
        self.shape = shape
        self.model = _model(shape.versions, len(shape.plans), protocol)
        self.late = protocol.completion_time == "outside_lock"
        self.state: State = self.model.initial
        self.requested: dict[int, int] = {}  # tick -> write
        self.unpublished: list[str] = []

    def refused(self) -> Refused | None:
        for number, event in enumerate(self.shape.events):
            if reasons := self._event(event):
                enabled = (step for step in self.model.enabled(self.state) if step.action != "actor_crashes")
                return Refused(number, reasons, tuple(map(self.model.describe, enabled)))
        return None

    def _event(self, event: Event) -> tuple[str, ...]:
        if event.kind == "request":
            return self._request(event.who)
        if event.kind == "plan":
            return self._plan(event.who)
        if event.kind == "complete":
            return self._complete(f"w{event.who + 1}", "writer")
        return self._complete(f"c{event.who + 1}", "compactor")

    def _request(self, write: int) -> tuple[str, ...]:
        actor = f"w{write + 1}"
        if reasons := self._advance(actor, "writer_requests_instant"):
            return reasons
        self.requested[self.model.component(self.state, actor).requested] = write
        if write < len(self.shape.early) and self.shape.early[write]:
            for _ in range(self.shape.versions[write]):
                if reasons := self._advance(actor, "writer_writes_log"):
                    return reasons
        return ()

    def _complete(self, actor: str, kind: str) -> tuple[str, ...]:
        """Under the lock the time is taken and published at once; outside it, what publishes late is seen late."""
        if not self.model.component(self.state, actor).busy:
            return (f"{actor} must have begun before it completes",)
        if not self.late:
            return self._advance(actor, f"{kind}_publishes_instant")
        if reasons := self._advance(actor, f"{kind}_takes_completion_time"):
            return reasons
        if kind == "writer" and self._left_behind(actor):
            self.unpublished.append(actor)
            return ()
        return self._advance(actor, f"{kind}_publishes_instant")

    def _left_behind(self, actor: str) -> bool:
        """Whether no plan of the piece took the write: it may have been published after the next plan was made."""
        write = int(actor[1:]) - 1
        return write < len(self.shape.early) and all(w != write for plan in self.shape.plans for w, _ in plan.logs)

    def _plan(self, plan: int) -> tuple[str, ...]:
        actor, wanted = f"c{plan + 1}", self.shape.plans[plan]
        if reasons := self._advance(actor, "compactor_schedules_plan"):
            return reasons
        for late in self.unpublished:
            if reasons := self._advance(late, "writer_publishes_instant"):
                return reasons
        self.unpublished.clear()
        if self.shape.inflight[plan] and (reasons := self._advance(actor, "compactor_starts_plan")):
            return reasons
        if wanted.given:
            return ()
        made = self.model.component(self.state, "plans")[-1].groups[0]
        logs = [(self.requested[requested], version) for requested, version in made.logs]
        return tuple(_differences([log for log in logs if log[0] < len(self.shape.early)], wanted.logs)) + (
            () if wanted.base_is_last else ("a plan must start from the newest base file of its file group",)
        )

    def _advance(self, actor: str, until: str) -> tuple[str, ...]:
        """Let an actor go on, one private step after the other, until it has done `until`."""
        while True:
            steps = [s for s in self.model.enabled(self.state) if s.actor == actor and s.action != "actor_crashes"]
            wanted = next((step for step in steps if step.action == until), None)
            step = wanted or (steps[0] if steps else None)
            if step is None:
                return self.model.refusal(self.state, Step(actor, until)) or (f"{actor} cannot go on to {until}",)
            self.state = self.model.apply(self.state, step)
            if wanted is not None:
                return ()


def _differences(made: list[tuple[int, int]], wanted: tuple[tuple[int, int], ...]) -> list[str]:
    """What must be so of a plan's logs and is not; a write is w1, w2, … of the piece."""
    found = [
        f"the log {version} of w{write + 1} must be taken: it completed before the barrier, in the newest slice"
        for write, version in made
        if (write, version) not in wanted
    ]
    found += [
        f"the log {version} of w{write + 1} must not be taken: it did not complete before the barrier, in that slice"
        for write, version in wanted
        if (write, version) not in made
    ]
    if not found and made != list(wanted):
        found = [f"logs must be merged in this order: {_ordered(made)}, not {_ordered(wanted)}"]
    return found


def _ordered(logs: list[tuple[int, int]] | tuple[tuple[int, int], ...]) -> str:
    return ", ".join(f"w{write + 1}.{version}" for write, version in logs)
