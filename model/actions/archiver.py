"""Archivers: old completed instants move from the active timeline to the archived one, an LSM tree of its own.

Under the lock: which may go, then the archive with its manifest. Then they leave the active timeline, oldest first, one
by one. Between the two, and after a crash, they are in both; at no moment in neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from ..conditions import at, lock_is_free
from ..services.archiving import archivable, last_decided, staying
from ..step import Action, Args, Guard, Row
from ..table import table_of
from . import Setting, mechanisms

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


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield _archiving(me, setting)
        yield _resuming(me, setting)
        yield _removing(me)


def _archiving(me: str, setting: Setting) -> Row:
    world, protocol = setting.world, setting.protocol
    apart = {me, "clock", "lock", "archive", "removed", "archives", "crashes", *setting.of("reader")}
    others = tuple(name for name in setting.first if name not in apart and name not in setting.of(KIND))

    def chosen(own: Archiver, archive: frozenset[int], removed: frozenset[int], seen: tuple[Any, ...]) -> Any:
        values = dict(zip(others, seen, strict=True))
        pending = chain.from_iterable(each.pending(setting, values) for each in mechanisms())
        active = [entry for entry in values["published"] if entry.requested not in removed]
        table = table_of(values["published"], values.get("plans", ()), log_plans=values.get("log_plans", ()))
        stay = staying(active, table, world.groups, own.retained, protocol) | last_decided(values.get("decisions", ()))
        return archivable(active, (instant.requested for instant in pending), stay, protocol)

    def choices(own: Archiver, lock: Any, archive: Any, removed: Any, archives: int, *seen: Any) -> Iterable[Args]:
        return ((("instants", chosen(own, archive, removed, seen)),),)

    def archives(
        own: Archiver, lock: None, archive: frozenset[int], removed: Any, count: int, *_: Any, instants: tuple[int, ...]
    ) -> tuple[Any, ...]:
        return own._replace(step="removing", left=instants), covered(archive, instants), count + 1

    guards = (
        lock_is_free(),
        Guard("an archiving must be left", lambda *v: v[4] < world.archives, budget=True),
        Guard("nothing archived may be on the active timeline", lambda *v: v[2] == v[3]),
        Guard("there must be an instant that may go", lambda *v: bool(chosen(v[0], v[2], v[3], v[5:]))),
    )
    reads = (me, "lock", "archive", "removed", "archives", *others)
    return Row("archiver_archives_instants", me, reads, (me, "archive", "archives"), (at(me, "idle"),), archives,
               guards, choices)  # fmt: skip


def _resuming(me: str, setting: Setting) -> Row:
    def left(archive: frozenset[int], removed: frozenset[int]) -> tuple[int, ...]:
        return tuple(sorted(archive - removed))

    def resumes(own: Archiver, lock: None, archive: Any, removed: Any, instants: tuple[int, ...]) -> tuple[Any, ...]:
        return (own._replace(step="removing", left=instants),)

    guards = (
        lock_is_free(),
        Guard("something archived must be on the active timeline", lambda *v: bool(left(*v[2:]))),
    )
    return Row("archiver_resumes_archiving", me, (me, "lock", "archive", "removed"), (me,), (at(me, "idle"),), resumes,
               guards, lambda *v: ((("instants", left(*v[2:])),),))  # fmt: skip


def _removing(me: str) -> Row:
    def removes(own: Archiver, removed: frozenset[int], instants: tuple[int, ...]) -> tuple[Any, ...]:
        left = tuple(instant for instant in own.left if instant not in instants)
        return own._replace(step="removing" if left else "idle", left=left), removed | set(instants)

    return Row("archiver_removes_instant", me, (me, "removed"), (me, "removed"), (at(me, "removing"),), removes,
               choices=lambda own, removed: ((("instants", next_to_go(own.left)),),))  # fmt: skip


def covered(archive: frozenset[int], instants: tuple[int, ...]) -> frozenset[int]:
    """What the archive's next manifest covers."""
    return archive | set(instants)


def next_to_go(left: tuple[int, ...]) -> tuple[int, ...]:
    """Of the instants that are archived, the one that leaves the active timeline next: the oldest."""
    return left[:1]
