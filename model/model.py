"""The transition system of one world (a bounded configuration of table and actors) under one protocol (a choice of
options).

A state is a number that encodes the values of all components, the state variables (see `machine/state.py`). A state's
number is meaningful only within its `Model` object.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import chain
from typing import Any

from . import assembly, mechanisms
from .answers import BadInput, Change, Cleaned, Data, Query, Record, Several, answer
from .assembly import rules_of
from .kernel.table import Instant, Table, Write
from .kernel.timeline import ACTIVE, PENDING, SETTLED, TABLE, UNPUBLISHED
from .machine.bound import Bound
from .machine.limits import LimitChecker
from .machine.state import State
from .machine.transition import DEAD, Action, Step
from .machine.transition_system import TransitionSystem
from .mechanisms.cleaning.rules import opened, published_horizon, since
from .mechanisms.restores.rules import Restore
from .mechanisms.savepoints import Savepoint
from .protocol import Protocol
from .refusals import ReadBounds, refusal_of
from .slices import FileSlice
from .world import World

PUT_DATA = ("deltacommit", "commit", "replacecommit", "compaction", "logcompaction")
"""The actions of instants that put data files."""
CLOCKS = {"0": "", "-1": " within the second of the last one"}


class Model(TransitionSystem):
    """All behaviours of one world (a bounded configuration) under one protocol (a choice of options). A `Model` has no
    mutable state except its caches.
    """

    uniform = True  # actors of one kind differ in the options and writes of the world alone, which `alike` compares
    ends_visibly = True  # an actor of a table always has a next step after one that no other actor observes
    where = "in this world under this protocol"

    def __init__(self, world: World, protocol: Protocol | None = None) -> None:
        self.world = world
        self.protocol = protocol or Protocol()
        self.rules = rules_of(self.protocol, world)
        self.merger = self.rules.merger(world)
        self.composition = assembly.compose(world, self.protocol)
        self._names = assembly.names_of(self.composition, world, self.protocol)
        parts = mechanisms.every().values()
        self._actions: dict[str, Action] = {action.name: action for part in parts for action in part.actions}
        self._services = frozenset(a.name for part in parts for a in part.actions if part.service or a.service)
        self._data_phases = frozenset(action.name for action in self._actions.values() if action.data_phase)
        super().__init__(
            assembly.first_values(self.composition),
            assembly.transitions(self.composition),
            self.composition.actors,
            names=self._names,
            # At the granularity `call` an actor within a call proceeds before every other actor.
            continuations=frozenset(
                a.name for a in self._actions.values() if a.continues_call and world.granularity == "call"
            ),
        )
        self._all_actors = tuple(chain.from_iterable(self.actors.values()))
        self._idle_steps = {me: self.composition.idle_steps[kind] for kind, some in self.actors.items() for me in some}
        observed = (ACTIVE, PENDING, UNPUBLISHED, TABLE, SETTLED)
        self._views: dict[Hashable, Bound] = {name: self._names.view(name) for name in observed}
        self._limits = LimitChecker(self.coding, self.stepper.rows)

    def alike(self, one: str, other: str) -> bool:
        """True if two actors of one kind have the same options and writes in this world."""
        return self.world.alike(one, other)

    def names_an_actor(self, component: str) -> bool:
        """False for a component that is a number: in the model of a table a number never names an actor."""
        return not isinstance(self.component(self.initial, component), int)

    def identity(self) -> Any:
        """Return the world and the protocol, which determine every run."""
        return self.world.to_mapping(), self.protocol.to_mapping()

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
            table = self.rules.table_as_of(table, as_of)
        return tuple(chain.from_iterable(self.rules.file_slices(table, g) for g in range(self.world.groups)))

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

    def only_limits_stop(self, state: State, actions: Iterable[str], at_any_step: bool = False) -> bool:
        """True if a step with one of the given actions would be possible if the limits of the world were higher, or
        with `at_any_step`, if an actor were at another step.
        """
        return self._limits.stops(state, actions, at_any_step)

    def is_service(self, step: Step) -> bool:
        """True if a step belongs to a table service, or is a crash or a lock expiry. Such a step must not change the
        answer of any read as of a retained time (promise QUIET).
        """
        return step.action in self._services

    def is_data_phase(self, step: Step) -> bool:
        """True if the step puts or deletes data files."""
        return step.action in self._data_phases

    def describe(self, step: Step) -> str:
        args = dict(step.args)
        sentence = self._actions[step.action].sentence.format(actor=step.actor, **args)
        return sentence + CLOCKS.get(str(args.get("ahead", 0)), f"; its clock is {args.get('ahead')} ahead")
