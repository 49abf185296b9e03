"""A schema evolver (an actor that adds columns) adds a column under the lock, and then publishes a commit without
files.

The component (state variable) `schemas` contains the time at which each column was added. A writer or table service
that opened the table before a column was added continues without the column. The commit without files makes the new
column visible to readers that take the table's columns from the newest commit. The module `rules` defines which of the
added columns a read returns.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from ...kernel.clock import TakeTime
from ...kernel.compactor import COMPACTOR
from ...kernel.lock import LOCK_IS_FREE
from ...kernel.publication import COMMITS, Publication, publication, publication_actions
from ...kernel.table import Plan, Table
from ...kernel.timeline import TABLE
from ...kernel.writer import REQUESTS, WRITER
from ...machine.composition import Composition
from ...machine.marks import with_mark
from ...machine.mechanism import Kind, Mechanism, Together
from ...machine.plans import RESUMES_PLAN, STARTS_PLAN
from ...machine.transition import Action, Args, Changes, limit_left, preset, transition
from ...protocol import Protocol
from ...world import World
from ..clocks import Skew
from ..copy_on_write import is_copy_on_write
from ..lost_locks import LostLocks
from ..partial_updates import PartialColumns
from ..pending import add_pending_actors
from .rules import Alterations, Altered, Columns, PlanColumns, SchemaEvolution, WithAddedColumns, columns_in

Schemas = tuple[int, ...]


class SchemaEvolver(NamedTuple):
    """The state of one schema evolver (an actor that adds columns). `columns` is the number of columns added to the
    table so far, including the one being added.
    """

    step: str = "idle"
    columns: int = 0
    requested: int = 0
    completed: int = 0
    inflight: bool = False
    records: tuple[Any, ...] = ()


SCHEMA_EVOLVER = Kind(name="schema_evolver", prefix="evol", first=SchemaEvolver())


def compose(composition: Composition) -> None:
    """Add the transitions of every schema evolver, and let writers and compactors use the columns that the table had
    when they opened it.
    """
    if not composition.actors_of(SCHEMA_EVOLVER):
        return
    composition.add_component("schemas", ())
    composition.add_field(WRITER, "known_columns", Columns())
    for me in composition.actors_of(SCHEMA_EVOLVER):
        composition.add(
            transition("schema_evolver_adds_column", me, at="idle", to="about to commit the change",
                       guards=(LOCK_IS_FREE, CHANGE_LEFT),
                       effect=add_column, changes=("own", "clock", "schemas")),
            transition("schema_evolver_requests_instant", me, at="about to commit the change", to="requested",
                       guards=(LOCK_IS_FREE,),
                       effect=request_instant, changes=("own", "clock")),
            transition("schema_evolver_starts_commit", me, at="requested", to="started", effect=start_commit),
        )  # fmt: skip
        publication(composition, Publication("schema_evolver", me, "started", partial(published_change, me)))
    # An argument: the search tries every moment at which the writer may have opened the table.
    opens = composition.find(REQUESTS, actors=composition.actors_of(WRITER))
    opens.add_argument(known_columns).extend(know_columns, "own_known_columns")
    compactors = composition.actors_of(COMPACTOR)
    composition.add_field(COMPACTOR, "known_columns", Columns())
    opens_plan = preset(open_plan, table_protocol=composition.protocol)
    composition.find(STARTS_PLAN, RESUMES_PLAN, actors=compactors).extend(opens_plan, "own_known_columns")
    composition.find(COMMITS, actors=compactors).precede(keep_columns, "plans")
    add_pending_actors(composition, SCHEMA_EVOLVER, "deltacommit")
    composition.map_view(TABLE, table_with_columns)


CHANGE_LEFT = limit_left("a change of columns must be left", "schemas", lambda world: world[Alterations].alterations)


def add_column(clock: int, completion_time: TakeTime, schemas: Schemas) -> Changes:
    """Under the lock, add a column, and record the time at which it was added."""
    since, clock = completion_time(clock)
    return {"own": SchemaEvolver(columns=len(schemas) + 1), "clock": clock, "schemas": (*schemas, since)}


def request_instant(own: SchemaEvolver, clock: int, request_time: TakeTime) -> Changes:
    """Under the lock, take a requested time and put the requested instant."""
    time, clock = request_time(clock, action="deltacommit")
    return {"own": own._replace(requested=time), "clock": clock}


def start_commit(own: SchemaEvolver) -> Changes:
    """Put the inflight instant of a commit without files on the timeline."""
    return {"own": own._replace(inflight=True)}


def published_change(me: str, own: SchemaEvolver) -> tuple[SchemaEvolver, Altered]:
    return SchemaEvolver(), Altered(own.requested, own.completed, me, own.columns)


def known_columns(schemas: Schemas) -> Iterable[Args]:
    """Return the possible numbers of added columns that a writer uses; it may have opened the table at any time."""
    return tuple((("columns", known),) for known in range(len(schemas) + 1))


def know_columns(*, columns: int) -> Changes:
    return {"own_known_columns": Columns(columns)}


def open_plan(schemas: Schemas, table_protocol: Protocol) -> Changes:
    """Record how many added columns a table service writes: those that exist now, or those that it found at its start.
    """
    # A service that keeps its first look is taken to have opened the table before the first change, the worst case.
    current = table_protocol[SchemaEvolution].columns_written == "current"
    return {"own_known_columns": Columns(len(schemas) if current else 0)}


def keep_columns(own: Any, own_known_columns: Columns, plans: tuple[Plan, ...]) -> Changes:
    """Under the lock, record in the plan how many added columns the plan's base files will have."""
    known = PlanColumns(own_known_columns.found)

    def marked(plan: Plan) -> Plan:
        return plan._replace(marks=with_mark(plan.marks, known)) if plan.requested == own.plan else plan

    return {"plans": tuple(marked(plan) for plan in plans)}


def table_with_columns(table: Table, schemas: Schemas, visible_instants: tuple[Any, ...]) -> Table:
    """Add the times of added columns, and the commits that record them, to the view `table`."""
    return columns_in(table, schemas, visible_instants)


def check(world: World) -> None:
    """Raise ValueError if the world combines schema evolution with an unsupported feature."""
    if not world.actors.get("schema_evolver"):
        return
    by_one_clock = not world[Skew].skew and not world[LostLocks].lock_losses
    if is_copy_on_write(world) or world[PartialColumns].columns or world.custom or not by_one_clock:
        raise ValueError(
            "world: columns are added to whole rows of a MERGE_ON_READ table, by one clock, under locks that hold"
        )


MECHANISM = Mechanism(
    rules=lambda protocol: (WithAddedColumns,),
    rules_need_use=True,
    compose=compose,
    after=("rivals", "occ"),
    kinds=(SCHEMA_EVOLVER,),
    options=SchemaEvolution,
    limits=Alterations,
    together=(Together((SCHEMA_EVOLVER,), (WRITER, COMPACTOR, SCHEMA_EVOLVER)),),
    check=check,
    actions=(
        Action("schema_evolver_adds_column", "under the lock: takes a time, since which the table has one column more",
               "{actor} adds a column"),
        Action("schema_evolver_requests_instant",
               "under the lock: takes a requested time and puts the requested instant",
               "{actor} requests an instant"),
        Action("schema_evolver_starts_commit", "puts the inflight instant of a commit without files",
               "{actor} starts its commit"),
        *publication_actions("schema_evolver"),
    ),
)  # fmt: skip
