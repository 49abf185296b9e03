"""A toy table and its model: adders post to one list. An option plants a bug in the system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbcc.model import Query, Step, World
from nbcc.simulator.lockstep.mechanism import MappingRow
from nbcc.simulator.lockstep.systems import CannotStep

ROWS = [
    MappingRow("adder_takes_ticket", "post", starts=True),
    MappingRow("adder_posts", "post"),
]


class ToyModel:
    """The model. Its state: the adders that hold a ticket, and the posts. Several adders may hold tickets at once."""

    actors = ("a1", "a2")
    initial: tuple[Any, ...] = ((), ())
    world = World()

    def enabled(self, state: Any) -> list[Step]:
        tickets, posted = state
        idle = [a for a in self.actors if a not in tickets and posted.count(a) < 2]
        return [Step(a, "adder_takes_ticket") for a in idle] + [Step(a, "adder_posts") for a in tickets]

    def apply(self, state: Any, step: Step) -> Any:
        tickets, posted = state
        if step.action == "adder_takes_ticket":
            return (*tickets, step.actor), posted
        return tuple(a for a in tickets if a != step.actor), (*posted, step.actor)

    def timeline(self, state: Any) -> tuple[Any, ...]:
        return ()

    def slices(self, state: Any) -> tuple[Any, ...]:
        from nbcc.model import FileSlice

        return tuple(FileSlice(0, None, None, ((n, ord(a[1]) - 48),)) for n, a in enumerate(state[1]))

    def rows(self, state: Any, query: Query, data: Any) -> dict[Any, Any]:
        return {}


class ToySystem:
    """A list of posts. With the bug a post goes where the list ended when the ticket was taken: a lost update."""

    name = "toy"

    def __init__(self, bug: bool) -> None:
        self.bug = bug
        self.posts: list[str] = []

    def start(self, actor: str, operation: str, args: Mapping[str, Any]) -> ToyPost:
        return ToyPost(self, actor)

    def timeline(self) -> tuple[Any, ...]:
        return ()

    def slices(self) -> tuple[Any, ...]:
        return tuple((0, None, None, ((n, int(actor[1])),)) for n, actor in enumerate(self.posts))

    def rows(self, query: Query) -> tuple[Any, ...]:
        return ()


class ToyPost:
    """One post: take a ticket, write."""

    def __init__(self, table: ToySystem, actor: str) -> None:
        self.table, self.actor, self.place = table, actor, 0

    def step(self, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        if action == "adder_takes_ticket":
            self.place = len(self.table.posts)
        elif action == "adder_posts":
            self.table.posts[self.place if self.table.bug else len(self.table.posts) :] = [self.actor]
        else:
            raise CannotStep(f"a toy does not know {action}")
        return {}

    def crash(self) -> None:
        """Nothing to unwind."""
