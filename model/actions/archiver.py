"""Archivers: old completed instants move from the active timeline to the archived one, an LSM tree of its own.

Under the lock: which may go, then the archive with its manifest. Then they leave the active timeline, oldest first, one
by one. Between the two, and after a crash, they are in both; at no moment in neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..kernel.lock import LOCK_IS_FREE
from ..kernel.table import Instant, Plan, table_of
from ..machine.transition import Action, Args, Changes, Guard, Transition, transition
from ..mechanisms.archiving import archivable, last_decided, staying
from ..mechanisms.log_compaction import with_log_plans
from ..rules import rules_of
from ..world import World
from . import Setting

KIND, PREFIX = "archiver", "a"
SERVICE = True
ACTIONS = (
    Action("archiver_archives_instants", "under the lock: adds what may go to the archive and puts its manifest",
           "{actor} archives {instants}"),
    Action("archiver_resumes_archiving", "takes up what a dead archiver has left on both timelines",
           "{actor} takes up {instants}, which are archived and still on the active timeline"),
    Action("archiver_removes_instant", "takes the oldest of them off the active timeline",
           "{actor} takes {instants} off the active timeline"),
)  # fmt: skip


class Archiver(NamedTuple):
    """`left`: the requested times of the instants that it has still to take off the active timeline, ascending.

    `retained`: how many writes stay there.
    """

    retained: int
    step: str = "idle"
    left: tuple[int, ...] = ()
    dead: bool = False

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step != "idle"


def components(setting: Setting) -> dict[str, Any]:
    """`archive`: the requested times that the manifest covers; `removed`: those that left the active timeline;
    `archives`: how often anything was archived."""
    mine = setting.of(KIND)
    shared = {"archive": frozenset(), "removed": frozenset(), "archives": 0} if mine else {}
    return {**shared, **{me: Archiver(setting.world.instants_retained) for me in mine}}


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in setting.of(KIND):
        yield transition("archiver_archives_instants", me, at="idle", to="removing",
                         guards=(LOCK_IS_FREE, *TO_ARCHIVE), arguments=instants_to_archive,
                         effect=archive_instants, changes=("own", "archive", "archives"))  # fmt: skip
        yield transition("archiver_resumes_archiving", me, at="idle", to="removing",
                         guards=(LOCK_IS_FREE, LEFT_ON_BOTH), arguments=instants_on_both,
                         effect=resume_archiving)  # fmt: skip
        yield transition("archiver_removes_instant", me, at="removing", arguments=oldest_left,
                         effect=remove_instant, changes=("own", "removed"))  # fmt: skip


def archiving_is_left(archives: int, world: World) -> bool:
    return archives < world.archives


def none_is_on_both(archive: frozenset[int], removed: frozenset[int]) -> bool:
    return archive == removed


def some_is_on_both(archive: frozenset[int], removed: frozenset[int]) -> bool:
    return archive != removed


def instants_to_archive(
    own: Archiver, setting: Setting, removed: frozenset[int], published: tuple[Any, ...],
    pending_instants: Iterable[Instant], plans: tuple[Plan, ...], log_plans: tuple[Plan, ...] = (),
    decisions: tuple[Any, ...] = (),
) -> Iterable[Args]:  # fmt: skip
    """The oldest completed instants that may leave the active timeline, as one argument; none if there are none."""
    rules = rules_of(setting.protocol)
    active = [entry for entry in published if entry.requested not in removed]
    table = with_log_plans(table_of(published, plans), published, log_plans)
    stay = staying(rules, active, table, setting.world.groups, own.retained) | last_decided(decisions)
    chosen = archivable(rules, active, (instant.requested for instant in pending_instants), stay)
    return ((("instants", chosen),),) if chosen else ()


def archive_instants(own: Archiver, archive: frozenset[int], archives: int, *, instants: tuple[int, ...]) -> Changes:
    """Under the lock: add the instants to the archive and put its manifest."""
    return {"own": own._replace(left=instants), "archive": covered(archive, instants), "archives": archives + 1}


def instants_on_both(archive: frozenset[int], removed: frozenset[int]) -> Iterable[Args]:
    """What a dead archiver has left on both timelines."""
    return ((("instants", tuple(sorted(archive - removed))),),)


def resume_archiving(own: Archiver, *, instants: tuple[int, ...]) -> Changes:
    """Take over what a dead archiver has left."""
    return {"own": own._replace(left=instants)}


def oldest_left(own: Archiver) -> Iterable[Args]:
    return ((("instants", next_to_go(own.left)),),)


def remove_instant(own: Archiver, removed: frozenset[int], *, instants: tuple[int, ...]) -> Changes:
    """Take the oldest of them off the active timeline."""
    left = tuple(instant for instant in own.left if instant not in instants)
    return {"own": own._replace(step="removing" if left else "idle", left=left), "removed": removed | set(instants)}


TO_ARCHIVE = (
    Guard("an archiving must be left", archiving_is_left, limit=True),
    Guard("nothing archived may be on the active timeline", none_is_on_both),
    Guard("there must be an instant that may go", instants_to_archive),
)
LEFT_ON_BOTH = Guard("something archived must be on the active timeline", some_is_on_both)


def covered(archive: frozenset[int], instants: tuple[int, ...]) -> frozenset[int]:
    """What the archive's next manifest covers."""
    return archive | set(instants)


def next_to_go(left: tuple[int, ...]) -> tuple[int, ...]:
    """Of the instants that are archived, the one that leaves the active timeline next: the oldest."""
    return left[:1]
