"""In a copy-on-write table, a write merges its rows with the base file of each touched file group into a new base file.

A copy-on-write table has no log files, and therefore no compactor. A writer chooses the base files when it requests its
instant. If two writers choose the same base file, the rows of one writer are lost unless a conflict check (mechanism
`occ`) aborts the second writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from ..answers import Query, Record
from ..kernel.merge import NOTHING, Fold, Merger, Ranked, evaluate, logs_of, merge
from ..kernel.reads import visible
from ..kernel.table import CompletesAs, Instant, Log, Table, Write
from ..kernel.timeline import PENDING
from ..kernel.writer import REQUESTS, WRITER, WRITER_WRITES_LOG, Writer
from ..machine.composition import Composition
from ..machine.marks import in_shapes, mark
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, limit
from ..machine.transition import Action, Args, Changes, Transition
from ..rules import Rules
from ..slices import FileSlice
from ..validation import nearest
from ..variants.windows import Windows
from ..world import World

TABLE_TYPES = ("MERGE_ON_READ", "COPY_ON_WRITE")


class TableType(Limits):
    """Selects the table type: merge-on-read or copy-on-write."""

    table_type: str = limit("MERGE_ON_READ", "whether writes put log files or base files", section="table")


@in_shapes("bases", "kind")
class Onto(NamedTuple):
    """A record attached to a write: the base files with which the write merged its rows. Each base file is a pair (file
    group, requested time). The requested time is None if the file group had no base file.
    """

    bases: tuple[tuple[int, int | None], ...] = ()
    kind: str = "onto"


class ChangedFiles(NamedTuple):
    """An incremental query of a copy-on-write table. `files` contains one merge tree for each write in the window, in
    completion order. The merge tree combines the write's rows with the base file that the write replaced. The query
    returns only the changes made by the writes in the window.

    A change is an upsert whose row is stored in the new base file, or a delete of a row that existed. An upsert that
    loses against the existing row is not a change. Deleting a row that does not exist is not a change.
    """

    files: tuple[Fold, ...]

    def logs(self) -> Iterator[Log]:
        for file in self.files:
            yield from logs_of(file._replace(base=None))

    def winner(self, record_of: Callable[[Log], Ranked | None], merger: Merger) -> Ranked | None:
        """Return the result of merging all changes of one key.

        A base file stores no ordering value for a deleted row, so deletes merge in completion order: a delete wins over
        every earlier change, and loses against every later change.
        """
        winner: Ranked | None = None
        for place, file in enumerate(self.files):
            (log,) = file.logs
            assert not isinstance(log, Fold), "a copy-on-write table has no log compactions"
            record, won = record_of(log), evaluate(file, record_of, merger)
            below = evaluate(file.base, record_of, merger) if file.base is not None else None
            was_there = below is not None and not below.deleted
            if record is None or won is None or won.content != record.content or (won.deleted and not was_there):
                continue
            record = record._replace(place=float(place))
            meets_delete = record.deleted or (winner is not None and winner.deleted)
            winner = record if meets_delete else merge(winner, record, merger.event_time)
        return winner

    def renamed(self, rename: Callable[[Fold], Fold]) -> ChangedFiles:
        return ChangedFiles(tuple(rename(file) for file in self.files))


def onto(write: Write) -> tuple[tuple[int, int | None], ...]:
    """Return the base files with which a write merged its rows, as pairs (file group, requested time of the base file).
    """
    return mark(write, Onto).bases if write.marks else ()


class WithCopyOnWrite(Rules):
    """The rules for reading copy-on-write tables, which have no log files."""

    compares_requested_times = False

    def as_of(self, table: Table, group: int, time: float) -> Fold:
        if not has_base_files(table):
            return super().as_of(table, group, time)
        base = base_fold(table, group, newest_base(visible(self, table.writes, time), group))
        return NOTHING if base is None else Fold(base, ())

    def incremental(self, table: Table, group: int, after: float, until: float) -> Fold:
        if not has_base_files(table):
            return super().incremental(table, group, after, until)
        fold = window_of(table, group, self.in_window(table, after, until))
        return fold._replace(deletes=self[Windows].window_deletes == "marked")

    def file_slices(self, table: Table, group: int) -> tuple[FileSlice, ...]:
        return slices_of(table, group) if has_base_files(table) else super().file_slices(table, group)

    def shown_row(self, table: Table, query: Query) -> Callable[[Fold, Ranked], Record]:
        show = super().shown_row(table, query)
        return without_ordering(show) if has_base_files(table) else show

    def merger(self, world: Any) -> Merger:
        merger = super().merger(world)
        return merger._replace(keeps_tombstones=False) if is_copy_on_write(world) else merger


def without_ordering(show: Callable[[Fold, Ranked], Record]) -> Callable[[Fold, Ranked], Any]:
    """Wrap the rule `shown_row` so that a delete in the result of an incremental query has no ordering value. Base
    files store no ordering value of a deleted row.
    """

    def show_change(fold: Fold, won: Ranked) -> Any:
        row: Any = show(fold, won)
        return row._replace(ordering=None) if fold.files is not None and row.deleted else row

    return show_change


def has_base_files(table: Table) -> bool:
    return any(write.marks and onto(write) for write in table.writes)


def newest_base(published: tuple[object, ...], group: int) -> int | None:
    """Return the requested time of the newest base file in a file group: the greatest requested time of a published
    write to the group.
    """
    writes = (entry for entry in published if isinstance(entry, Write))
    return max((write.requested for write in writes if group in write.groups), default=None)


def base_fold(table: Table, group: int, base: int | None) -> Fold | None:
    """Return the merge tree of the base file whose write was requested at `base`: the rows of this write, merged with
    the previous base file.
    """
    write = next((write for write in table.writes if write.requested == base), None)
    if write is None:
        return None
    return Fold(base_fold(table, group, dict(onto(write))[group]), write.files_in(group))


def window_of(table: Table, group: int, inside: tuple[Write, ...]) -> Fold:
    """Return the changes made by the writes in an incremental window: each base file is compared with the base file
    that it replaces.
    """
    files = (base_fold(table, group, write.requested) for write in inside if group in write.groups)
    return Fold(None, (), files=ChangedFiles(tuple(file for file in files if file is not None)))


def slices_of(table: Table, group: int) -> tuple[FileSlice, ...]:
    """Return one file slice for each base file of a file group."""
    bases = sorted(write.requested for write in table.writes if write.completed and group in write.groups)
    return tuple(FileSlice(group, base, base, ()) for base in bases)


def is_copy_on_write(world: World) -> bool:
    """True if writes put base files instead of log files."""
    return world[TableType].table_type == "COPY_ON_WRITE"


def compose(composition: Composition) -> None:
    """Let each writer put base files instead of log files. When requesting an instant, the writer chooses the base
    files into which it will merge its rows.
    """
    writers = composition.actors_of(WRITER)
    if not is_copy_on_write(composition.world) or not writers:
        return
    composition.add_field(WRITER, "onto", Onto())
    composition.add_field(WRITER, "completes_as", CompletesAs("commit"))
    composition.select(WRITER_WRITES_LOG, actors=writers).replace(writes_base)
    composition.select(REQUESTS, actors=writers).extend(choose_bases, "own_onto")
    composition.map_view(PENDING, pending_commits)


def writes_base(writes_log: Transition) -> Transition:
    """Return a copy of the transition `writes_log` that puts a base file instead of a log file."""
    return replace(writes_log.renamed("writer_writes_base"), arguments=(next_base,))


def next_base(own: Writer, me: str, world: World) -> Iterable[Args]:
    group, _ = world.files(me, own.number)[own.files]
    return ((("group", group),),)


def choose_bases(own: Writer, me: str, world: World, published: tuple[Any, ...]) -> Changes:
    """For each file group of the write, choose the newest base file."""
    groups = world.groups_of(me, own.number)
    return {"own_onto": Onto(tuple((group, newest_base(published, group)) for group in groups))}


def pending_commits(pending_instants: Iterable[Instant]) -> Iterator[Instant]:
    """Define the view `pending_instants`, in which a pending write of a copy-on-write table has the action `commit`."""
    for each in pending_instants:
        yield each._replace(action="commit") if each.action == "deltacommit" else each


def check(world: World) -> None:
    """Raise ValueError for a world (bounded configuration) that is not modelled with copy-on-write tables."""
    if (chosen := world[TableType].table_type) not in TABLE_TYPES:
        raise ValueError(f"world [table]: type {chosen!r} is not known; {nearest(str(chosen), TABLE_TYPES)}")
    if not is_copy_on_write(world):
        return
    for actor in ("cleaner", "clusterer", "bulk_inserter", "overwriter", "restorer"):
        if world.actors.get(actor):
            raise ValueError(f"world: a {actor} of a COPY_ON_WRITE table is not modelled; leave the {actor} out")
    if world.actors.get("compactor") or world.actors.get("log_compactor") or world.log_versions > 1:
        raise ValueError("world: a COPY_ON_WRITE table has no log files, so no compactor and no log versions")
    for (writer, number), versions in world.writes.items():
        if max(versions) > 1:
            raise ValueError(
                f"world: write {number} of {writer} puts one base file in a file group of a COPY_ON_WRITE table, "
                f"not several log versions, found {versions!r}"
            )


MECHANISM = Mechanism(
    rules=lambda protocol: (WithCopyOnWrite,),
    rules_need_use=True,
    compose=compose,
    after=("clustering", "occ", "insert_overwrite"),
    limits=TableType,
    check=check,
    actions=(
        Action("writer_writes_base", "copy on write: merges its rows onto a base file and puts the new one",
               "{actor} writes the base of group {group}", data_phase=True),
    ),
)  # fmt: skip
