"""Writers insert keys that a record index does not contain yet, concurrently with each other.

A writer looks its keys up after its request, and the index that it reads may be old. It puts the records of a key with
a home there. For a key that it does not find, it chooses any file group, and puts a location into the index together
with its log. So updates and deletes of known keys need no coordination, no insert waits, and none is refused. The
module `rules` says which location decides, and how records elsewhere are read.

The index is compacted as a file group is: an index compactor takes the locations that completed before its barrier.
Locations that lost are kept, because the home finds the forwarded records by them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from ...kernel.clock import READS_CLOCK, TakeTime
from ...kernel.compactor import COMPACTOR
from ...kernel.lock import HOLDS_LOCK, LOCK_IS_FREE, release_lock
from ...kernel.publication import COMMITS, Publication, publication, publication_actions
from ...kernel.reader import READER
from ...kernel.table import Compaction, Plan, Plans, Table
from ...kernel.writer import WRITER, WRITER_STARTS_WRITING, Writer, give_up
from ...machine.composition import Composition
from ...machine.marks import marks
from ...machine.mechanism import Kind, Mechanism, Together
from ...machine.options import Limits, names_of, overrides
from ...machine.plans import PLANNED, WRITTEN, PlanRunner, Runner, plans_and_runs
from ...machine.transition import Action, Args, Changes, Guard, Transition, transition
from ...protocol import Protocol
from ...rules import Rules
from ...world import World
from ..cleaning.mechanism import CLEANER
from ..cleaning.rules import Cleans
from ..crashes import Crashes
from ..rollback.rollbacker import ROLLBACKER
from ..rollback.rules import Failures
from .rules import IndexBase, IndexedLocation, InsertLimits, Inserts, Location, ReadsByIndex, home, index_base, indexed

INDEX_COMPACTOR = Kind(name="index_compactor", prefix="index", first=PlanRunner(), service=True)

LIMITS: tuple[type[Limits], ...] = (Cleans, Crashes, Failures, InsertLimits)
"""The limits of worlds with new keys, in addition to those of the kernel."""

KINDS = (INDEX_COMPACTOR, WRITER, COMPACTOR, CLEANER, READER, ROLLBACKER)
"""The kinds of actors of worlds with new keys."""

LOOKING_UP = "looking up its new keys"
FINDS_KEYS = "writer_finds_keys"
INSERTS_KEYS = "writer_inserts_keys"
FINDS_KEYS_INSERTED = "writer_finds_keys_inserted"
HOME = "home_of_new_keys"
"""The view of the file group that holds the new keys now; None if there is none yet."""


def compose(composition: Composition) -> None:
    """Let writers look up new keys in the record index, and add the transitions of every index compactor."""
    if not composition.world[InsertLimits].new_keys:
        return
    composition.map_view(HOME, found_home)
    look_up(composition)
    for me in composition.actors_of(INDEX_COMPACTOR):
        compact_index(composition, me)


def found_home(completed_table: Table, rules: Rules) -> int | None:
    """Return the file group in which a writer finds the new keys."""
    return home(rules, completed_table)


# The writer.


def look_up(composition: Composition) -> None:
    """Let writers look up new keys before they put their logs."""
    writers, inserts = composition.actors_of(WRITER), composition.protocol[Inserts].inserts
    if not writers:
        return
    composition.add_field(WRITER, "location", Location())
    opens = composition.select(WRITER_STARTS_WRITING, actors=writers)
    opens.insert_after(LOOKING_UP, finds_location)
    for me in writers:
        if inserts == "updates_only":
            composition.add(transition("writer_refuses_insert", me, at=LOOKING_UP, guards=(~ALL_FOUND, LOCK_IS_FREE),
                                       effect=give_up))  # fmt: skip
        else:
            composition.add(transition(INSERTS_KEYS, me, at=LOOKING_UP, to="writing", guards=(HAS_NEW_KEYS,),
                                       arguments=choices, effect=insert_keys, changes=("own_location",)))  # fmt: skip
    if inserts == "moved":
        composition.select(COMMITS, actors=writers).require(IS_AT_HOME).exit(finding_a_home)


def finds_location(me: str) -> Transition:
    """Return the transition by which a writer finds every key of its write in the index, or in a bucket."""
    return transition(FINDS_KEYS, me, guards=(ALL_FOUND,), effect=use_home, changes=("own_location",))


def has_new_keys(own: Writer, me: str, world: World) -> bool:
    return world.groups - 1 in world.groups_of(me, own.number)


HAS_NEW_KEYS = Guard("its write must have new keys", has_new_keys)


def all_found(own: Writer, me: str, world: World, home_of_new_keys: int | None) -> bool:
    # A writer that is not at this step may have no write at all.
    return own.step != LOOKING_UP or home_of_new_keys is not None or not has_new_keys(own, me, world)


ALL_FOUND = Guard("the index must contain the new keys of its write", all_found)


def choices(world: World) -> Iterable[Args]:
    """Yield each file group in which a writer may insert a key. What it read of the index may be too old to have it."""
    return ((("file_group", group),) for group in range(world.groups - 1))


def insert_keys(world: World, *, file_group: int) -> Changes:
    """Choose the file group of the new keys, and put this location into the index."""
    return {"own_location": Location(world.groups - 1, file_group, True)}


def use_home(own: Writer, me: str, world: World, home_of_new_keys: int | None) -> Changes:
    """Put the records of the new keys, if the write has any, into their home."""
    if home_of_new_keys is None or not has_new_keys(own, me, world):
        return {}
    return {"own_location": Location(world.groups - 1, home_of_new_keys)}


def is_at_home(own_location: Location, home_of_new_keys: int | None) -> bool:
    return not own_location.indexed or home_of_new_keys in (None, own_location.file_group)


IS_AT_HOME = Guard("no other file group may hold its new keys by now", is_at_home)


def finding_a_home(me: str) -> Transition:
    """Return the transition by which a writer goes back to writing instead of publishing."""
    found = transition(FINDS_KEYS_INSERTED, me, guards=(HOLDS_LOCK, ~IS_AT_HOME), effect=release_lock,
                       changes=("lock",))  # fmt: skip
    return found.extend(write_again, "own").extend(use_home, "own_location")


def write_again(own: Writer) -> Changes:
    return {"own": own._replace(step="writing", files=0)}


# The index compactor.


def compact_index(composition: Composition, me: str) -> None:
    composition.add(
        transition("index_compactor_schedules_plan", me, at="idle", to=PLANNED, effect=plan_index,
                   guards=(LOCK_IS_FREE, COMPACTION_LEFT, NONE_PENDING, LOCATION_TO_COMPACT),
                   changes=("own", "clock", "plans"), tags=(READS_CLOCK,)),
    )  # fmt: skip
    runs = Runner("index_compactor", me, "plans", "plan", run_index_plan, Compaction, "index_compactor_resumes_plan")
    plans_and_runs(composition, "index_compactor_schedules_plan", "index_compactor_starts_plan", PlanRunner(), runs)
    publication(composition, Publication("index_compactor", me, WRITTEN, partial(published_index, me), "plan"))


COMPACTION_LEFT = Guard(
    "a compaction of the index must be left",
    lambda plans, world: sum(bool(index_base(plan)) for plan in plans) < world[InsertLimits].index_compactions,
    limit=True,
)


def index_plans(completed_table: Table) -> bool:
    plans = zip(completed_table.plans, completed_table.completed, strict=True)
    return any(index_base(plan) and done is None for plan, done in plans)


NONE_PENDING = Guard("no compaction of the index may be pending", index_plans, negated=True)


def location_to_compact(completed_table: Table) -> bool:
    newest = [index_base(plan) for plan in completed_table.plans if index_base(plan)][-1:]
    return indexed(completed_table) not in ((), *newest)


LOCATION_TO_COMPACT = Guard("a write must have put a location since the last compaction", location_to_compact)


def plan_index(me: str, clock: int, request_time: TakeTime, completed_table: Table, plans: Plans) -> Changes:
    """Under the lock, take the barrier of a compaction of the index, and list the locations that it writes."""
    barrier, clock = request_time(clock, action="commit")
    plan = Plan(barrier, me, False, (), marks(IndexBase(locations_to_compact(completed_table))))
    return {"own": PlanRunner(plan=barrier), "clock": clock, "plans": (*plans, plan)}


def locations_to_compact(table: Table) -> tuple[IndexedLocation, ...]:
    """Return all completed locations, also those that have not become the home."""
    return indexed(table)


def run_index_plan(own: PlanRunner, plan: Plan) -> PlanRunner:
    """Return the state of an index compactor that has put its base file, which no actor sees before it completes."""
    return PlanRunner(WRITTEN, plan.requested)


def published_index(me: str, own: PlanRunner) -> tuple[PlanRunner, Compaction]:
    return PlanRunner(), Compaction(own.plan, own.completed, me)


def check(world: World) -> None:
    """Raise ValueError for a world with new keys, or with an index compactor, that is not modelled."""
    limits = world[InsertLimits]
    if world.actors.get(INDEX_COMPACTOR.name, 0) and not limits.new_keys:
        raise ValueError("world: an index_compactor needs [table] new_keys = 1")
    if not limits.new_keys:
        return
    if limits.new_keys > 1 or world.partitions > 1 or world.buckets < 2:
        raise ValueError("world [table]: new_keys is 0 or 1; with 1, the table has one partition and 2 buckets or more")
    others = [name for part in world.limits.values() if type(part) not in LIMITS for name in overrides(part)]
    others += [name for name in world.actors if world.actors[name] and name not in {kind.name for kind in KINDS}]
    others += ["log_versions"] * (world.log_versions > 1) + [f"[actor.{actor}]" for actor in world.settings]
    if others:
        raise ValueError(f"world: new keys are not modelled with {others[0]}")


def fit(world: World, protocol: Protocol) -> None:
    """Raise ValueError if the world has new keys and the protocol changes an option outside `Inserts`."""
    if not world[InsertLimits].new_keys:
        return  # before the options are read: the footprint of a world without new keys would be every option
    if others := [name for name in protocol.differences() if name not in names_of(Inserts)]:
        raise ValueError(f"world: new keys are not modelled with the option {others[0]}")


MECHANISM = Mechanism(
    rules=lambda protocol: (ReadsByIndex,),
    rules_need_use=True,
    compose=compose,
    after=("*",),
    kinds=(INDEX_COMPACTOR,),
    options=Inserts,
    limits=InsertLimits,
    service=True,
    together=(Together((INDEX_COMPACTOR,), KINDS),),
    check=check,
    fit=fit,
    actions=(
        Action(FINDS_KEYS, "finds the file groups of all its keys, by the record index or by their buckets",
               "{actor} finds the file groups of its keys"),
        Action(INSERTS_KEYS, "does not find its new keys in the record index; puts a location of them",
               "{actor} inserts new keys into file group {file_group}"),
        Action("writer_refuses_insert", "finds that a key is in no file group; takes its instant back",
               "{actor} refuses to insert a new key"),
        Action(FINDS_KEYS_INSERTED,
               "finds that another file group holds its new keys since it looked them up; releases the lock",
               "{actor} finds its new keys in another file group, and moves its records", continues_call=True),
        Action("index_compactor_schedules_plan", "under the lock: takes a barrier and plans a compaction of the index",
               "{actor} schedules a compaction of the index"),
        Action("index_compactor_starts_plan", "puts the inflight instant of its plan, and the base file of the index",
               "{actor} compacts the index"),
        Action("index_compactor_resumes_plan", "takes up the pending plan of another index compactor",
               "{actor} resumes a pending compaction of the index"),
        Action("index_compactor_finds_it_done", "finds that another index compactor has completed its plan",
               "{actor} finds its plan completed"),
        *publication_actions("index_compactor"),
    ),
)  # fmt: skip
