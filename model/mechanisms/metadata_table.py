"""The metadata table (RFC-15) is a second table that lists the files of the data table, and must agree with it.

By default, an actor commits the added and removed files to the metadata table before publishing an instant. The commit
to the metadata table is a deltacommit with the requested time of the instant, made under the lock that covers
publication. After the commit to the metadata table, the instant completes in the data table. Because the metadata table
is written first, it contains every completed instant of the data table. The metadata table may also contain instants
that never complete, because their actors have crashed. Readers list files through the metadata table, and use only
deltacommits whose instant is complete in the data table. RFC-22, "Updating Metadata Table", says that "the
reconciliation of the metadata will be done by the metadata reader".

The metadata table has one writer at a time, so a pending deltacommit found there must belong to a crashed actor. An
actor rolls back the deltacommit of a crashed actor before beginning a new deltacommit. If an instant is applied twice,
the metadata table lists the files of the instant once. The module `metadata_entries` models concurrent writers.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

from ..kernel.lock import release_lock, released
from ..kernel.publication import (
    PUBLISHES,
    READY,
    TAKES_COMPLETION_TIME,
    TAKES_LOCK,
    Publication,
    Publish,
)
from ..kernel.reader import KEPT, READ_LEFT, READER, READER_READS, READER_STARTS_LISTING
from ..kernel.table import Compaction, Write
from ..kernel.timeline import VISIBLE, VISIBLE_WRITES, Published
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, limit, option
from ..machine.transition import Action, Changes, Effect, Transition, go_to, preset, transition
from ..protocol import Protocol
from ..rules import Rules
from ..variants.visibility import PendingVisible, Visibility
from ..world import World
from .decision_log import READY_TO_DECIDE, DecisionLog
from .log_compaction.rules import LogCompaction
from .rollback.rollbacker import ROLLBACKER


class MetadataOptions(Options):
    """The options that decide when the metadata table is written and how readers use it."""

    metadata_commit: Literal["before_data", "after_data"] = option(
        "before_data",
        "before_data: an instant is committed to the metadata table before it completes in the data table; after_data: "
        "afterwards",
    )
    metadata_lock: Literal["under_lock", "outside_lock"] = option(
        "under_lock",
        "under_lock: the metadata table is written under the lock that also covers publication; outside_lock: before "
        "that lock is taken, so that two actors may write it at once",
    )
    metadata_again: Literal["applied", "refused"] = option(
        "applied",
        "applied: an instant that the metadata table has already is applied again, which changes nothing; refused: it "
        "is an error",
    )
    metadata_read: Literal["after_timeline", "before_timeline"] = option(
        "after_timeline",
        "after_timeline: a reader lists files through the metadata table after it has listed the timeline; "
        "before_timeline: it uses files that it listed earlier",
    )
    metadata_trust: Literal["completed", "listed"] = option(
        "completed",
        "completed: a reader uses only files whose instant is complete in the data table; listed: it uses every file "
        "that the metadata table lists",
    )


class HasMetadataTable(Limits):
    """The setting of a world (bounded configuration) that decides whether the table has a metadata table."""

    metadata_table: int = limit(
        0, "1: readers list files through a metadata table; 0: they list the store", section="table"
    )


class MetadataTable(NamedTuple):
    """The content of the metadata table: the requested times of its completed deltacommits (`listed`) and pending
    deltacommits (`begun`).
    """

    listed: frozenset[int] = frozenset()
    begun: frozenset[int] = frozenset()

    def begin(self, requested: int) -> MetadataTable:
        """Begin a deltacommit with the given requested time in the metadata table. Roll back any pending deltacommit.
        Remove any completed deltacommit with the given requested time.
        """
        return MetadataTable(self.listed - {requested}, frozenset({requested}))

    def commit(self, requested: int) -> MetadataTable:
        """Complete the deltacommit requested at `requested`, unless it has been rolled back."""
        added = self.begun & {requested}
        return MetadataTable(self.listed | added, self.begun - added)


def refine(protocol: Protocol) -> tuple[type[Rules], ...]:
    """Return the rules for readers that trust only the metadata table, and therefore also see pending instants."""
    return (PendingVisible,) if protocol[MetadataOptions].metadata_trust == "listed" else ()


def through(published: tuple[Any, ...], listed: frozenset[int] | None) -> tuple[Any, ...]:
    """Return the published instants as a reader sees them through the metadata table. `listed` contains the instants in
    the metadata table; None if the reader does not use the metadata table.

    If a write is not in the metadata table, the reader sees none of its files. Compactions that are not in the metadata
    table are omitted.
    """
    if listed is None:
        return published
    seen = (entry if entry.requested in listed else _without_files(entry) for entry in published)
    return tuple(entry for entry in seen if entry is not None)


def _without_files(entry: Any) -> Any:
    if isinstance(entry, Write):
        return entry._replace(files=())
    return None if isinstance(entry, (Compaction, LogCompaction)) else entry


UNLISTED, BEGUN = "about to list its files", "listing its files"
LISTED, PUBLISHED = "its files are listed", "published, its files not listed"
FILES_LISTED = "has listed files"
REFUSED = "refused by the metadata table"


class ListedFiles(NamedTuple):
    """The instants whose files a reader has found in the metadata table; None until the reader has listed files."""

    instants: frozenset[int] | None = None


def compose(composition: Composition) -> None:
    """Let every publishing actor update the metadata table, and let every reader list files through it."""
    if not composition.world[HasMetadataTable].metadata_table:
        return
    options = composition.protocol[MetadataOptions]
    composition.add_component("metadata", MetadataTable())
    for each in composition.facts(Publication).values():
        if options.metadata_commit == "after_data":
            _list_after_publication(composition, each)
        elif options.metadata_lock == "under_lock":
            _list_before_publication(composition, each)
        else:
            _list_before_lock(composition, each)
        if options.metadata_again == "refused":
            known, gives_up = preset(is_listed, requested=each.requested), preset(give_up_listing, publish=each.publish)
            composition.select("actor_begins_metadata", actors=[each.actor]).divert(known, gives_up, changes=("lock",))
    for me in composition.actors_of(ROLLBACKER):
        composition.select("actor_commits_metadata", actors=[me]).extend(remove_rolled_back, "metadata")
    composition.map_view(VISIBLE, listed_instants)
    if options.metadata_trust == "listed" and composition.protocol[Visibility].visibility == "completed":
        composition.map_view(VISIBLE_WRITES, every_write)
    composition.map_view(VISIBLE_WRITES, listed_writes)
    _reading(composition, options)


def _begins(each: Publication) -> Transition:
    begin = preset(begin_listing, requested=each.requested)
    return transition("actor_begins_metadata", each.actor, effect=begin, changes=("own", "metadata"))


def _commits(each: Publication) -> Transition:
    commit = preset(commit_listing, requested=each.requested)
    return transition("actor_commits_metadata", each.actor, effect=commit, changes=("own", "metadata"))


def _list_before_publication(composition: Composition, each: Publication) -> None:
    ways = composition.select(TAKES_COMPLETION_TIME, TAKES_LOCK, actors=[each.actor])
    [last] = (way.action for way in ways if way.to in (READY, READY_TO_DECIDE))
    before = composition.select(last, actors=[each.actor])
    before.insert_after(UNLISTED, lambda _: _begins(each))
    begins = composition.select("actor_begins_metadata", actors=[each.actor])
    begins.insert_after(BEGUN, lambda _: _commits(each))


def _list_before_lock(composition: Composition, each: Publication) -> None:
    ways = composition.select(TAKES_COMPLETION_TIME, TAKES_LOCK, actors=[each.actor])
    [first] = (way.action for way in ways if way.at == each.since)
    composition.select(first, actors=[each.actor]).insert_before(LISTED, lambda _: _begins(each))
    begins = composition.select("actor_begins_metadata", actors=[each.actor])
    begins.insert_after(BEGUN, lambda _: _commits(each))


def _list_after_publication(composition: Composition, each: Publication) -> None:
    append = (preset(append_instant, publish=each.publish), go_to(PUBLISHED))
    composition.select(PUBLISHES, actors=[each.actor]).replace(lambda last: replace(last, effects=append))
    commits = _commits(each).extend(preset(leave, publish=each.publish)).extend(release_lock, "lock")
    composition.add(
        replace(_begins(each), at=PUBLISHED, to=BEGUN),
        replace(commits, at=BEGUN),
    )


def begin_listing(own: Any, metadata: MetadataTable, requested: str) -> Changes:
    """Roll back any pending deltacommit of the metadata table, and begin a deltacommit for the actor's instant."""
    return {"own": own._replace(step=BEGUN), "metadata": metadata.begin(getattr(own, requested))}


def commit_listing(own: Any, metadata: MetadataTable, requested: str) -> Changes:
    """Complete the deltacommit in the metadata table, which then lists the files of the actor's instant."""
    return {"metadata": metadata.commit(getattr(own, requested))}


def remove_rolled_back(own: Any, metadata: MetadataTable) -> Changes:
    """Remove the files of a rolled-back write from the metadata table."""
    return {"metadata": metadata._replace(listed=metadata.listed - {own.target})}


def is_listed(own: Any, metadata: MetadataTable, requested: str) -> bool:
    """True if the metadata table already contains the instant of the actor."""
    return getattr(own, requested) in metadata.listed


def give_up_listing(own: Any, me: str, lock: str | None, publish: Publish) -> Changes:
    """Let an actor abandon its instant, because the metadata table already contains it. The instant never completes in
    the data table. The actor does not retry, because the metadata table would refuse the instant again.
    """
    return {"own": publish(own)[0]._replace(step=REFUSED), "lock": released(lock, me)}


def append_instant(own: Any, published: tuple[Any, ...], publish: Publish) -> Changes:
    """Put the completed instant, but keep the lock until the metadata table lists the instant's files."""
    return {"published": (*published, publish(own)[1])}


def leave(own: Any, publish: Publish) -> Changes:
    return {"own": publish(own)[0]}


def listed_instants(visible_instants: tuple[Any, ...], metadata: MetadataTable) -> tuple[Any, ...]:
    """Redefine the view `visible_instants` to omit the files of instants that the metadata table does not list."""
    return through(visible_instants, metadata.listed)


def every_write(unpublished_writes: tuple[Write, ...]) -> tuple[Write, ...]:
    """Define the view `visible_writes` as all unpublished writes, for readers that trust the metadata table instead of
    the timeline.
    """
    return unpublished_writes


def listed_writes(visible_writes: tuple[Write, ...], metadata: MetadataTable) -> tuple[Write, ...]:
    """Redefine the view `visible_writes` to omit writes whose files the metadata table does not list."""
    return tuple(write for write in visible_writes if write.requested in metadata.listed)


def list_files(metadata: MetadataTable) -> Changes:
    """List files through the metadata table instead of listing the object store."""
    return {"own_files": ListedFiles(metadata.listed)}


def _reading(composition: Composition, options: MetadataOptions) -> None:
    if options.metadata_read == "after_timeline":
        lists_before_reading(composition, list_files)
        return
    composition.add_field(READER, "files", ListedFiles())
    composition.map_view(KEPT, kept_instants)
    begins = composition.find(READER_STARTS_LISTING)
    lists = (replace(lists_files(each.actor), to=FILES_LISTED, guards=each.guards) for each in begins)
    composition.add(*lists)
    begins.replace(lambda start: replace(start, at=FILES_LISTED, guards=(READ_LEFT,)))


def lists_before_reading(composition: Composition, lists: Effect) -> None:
    """Let every reader list files by the effect `lists` once it has kept its instants."""
    composition.add_field(READER, "files", ListedFiles())
    composition.map_view(KEPT, kept_instants)
    composition.find(READER_READS).insert_before(FILES_LISTED, partial(lists_files, lists=lists))


def lists_files(me: str, lists: Effect = list_files) -> Transition:
    return transition("reader_lists_files", me, effect=lists)


def kept_instants(kept_instants: Published, own_files: ListedFiles) -> Published:
    """Redefine the view `kept_instants` to omit the files that the reader has not found in the metadata table."""
    return through(kept_instants, own_files.instants)


def check(world: World) -> None:
    """Raise ValueError if the world has more than one metadata table."""
    if (found := world[HasMetadataTable].metadata_table) > 1:
        raise ValueError(f"world [table]: metadata_table is 0 or 1, found {found}")


def agree(protocol: Protocol) -> None:
    """Raise ValueError for a decision log, unless the metadata table is written under the lock before the data table.
    """
    options = protocol[MetadataOptions]
    usual = (options.metadata_commit, options.metadata_lock) == ("before_data", "under_lock")
    if protocol[DecisionLog].decision == "log" and not usual:
        raise ValueError(
            "protocol: decision = 'log' is modelled with a metadata table that is written under the lock, before the "
            "data table"
        )


MECHANISM = Mechanism(
    rules=refine,
    compose=compose,
    options=MetadataOptions,
    limits=HasMetadataTable,
    after=("clocks", "decision_log", "*"),
    check=check,
    agree=agree,
    actions=(
        Action("actor_begins_metadata", "begins a deltacommit of its instant in the metadata table, and rolls back "
               "what it finds begun", "{actor} begins to list its files in the metadata table", continues_call=True),
        Action("actor_commits_metadata", "completes that deltacommit: its files are listed",
               "{actor} has listed its files", continues_call=True),
        Action("reader_lists_files", "lists files through the metadata table: those of completed instants",
               "{actor} lists files through the metadata table", continues_call=True),
    ),
)  # fmt: skip
