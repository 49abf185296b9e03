"""The transition system of one world (a bounded configuration of table and actors) under one protocol (a choice of
options).

A state is a number that encodes the values of all components, the state variables (see `machine/state.py`). A state's
number is meaningful only within its `Model` object.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, TypeVar

from . import assembly, mechanisms
from .answers import BadInput, Change, Cleaned, Data, Query, Record, Several, answer
from .assembly import rules_of
from .kernel.table import Instant, Table, Write
from .kernel.timeline import ACTIVE, PENDING, SETTLED, TABLE, UNPUBLISHED
from .machine.bound import Bound, BoundTransition
from .machine.limits import LimitChecker
from .machine.state import Coding, State
from .machine.stepper import Stepper
from .machine.transition import DEAD, Action, Refused, Step
from .mechanisms.cleaning.rules import opened, published_horizon, since
from .mechanisms.restores.rules import Restore
from .mechanisms.savepoints import Savepoint
from .protocol import Protocol
from .refusals import ReadBounds, refusal_of
from .slices import FileSlice, file_slices
from .world import World

Value = TypeVar("Value")
PUT_DATA = ("deltacommit", "commit", "replacecommit", "compaction", "logcompaction")
"""The actions of instants that put data files."""
CLOCKS = {"0": "", "-1": " within the second of the last one"}


class Model:
    """All behaviours of one world (a bounded configuration) under one protocol (a choice of options). A `Model` has no
    mutable state except its caches.
    """

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
        self._all_actors = tuple(chain.from_iterable(self.actors.values()))
        self._idle_steps = {me: self.composition.idle_steps[kind] for kind, some in self.actors.items() for me in some}
        parts = mechanisms.every().values()
        self._actions: dict[str, Action] = {action.name: action for part in parts for action in part.actions}
        self._services = frozenset(a.name for part in parts for a in part.actions if part.service or a.service)
        self._data_phases = frozenset(action.name for action in self._actions.values() if action.data_phase)
        self._names = assembly.names_of(self.composition, world, self.protocol)
        rows = assembly.bound(self.composition, self._names)
        observed = (ACTIVE, PENDING, UNPUBLISHED, TABLE, SETTLED)
        self._views: dict[Hashable, Bound] = {name: self._names.view(name) for name in observed}
        # At the granularity `call` an actor within a call proceeds before every other actor.
        self.continuations = frozenset(
            a.name for a in self._actions.values() if a.continues_call and world.granularity == "call"
        )
        self.stepper = Stepper(self.coding, rows, continuations=self.continuations)
        self._by_name = {(c.transition.actor, c.transition.action): c for c in self.stepper.rows}
        if len(self._by_name) < len(rows):
            raise ValueError("two transitions have the same action and actor")
        self._limits = LimitChecker(self.coding, self.stepper.rows)
        self._derived: dict[Hashable, Any] = {}
        self._footprints: dict[tuple[str, ...], tuple[int, list[int]]] = {}

    def actors_of(self, kind: str) -> tuple[str, ...]:
        """Return the actors of a kind; () if the world has none."""
        return self.actors.get(kind, ())

    @property
    def transitions(self) -> tuple[BoundTransition, ...]:
        """All transitions of the model, bound to its components (state variables)."""
        return tuple(compiled.transition for compiled in self.stepper.rows)

    @property
    def initial(self) -> State:
        """The state before the first step."""
        return 0

    @property
    def shard_key(self) -> tuple[str, Callable[[Any], Hashable]] | None:
        """A component (state variable), and a function from its value to a shard, for parallel search. All states of a
        shard have the same first published instant. The function returns None for states before the first publication.
        If the model can remove published instants, `shard_key` is None, because successors of a state could then be in
        another shard.
        """
        return None if "published" in self.composition.withdrawn else ("published", _first_published)

    def successors(self, state: State) -> Iterator[tuple[Step, State]]:
        """Yield every step that is possible in `state` together with its successor state, in a fixed order."""
        return self.stepper.successors(state)

    def transition_of(self, step: Step) -> BoundTransition:
        """Return the transition to which a step belongs."""
        return self._by_name[step.actor, step.action].transition

    def successors_of(self, state: State, actor: str) -> Iterator[tuple[Step, State]]:
        """Yield every step of one actor that is possible in `state`, together with its successor state."""
        return self.stepper.steps_of(self.coding.place[actor], state)

    def enabled(self, state: State) -> list[Step]:
        """Return every step that is possible in `state`."""
        return [step for step, _ in self.successors(state)]

    def apply(self, state: State, step: Step) -> State:
        """Return the state after `step`. Raises `Refused` if the step is impossible; the error lists every guard that
        does not hold.
        """
        for possible, after in self.successors(state):
            if possible == step:
                return after
        raise Refused(step, self.refusal(state, step))

    def refusal(self, state: State, step: Step) -> tuple[str, ...]:
        """Return the reasons why `step` is impossible in `state`, one for each guard that does not hold; () if the step
        is possible.
        """
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
        """Return the value of one component (state variable). Raises KeyError if `name` is not a component; the message
        lists all components.
        """
        if name not in self.coding.place:
            raise KeyError(f"no component {name!r}; there are {', '.join(self.components)}")
        return self.coding.value(state, self.coding.place[name])

    def projection(self, names: Iterable[str]) -> Callable[[State], Hashable]:
        """Return a function that projects a state to the components `names`. Its results for two states are equal if
        and only if these components are equal.
        """
        return self.coding.projection(names)

    def derive(self, state: State, reads: tuple[str, ...], key: Hashable, compute: Callable[..., Value]) -> Value:
        """Call `compute` with the values of the components `reads` in a state, and cache the result. `key` identifies
        the computation in the cache.
        """
        mask, positions = self._footprints.get(reads) or self._footprint(reads)
        at = (key, state & mask)
        if at not in self._derived:
            self._derived[at] = compute(*self.coding.read(state, positions))
        value: Value = self._derived[at]
        return value

    def _footprint(self, reads: tuple[str, ...]) -> tuple[int, list[int]]:
        positions = [self.coding.place[name] for name in reads]
        return self._footprints.setdefault(reads, (self.coding.mask(positions), positions))

    # What can be observed.

    def view(self, state: State, name: str, actor: str = "") -> Any:
        """Return the value of a view (a derived value, such as `visible_instants`), as `actor` observes it. If `actor`
        is empty, ignore definitions of the view that apply only to some actors.
        """
        key = (name, actor) if actor else name
        bound = self._views.get(key) or self._views.setdefault(key, self._names.view(name, actor))
        return self.derive(state, bound.reads, key, bound.call)

    @property
    def table_reads(self) -> tuple[str, ...]:
        """The components (state variables) on which a read of the table depends under this protocol."""
        return self._views[TABLE].reads

    def table(self, state: State) -> Table:
        """Return the table that a reader would observe if it listed the timeline atomically."""
        table: Table = self.view(state, TABLE)
        return table

    def pending_writes(self, state: State) -> tuple[Write, ...]:
        """Return the unpublished writes that have put at least one log file."""
        return tuple(write for write in self.view(state, UNPUBLISHED) if write.files)

    def timeline(self, state: State) -> tuple[Instant, ...]:
        """Return every completed or pending instant of the active timeline, ordered by requested time."""
        done = [Instant(e.requested, e.action, "completed", e.completed) for e in self.view(state, ACTIVE)]
        return tuple(sorted([*done, *self.pending(state)], key=lambda each: (each.requested, each.completes_as)))

    def pending(self, state: State) -> list[Instant]:
        """Return the pending instants of the timeline, ordered by requested time."""
        return sorted(self.view(state, PENDING), key=lambda instant: instant.requested)

    def slices(self, state: State, as_of: int | None = None) -> tuple[FileSlice, ...]:
        """Return all file slices that have not been cleaned, ordered by file group and barrier (the requested time of
        the slice's compaction). With `as_of`, return the file slices of the table as of that time.
        """
        table = since(self.rules, self.table(state), self.world.groups, self.horizon(state))
        if as_of is not None:
            table = self.rules.table_as_of(self.rules, table, as_of)
        return tuple(chain.from_iterable(file_slices(self.rules, table, g) for g in range(self.world.groups)))

    def horizon(self, state: State) -> int:
        """Return the cleaning horizon, a completion time before which reads are refused; 0 if nothing has been cleaned.
        """
        if "cleans" not in self.components:
            return 0

        def compute(cleans: Any, published: Any) -> int:
            return published_horizon(self.rules, cleans, published)

        return self.derive(state, ("cleans", "published"), "horizon", compute)

    @property
    def pending_reads(self) -> tuple[str, ...]:
        """The components (state variables) that determine the pending instants."""
        return self._views[PENDING].reads

    def savepoints(self, state: State) -> tuple[Savepoint, ...]:
        """Return the completed savepoints."""
        savepoints = self.component(state, "savepoints") if "savepoints" in self.components else ()
        return tuple(each for each in savepoints if each.completed is not None)

    def settled(self, state: State) -> int:
        """Return the settled time, which is the default time of a query. By default, the settled time is the greatest
        published completion time.
        """
        return int(self.view(state, SETTLED))

    @property
    def settled_reads(self) -> tuple[str, ...]:
        """The components (state variables) that determine the settled time."""
        return self._views[SETTLED].reads

    def restores(self, state: State) -> tuple[Restore, ...]:
        """Return all completed and pending restores."""
        restores: tuple[Restore, ...] = self.component(state, "restores") if "restores" in self.components else ()
        return restores

    def rows(self, state: State, query: Query, data: Data) -> dict[Hashable, Record | Change | Several]:
        """Return the answer to a query as a mapping from key to row, computed from the rows in `data` (see
        `answers.answer`).

        Raises:
            BadInput: a time of the query is not settled, is a requested time, or is before the first commit.
            Cleaned: a time of the query is before the cleaning horizon, or a file that it needs has been deleted.
            NoAnswer: the protocol refuses the query.
        """
        if refusal := self.read_refusal(state, query):
            raise refusal
        table, settled = self.table(state), self.settled(state)
        return answer(self.rules, table, self.world.groups, query, settled, data, self.merger)

    def read_refusal(self, state: State, query: Query) -> BadInput | Cleaned | None:
        """Return the error with which the table refuses a query; None if the table does not refuse it. Even if this
        method returns None, the protocol may refuse the query with `NoAnswer`.
        """
        instants = (*self.component(state, "published"), *self.pending(state))
        completions = {entry.completed for entry in instants}
        requests = {entry.requested for entry in instants if entry.action in PUT_DATA} - completions
        refusal = refusal_of(query.kind, query.times, self.read_bounds(state), requests)
        return refusal or self._missing_file(state, query)

    def read_bounds(self, state: State) -> ReadBounds:
        """Return the bounds that determine which times of the table can be read, such as the cleaning horizon."""
        commits = (entry.completed for entry in self.component(state, "published") if entry.action in PUT_DATA)
        pinned = frozenset(each.at for each in self.savepoints(state))
        first = min(commits, default=None)
        return ReadBounds(self.settled(state), first, self.horizon(state), self.restores(state), pinned)

    def _missing_file(self, state: State, query: Query) -> Cleaned | None:
        gone = self.component(state, "deleted") if "deleted" in self.components else frozenset()
        if not gone:
            return None
        table, until = self.table(state), self.settled(state) if query.until is None else query.until
        missing = any(gone & opened(self.rules, table, group, query, until) for group in range(self.world.groups))
        return Cleaned("a file that the read needs is deleted") if missing else None

    def window_rows(self, state: State, kept: tuple[int, ...], query: Query, data: Data) -> dict[Hashable, Any]:
        """Return the answer of a consumer's incremental query. `kept` contains the requested times of the writes that
        the consumer found in the query's window.

        Cleans and restores after the query do not change its answer.
        """
        table = self.table(state)
        undone = (entry for each in self.restores(state) for entry in each.entries if isinstance(entry, Write))
        every = (*table.writes, *undone)  # A later restore does not change what the consumer has read.
        seen = table._replace(writes=tuple(write for write in every if write.requested in kept))
        return answer(self.rules, seen, self.world.groups, query, 0, data, self.merger)

    def finished(self, state: State) -> bool:
        """True if no live actor is in the middle of an operation. Such a state is not a deadlock, even if it has no
        successors.
        """
        return not self.busy(state)

    def busy(self, state: State) -> tuple[str, ...]:
        """Return the live actors that are in the middle of an operation."""

        def compute(*values: Any) -> tuple[str, ...]:
            actors = zip(self._all_actors, values, strict=True)
            return tuple(name for name, own in actors if self.is_busy(name, own))

        return self.derive(state, self._all_actors, "busy", compute)

    def is_busy(self, actor: str, own: Any) -> bool:
        """True if an actor is alive and in the middle of an operation. `own` is the actor's state."""
        return own.step != DEAD and own.step not in self._idle_steps[actor]

    def stopped_by_limits(self, state: State) -> Iterator[str]:
        """Yield the actors that could act if the limits of the world, such as the number of writes, were higher.
        Crashes are disregarded.
        """
        return self._limits.stopped(state)

    def only_limits_stop(self, state: State, actions: Iterable[str]) -> bool:
        """True if a step with one of the given actions would be possible if the limits of the world were higher."""
        return self._limits.stops(state, actions)

    def is_service(self, step: Step) -> bool:
        """True if a step belongs to a table service, or is a crash or a lock expiry. Such a step must not change the
        answer of any read as of a retained time (promise QUIET).
        """
        return step.action in self._services

    def is_data_phase(self, step: Step) -> bool:
        """True if the step puts or deletes data files."""
        return step.action in self._data_phases

    def describe(self, step: Step) -> str:
        """Return one short sentence that describes a step."""
        args = dict(step.args)
        sentence = self._actions[step.action].sentence.format(actor=step.actor, **args)
        return sentence + CLOCKS.get(str(args.get("ahead", 0)), f"; its clock is {args.get('ahead')} ahead")


def _first_published(published: tuple[Any, ...]) -> Hashable:
    return (published[0].action, published[0].requested, published[0].completed) if published else None
