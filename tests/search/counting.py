"""A system without a table: two workers count under a lock."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from nbcc.model.machine.binding import ParameterNames
from nbcc.model.machine.composition import Composition
from nbcc.model.machine.state import Coding
from nbcc.model.machine.stepper import Stepper
from nbcc.model.machine.transition import Changes, Guard, transition

WORKERS = ("w1", "w2")


class Worker(NamedTuple):
    step: str = "idle"
    records: tuple[Any, ...] = ()


def is_free(lock: str | None) -> bool:
    return lock is None


def take(me: str) -> Changes:
    return {"lock": me}


def count_up(count: int) -> Changes:
    return {"count": count + 1}


def double(count: int) -> Changes:
    return {"count": count * 2}


def release() -> Changes:
    return {"lock": None}


def note(count: int) -> Changes:
    return {"noted": count}


def never() -> bool:
    return False


NEVER = Guard("this must never happen", never)


def protocol_of(me: str) -> Any:
    return f"protocol of {me}"


def system() -> Composition:
    """Two workers. Each takes the lock, counts, and releases the lock."""
    protocol: Any = "protocol"  # no rule of this system reads an option
    composition = Composition("world", protocol, {"worker": WORKERS}, protocol_of, {})
    composition.add_component("lock", None)
    composition.add_component("count", 1)
    composition.add_component("noted", 0)
    for me in WORKERS:
        composition.add(
            transition("takes", me, at="idle", to="holding", guards=(Guard("the lock must be free", is_free),),
                       effect=take, changes=("own", "lock"), tags=("under lock",)),
            transition("counts", me, at="holding", to="done", effect=count_up, changes=("own", "count"),
                       tags=("under lock",)),
            transition("releases", me, at="done", to="idle", effect=release, changes=("own", "lock")),
        )  # fmt: skip
    composition.begin("a mechanism", ())
    return composition


class Ran:
    """The system after some actions of the worker w1."""

    def __init__(self, composition: Composition, *actions: str) -> None:
        records = tuple(composition.fields.get("worker", {}).values())
        first = {**composition.components, **{me: Worker(records=records) for me in WORKERS}}
        names = ParameterNames(first, composition.actors, lambda me: {}, composition.views,
                      composition.fields)  # fmt: skip
        self.coding = Coding(first)
        self.stepper = Stepper(self.coding, [names.bind(each) for each in composition.transitions.values()])
        self.state = 0
        for action in actions:
            self.state = next(after for step, after in self._steps() if step.action == action)

    def _steps(self) -> Iterable[tuple[Any, int]]:
        return self.stepper.steps_of(self.coding.place["w1"], self.state)

    @property
    def possible(self) -> list[str]:
        """The actions of w1 that are possible now."""
        return list(dict.fromkeys(step.action for step, _ in self._steps()))

    @property
    def arguments(self) -> list[dict[str, object]]:
        """The arguments of its steps that are possible now."""
        return [dict(step.args) for step, _ in self._steps()]

    def __getitem__(self, name: str) -> Any:
        return self.coding.value(self.state, self.coding.place[name])
