"""The transition system: one table of rows, from which enabled, apply, successors and refusals all come.

A state is a number that stands for the values of all components within this Model (`machine.state`). It means nothing
to another Model.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, TypeVar

from . import assembly, mechanisms
from .answers import Change, Cleaned, Data, Query, Record, Several, answer
from .assembly import rules_of
from .kernel.table import Instant, Table, Write
from .kernel.timeline import ACTIVE, PENDING, SETTLED, TABLE, UNPUBLISHED
from .machine.bound import Bound, BoundTransition
from .machine.limits import LimitChecker
from .machine.state import Coding, State
from .machine.stepper import Stepper
from .machine.transition import DEAD, Action, Refused, Step
from .mechanisms.cleaning.rules import opened, published_horizon, since
from .mechanisms.restores.rules import Restore, hides
from .mechanisms.savepoints import Savepoint
from .protocol import Protocol
from .slices import FileSlice, file_slices
from .world import World

Value = TypeVar("Value")
CLOCKS = {"0": "", "-1": " within the second of the last one"}


class Model:
    """Every behaviour of one world under one protocol. Pure: nothing but memos changes in it."""

    def __init__(self, world: World, protocol: Protocol | None = None) -> None:
        self.world = world
        self.protocol = protocol or Protocol()
        self.rules = rules_of(self.protocol)
        self.merger = self.rules.merger(world)
        self.composition = assembly.compose(world, self.protocol)
        self.actors: Mapping[str, tuple[str, ...]] = self.composition.actors
        first = assembly.first_values(self.composition)
        self.components = tuple(first)
        self.coding = Coding(first, [names for names in self.actors.values() if names])
        self._everybody = tuple(chain.from_iterable(self.actors.values()))
        self._idle_steps = {me: self.composition.idle_steps[kind] for kind, some in self.actors.items() for me in some}
        parts = mechanisms.every().values()
        self._actions: dict[str, Action] = {action.name: action for part in parts for action in part.actions}
        self._services = frozenset(a.name for part in parts for a in part.actions if part.service or a.service)
        self._names = assembly.names_of(self.composition, world, self.protocol)
        rows = assembly.bound(self.composition, self._names)
        observed = (ACTIVE, PENDING, UNPUBLISHED, TABLE, SETTLED)
        self._views: dict[Hashable, Bound] = {name: self._names.view(name) for name in observed}
        # At the granularity `call` whoever is in the midst of what one call does goes on before anybody else.
        self.continuations = frozenset(
            a.name for a in self._actions.values() if a.continues_call and world.granularity == "call"
        )
        self.stepper = Stepper(self.coding, rows, continuations=self.continuations)
        self._by_name = {(c.transition.actor, c.transition.action): c for c in self.stepper.rows}
        if len(self._by_name) < len(rows):
            raise ValueError("two rows describe the same action of the same actor")
        self._limits = LimitChecker(self.coding, self.stepper.rows)
        self._derived: dict[Hashable, Any] = {}
        self._footprints: dict[tuple[str, ...], tuple[int, list[int]]] = {}

    def actors_of(self, kind: str) -> tuple[str, ...]:
        """The actors of a kind; none if the world has none."""
        return self.actors.get(kind, ())

    @property
    def transitions(self) -> tuple[BoundTransition, ...]:
        """The table of actions, for tests and pictures."""
        return tuple(compiled.transition for compiled in self.stepper.rows)

    @property
    def initial(self) -> State:
        """The state in which nothing has happened."""
        return 0

    @property
    def shard_key(self) -> tuple[str, Callable[[Any], Hashable]] | None:
        """The component in which runs part for good, and which way each value of it went (None: not yet). None where
        nothing stays: a restore takes back what was published."""
        return None if "published" in self.composition.withdrawn else ("published", _first_published)

    def successors(self, state: State) -> Iterator[tuple[Step, State]]:
        """Every step that can happen now with the state after it, always in the same order."""
        return self.stepper.successors(state)

    def successors_of(self, state: State, actor: str) -> Iterator[tuple[Step, State]]:
        """The steps of one actor that can happen now, each with the state after it."""
        return self.stepper.steps_of(self.coding.place[actor], state)

    def enabled(self, state: State) -> list[Step]:
        """Every step that can happen now."""
        return [step for step, _ in self.successors(state)]

    def apply(self, state: State, step: Step) -> State:
        """The state after `step`; Refused lists every condition that was false."""
        for possible, after in self.successors(state):
            if possible == step:
                return after
        raise Refused(step, self.refusal(state, step))

    def refusal(self, state: State, step: Step) -> tuple[str, ...]:
        """Why `step` cannot happen in `state`; empty if it can."""
        compiled = self._by_name.get((step.actor, step.action))
        if compiled is None:
            return (f"{step.actor} has no action {step.action} in this world under this protocol",)
        row = compiled.transition
        reasons = tuple(
            guard.reason
            for guard in (*row.actor_guards, *row.guards)
            if not guard.holds(*(self.component(state, name) for name in guard.reads))
        )
        possible = () if reasons else tuple(row.arguments.call(*self.coding.read(state, compiled.argument_reads)))
        if not reasons and step.args not in possible:
            now = " or ".join(str(dict(args)) for args in possible)
            reasons = (f"the arguments must be {now}, not {dict(step.args)}",)
        return reasons

    def component(self, state: State, name: str) -> Any:
        """The value of one component; KeyError names the components there are."""
        if name not in self.coding.place:
            raise KeyError(f"no component {name!r}; there are {', '.join(self.components)}")
        return self.coding.value(state, self.coding.place[name])

    def projection(self, names: Iterable[str]) -> Callable[[State], Hashable]:
        """A function of a state: equal exactly where the values of these components are."""
        return self.coding.projection(names)

    def derive(self, state: State, reads: tuple[str, ...], key: Hashable, compute: Callable[..., Value]) -> Value:
        """`compute(*values of reads)`, once per `key` and distinct footprint."""
        mask, positions = self._footprints.get(reads) or self._footprint(reads)
        at = (key, state & mask)
        if at not in self._derived:
            self._derived[at] = compute(*self.coding.read(state, positions))
        found: Value = self._derived[at]
        return found

    def _footprint(self, reads: tuple[str, ...]) -> tuple[int, list[int]]:
        positions = [self.coding.place[name] for name in reads]
        return self._footprints.setdefault(reads, (self.coding.mask(positions), positions))

    # What can be observed.

    def view(self, state: State, name: str, actor: str = "") -> Any:
        """The value of a view, of one actor or of none; computed once per distinct values of what it reads."""
        key = (name, actor) if actor else name
        bound = self._views.get(key) or self._views.setdefault(key, self._names.view(name, actor))
        return self.derive(state, bound.reads, key, bound.call)

    @property
    def table_reads(self) -> tuple[str, ...]:
        """The components that a read of the table rests on under this protocol."""
        return self._views[TABLE].reads

    def table(self, state: State) -> Table:
        """What a reader that sees everything at once goes by."""
        found: Table = self.view(state, TABLE)
        return found

    def pending_writes(self, state: State) -> tuple[Write, ...]:
        """The writes that are not published and have put log files."""
        return tuple(write for write in self.view(state, UNPUBLISHED) if write.files)

    def timeline(self, state: State) -> tuple[Instant, ...]:
        """Every instant of the active timeline by requested time, whatever its state."""
        done = [Instant(e.requested, e.action, "completed", e.completed) for e in self.view(state, ACTIVE)]
        return tuple(sorted([*done, *self.pending(state)], key=lambda each: (each.requested, each.completes_as)))

    def pending(self, state: State) -> list[Instant]:
        """The instants of the timeline that are not among those published, by requested time."""
        return sorted(self.view(state, PENDING), key=lambda instant: instant.requested)

    def slices(self, state: State, as_of: int | None = None) -> tuple[FileSlice, ...]:
        """All slices since the horizon, by file group and barrier; as of a time: of what stands at that time."""
        table = since(self.rules, self.table(state), self.world.groups, self.horizon(state))
        if as_of is not None:
            table = self.rules.table_as_of(self.rules, table, as_of)
        return tuple(chain.from_iterable(file_slices(self.rules, table, g) for g in range(self.world.groups)))

    def horizon(self, state: State) -> int:
        """The completion time before which reads are refused, as cleaning has published it; 0 without cleaning."""
        if "cleans" not in self.components:
            return 0

        def compute(cleans: Any, published: Any) -> int:
            return published_horizon(self.rules, cleans, published)

        return self.derive(state, ("cleans", "published"), "horizon", compute)

    def savepoints(self, state: State) -> tuple[Savepoint, ...]:
        """The completed savepoints that are there."""
        there = self.component(state, "savepoints") if "savepoints" in self.components else ()
        return tuple(each for each in there if each.completed is not None)

    def settled(self, state: State) -> int:
        """The time of a read that names none: the greatest completion published, or what the protocol takes for it."""
        return int(self.view(state, SETTLED))

    def restores(self, state: State) -> tuple[Restore, ...]:
        """The restores that were planned."""
        found: tuple[Restore, ...] = self.component(state, "restores") if "restores" in self.components else ()
        return found

    def rows(self, state: State, query: Query, data: Data) -> dict[Hashable, Record | Change | Several]:
        """The answer of a query over given data, by key (see `answers.answer`); Cleaned before the horizon, and where a
        clean has deleted what the read opens (under a protocol that keeps CLEAN no read but those before it). As of
        what a savepoint pins the read is answered all the same.
        """
        pinned = {each.at for each in self.savepoints(state)} if query.kind == "as_of" else set()
        bound, start = self.horizon(state), query.begins
        if start is not None and start < bound and start not in pinned:
            raise Cleaned(f"a read of t{start} is refused: cleaning has published the horizon t{bound}")
        for time in (start, query.until):
            if time is not None and (undone := hides(self.restores(state), time)):
                said = f"the restore of t{undone.requested} went back to t{undone.at}"
                raise Cleaned(f"a read of t{time} is refused: {said}")
        table, settled = self.table(state), self.settled(state)
        until = settled if query.until is None else query.until
        gone = self.component(state, "deleted") if "deleted" in self.components else frozenset()
        if gone and any(gone & opened(self.rules, table, g, query, until) for g in range(self.world.groups)):
            raise Cleaned("a file that the read needs is deleted")
        return answer(self.rules, table, self.world.groups, query, settled, data, self.merger)

    def window_rows(self, state: State, kept: tuple[int, ...], query: Query, data: Data) -> dict[Hashable, Any]:
        """The window of a consumer, made of the writes requested at `kept`; what they wrote may be cleaned since."""
        table = self.table(state)
        undone = (entry for each in self.restores(state) for entry in each.entries if isinstance(entry, Write))
        every = (*table.writes, *undone)  # what it has read it has read, whatever was undone since
        seen = table._replace(writes=tuple(write for write in every if write.requested in kept))
        return answer(self.rules, seen, self.world.groups, query, 0, data, self.merger)

    def finished(self, state: State) -> bool:
        """No actor that lives is in the midst of an operation: to stop here is no deadlock."""
        return not self.busy(state)

    def busy(self, state: State) -> tuple[str, ...]:
        """The actors that live and are in the midst of an operation."""

        def compute(*values: Any) -> tuple[str, ...]:
            found = zip(self._everybody, values, strict=True)
            return tuple(name for name, own in found if self.is_busy(name, own))

        return self.derive(state, self._everybody, "busy", compute)

    def is_busy(self, actor: str, own: Any) -> bool:
        """Whether an actor in the state `own` is alive and in an operation."""
        return own.step != DEAD and own.step not in self._idle_steps[actor]

    def stopped_by_limits(self, state: State) -> Iterator[str]:
        """The actors that only a limit of the world keeps from an action, crashes aside."""
        return self._limits.stopped(state)

    def is_service(self, step: Step) -> bool:
        """Whether a table service, a crash or an expiring lock acts: nothing that a retained read may notice."""
        return step.action in self._services

    def describe(self, step: Step) -> str:
        """One short sentence."""
        args = dict(step.args)
        said = self._actions[step.action].sentence.format(actor=step.actor, **args)
        return said + CLOCKS.get(str(args.get("ahead", 0)), f"; its clock is {args.get('ahead')} ahead")


def _first_published(published: tuple[Any, ...]) -> Hashable:
    """What stays first, whatever is published after it; without names, so that nothing follows from who it was."""
    return (published[0].action, published[0].requested, published[0].completed) if published else None
