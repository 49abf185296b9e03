"""A bulk insert writes a base file into each empty file group, and a log file into each non-empty file group.

A base file begins a new file slice at the requested time of its write, and readers ignore older slices. A bulk insert
publishes base files only if no other write to their file groups has completed. If a write to one of these file groups
completes first, the bulk insert is abandoned. Apache Hudi also checks bulk inserts for conflicts under non-blocking
concurrency control. The module `rules` defines how a table with bulk inserts is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

from ...kernel.clock import READS_CLOCK, TakeTime
from ...kernel.compactor import COMPACTOR
from ...kernel.lock import HOLDS_LOCK, LOCK_IS_FREE, release_lock
from ...kernel.publication import (
    ABANDONS,
    COMMITS,
    PUBLISHES,
    READY,
    UNDER_LOCK,
    Publication,
    publication,
    publication_actions,
)
from ...kernel.table import Plan, Write
from ...kernel.timeline import nothing
from ...kernel.writer import PUTS_FILE, REQUESTS
from ...machine.composition import Composition
from ...machine.marks import marks
from ...machine.mechanism import Kind, Mechanism
from ...machine.options import Options, option
from ...machine.transition import Action, Args, Branch, Changes, Guard, become, go_to, preset, transition
from ...protocol import Protocol
from ...variants.slicing import Slicing
from ...world import World
from ..clocks import OTHER_WRITES
from ..decision_log import is_logged
from ..occ.conflicts import UncheckedWrite, conflicting, is_optimistic
from ..pending import add_pending_actors
from .rules import Loaded, WithBulkInserts


class BulkInsert(Options):
    """The options of bulk inserts: when a bulk insert puts base files, and when it is abandoned."""

    bulk_insert: Literal["checked", "unchecked", "resolved"] = option(
        "checked",
        "checked: base files only into file groups without files, checked again under the lock. resolved: the bulk "
        "inserter also gives up if another write overtook one of its logs, as Hudi's conflict resolution does. "
        "unchecked: base files into every file group",
    )


Published = tuple[Any, ...]
Plans = tuple[Plan, ...]


class BulkInserter(NamedTuple):
    """The state of one bulk inserter (an actor that performs one bulk insert). `bases` lists the file groups that
    receive a base file, and `logs` those that receive a log file. `files` counts the files that the bulk inserter has
    put.

    `sealed` is the number of instants published before the bulk insert began; conflict checks ignore these instants.
    `clear` is True after a check under the lock has found no conflicting write.
    """

    step: str = "idle"
    requested: int = 0
    completed: int = 0
    bases: tuple[int, ...] = ()
    logs: tuple[int, ...] = ()
    files: int = 0
    inflight: bool = False
    sealed: int = 0
    clear: bool = False
    records: tuple[Any, ...] = ()

    @property
    def number(self) -> int:
        """The index of the write: always 1, because a bulk inserter performs only one write."""
        return 1

    @property
    def group(self) -> int | None:
        """The file group that receives the next file; None after the last file. Files are put in ascending order of
        file group.
        """
        return next(iter(sorted((*self.bases, *self.logs))[self.files :]), None)


BULK_INSERTER = Kind(
    name="bulk_inserter", prefix="bulk", first=BulkInserter(), idle_steps=("idle", "done", "refused"),
    in_random_worlds=(0, 1),
)  # fmt: skip


def compose(composition: Composition) -> None:
    """Add the transitions of every bulk inserter to a model."""
    bulk_inserters = composition.actors_of(BULK_INSERTER)
    by_rule = {"rule": composition.protocol[BulkInsert].bulk_insert} if bulk_inserters else {}
    if bulk_inserters and composition.protocol[Slicing].slicing == "base_instant":
        raise ValueError(
            "world: a bulk inserter under slicing = 'base_instant' is not modelled; leave one of them out"
        )
    for me in bulk_inserters:
        requests = transition("bulk_inserter_requests_instant", me, at="idle", to="requested", effect=request_instant,
                              guards=(LOCK_IS_FREE,), changes=("own", "clock"),
                              tags=(REQUESTS, READS_CLOCK))  # fmt: skip
        composition.add(
            requests.extend(seal_timeline) if is_optimistic(composition, me) else requests,
            transition("bulk_inserter_starts_writing", me, at="requested", to="writing",
                       effect=preset(start_writing, **by_rule)),
            transition("bulk_inserter_writes_base", me, at="writing", guards=(BASE_IS_NEXT,), effect=write_file,
                       arguments=next_base, tags=(PUTS_FILE,)),
            transition("bulk_inserter_writes_log", me, at="writing", guards=(LOG_IS_NEXT,), effect=write_file,
                       arguments=next_log, tags=(PUTS_FILE,)),
            transition("bulk_inserter_withdraws_instant", me, at="withdrawing", guards=(LOCK_IS_FREE,),
                       effect=become(BulkInserter("refused"))),
        )  # fmt: skip
        publication(composition, Publication("bulk_inserter", me, "written", partial(published_load, me)))
        check_again(composition, me, by_rule)
    add_pending_actors(composition, BULK_INSERTER, "deltacommit")
    if bulk_inserters:  # a compactor lists the instants of writers alone
        others = [me for kind, actors in composition.actors.items() for me in actors if kind != COMPACTOR.name]
        composition.map_view(OTHER_WRITES, nothing)
        composition.map_view(OTHER_WRITES, other_loads, others)


def request_instant(clock: int, request_time: TakeTime) -> Changes:
    """Under the lock, take a requested time and put the requested instant on the timeline."""
    time, clock = request_time(clock, action="deltacommit")
    return {"own": BulkInserter(requested=time), "clock": clock}


def seal_timeline(own: BulkInserter, published: Published) -> Changes:
    """Record the number of completed instants; only instants that complete afterwards can conflict with an optimistic
    bulk inserter.
    """
    return {"own": own._replace(sealed=len(published))}


def start_writing(own: BulkInserter, me: str, world: World, published: Published, plans: Plans, rule: str) -> Changes:
    """Decide which file groups receive base files and which receive log files, and put the inflight instant."""
    groups = sorted({group for group, _ in world.files(me, 1)})
    # Groups of plans count as filled: a base file put there would hide the rows that the plan merges.
    filled = set() if rule == "unchecked" else filled_groups(published, plans)
    bases = tuple(group for group in groups if group not in filled)
    logs = tuple(group for group in groups if group in filled)
    sealed = len(published) if rule == "resolved" else own.sealed
    return {"own": own._replace(inflight=True, bases=bases, logs=logs, sealed=sealed)}


def filled_groups(published: Iterable[Any], plans: Plans) -> set[int]:
    """Return the file groups that are part of a plan, or contain files of a completed write."""
    written = {group for entry in published if isinstance(entry, Write) for group, _ in entry.files}
    return written | {part.group for plan in plans for part in plan.groups}


def base_is_next(own: BulkInserter) -> bool:
    return own.group in own.bases


def log_is_next(own: BulkInserter) -> bool:
    return own.group in own.logs


BASE_IS_NEXT = Guard("the next file group must be without files", base_is_next)
LOG_IS_NEXT = Guard("the next file group must have files", log_is_next)


def next_base(own: BulkInserter) -> Iterable[Args]:
    return ((("group", own.group),),)


def next_log(own: BulkInserter) -> Iterable[Args]:
    return ((("group", own.group), ("version", 1)),)


def write_file(own: BulkInserter) -> Changes:
    """Put the base or log file of the next file group."""
    last = own.files + 1 == len(own.bases) + len(own.logs)
    return {"own": own._replace(step="written" if last else "writing", files=own.files + 1)}


def check_again(composition: Composition, me: str, by_rule: Mapping[str, str]) -> None:
    """Under the lock, abandon a bulk insert if another write to the same file groups has already completed."""
    overtaken = preset(is_overtaken, **by_rule, optimistic=is_optimistic(composition, me))
    commits = composition.select(COMMITS, actors=[me])
    gives_up = transition("bulk_inserter_gives_up", me, at="overtaken", to="withdrawing", guards=(HOLDS_LOCK,),
                          effect=release_lock, changes=("own", "lock"))  # fmt: skip
    if is_logged(composition):  # the check holds for one number of the log; for the next number it is made again
        reason = "no other write may have completed in its new file groups"
        commits.require(Guard(reason, overtaken, negated=True))
        found = replace(gives_up, guards=(Guard(f"not: {reason}", overtaken),), tags=frozenset((ABANDONS,)))
        commits.exit(lambda _: found)
        return
    look = Branch(overtaken, (go_to("overtaken"),), (become_clear,))
    looks = transition("bulk_inserter_looks_again", me, guards=(MAY_LOOK, HOLDS_LOCK), effect=look)
    composition.select(COMMITS, PUBLISHES, actors=[me]).require(IS_CLEAR)
    composition.add(looks, gives_up)


def is_overtaken(
    own: BulkInserter, protocol: Protocol, published: Published, plans: Plans, rule: str, optimistic: bool
) -> bool:
    """True if another write has filled a file group that the bulk insert assumed empty, or if an optimistic bulk insert
    has a conflict.
    """
    found = False
    # The logs of a bulk insert need no check: their completion time decides their slice.
    if rule == "checked":
        found = not filled_groups(published, plans).isdisjoint(own.bases)
    elif rule == "resolved":
        found = not filled_groups(published[own.sealed :], ()).isdisjoint((*own.bases, *own.logs))
    return found or (optimistic and _conflicts(own, protocol, published, plans))


def _conflicts(own: BulkInserter, protocol: Protocol, published: Published, plans: Plans) -> bool:
    return conflicting(published, plans, UncheckedWrite((*own.bases, *own.logs), (), own.sealed), protocol) is not None


def may_look(own: BulkInserter) -> bool:
    return own.step in (UNDER_LOCK, READY) and not own.clear


def is_clear(own: BulkInserter) -> bool:
    return own.clear


MAY_LOOK = Guard("{me} must be under the lock and not have checked yet", may_look)
IS_CLEAR = Guard("{me} must have checked again", is_clear)


def become_clear(own: BulkInserter) -> Changes:
    """Record that the conflict check under the lock has found no conflict."""
    return {"own": own._replace(clear=True)}


def published_load(me: str, own: BulkInserter) -> tuple[BulkInserter, Write]:
    files = tuple((group, 1) for group in sorted((*own.bases, *own.logs)))
    # "done" and not "idle": a bulk inserter has one write.
    return BulkInserter("done"), Write(own.requested, own.completed, me, 1, files, marks(Loaded(own.bases)))


def other_loads(me: str, every_bulk_inserter: Mapping[str, BulkInserter]) -> tuple[BulkInserter, ...]:
    """Define the view `other_writes`: the states of all bulk inserters other than the observing one."""
    return tuple(each for name, each in every_bulk_inserter.items() if name != me)


MECHANISM = Mechanism(
    rules=lambda protocol: (WithBulkInserts,),
    compose=compose,
    after=("completion", "occ"),
    kinds=(BULK_INSERTER,),
    options=BulkInsert,
    actions=(
        Action("bulk_inserter_requests_instant",
               "under the lock: takes a requested time and puts the requested instant",
               "{actor} requests an instant for a bulk insert"),
        Action("bulk_inserter_starts_writing", "finds the file groups that have files, puts the inflight instant",
               "{actor} starts its bulk insert"),
        Action("bulk_inserter_writes_base", "puts a base file into a file group without files",
               "{actor} loads the base of group {group}", continues_call=True, data_phase=True),
        Action("bulk_inserter_writes_log", "puts a log file into a file group that has files",
               "{actor} writes a log of group {group}", continues_call=True, data_phase=True),
        Action("bulk_inserter_looks_again",
               "under the lock: checks whether another write has completed in its new file groups",
               "{actor} checks whether another write overtook it"),
        Action("bulk_inserter_gives_up", "another write overtook it: releases the lock and publishes nothing",
               "{actor} gives up"),
        Action("bulk_inserter_withdraws_instant", "deletes its files, then, under the lock, its pending instant",
               "{actor} withdraws its bulk insert"),
        *publication_actions("bulk_inserter"),
    ),
)  # fmt: skip
