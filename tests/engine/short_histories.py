"""Short random histories in which services overlap: plans stay pending while writes, replaces, state checkpoints,
archivings, resizes and restores happen. There are two keys and two ordering values, so that records of a key often
meet. Some tables have a record index, and their writes insert a key into one partition or another.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from nbcc.engine import Table
from nbcc.engine.audit.gather import gather
from nbcc.engine.errors import BadInput, Cleaned, Conflict
from nbcc.engine.repair.orphans import orphan_files
from nbcc.engine.timeline import Instant, completion_of, load
from nbcc.engine.timeline.commits import Commits
from tests.builders.tables import SCHEMA, batch, make_table, table_of

from .hooked import during

BY_EVENT_TIME: Final = "EVENT_TIME_ORDERING"


class Winner(NamedTuple):
    """The record of a key that wins; the value of a delete is None."""

    ordering: int
    value: str | None
    part: str = "p"


Winners = Mapping[str, Winner]


def fresh(table: Table) -> Table:
    """The table as a new process opens it."""
    return Table(replace(table.context, own_commits=Commits(table.context.storage)), table.config)


@dataclass
class History:
    """A table, and what its readers must see: the winners now, after each write, and at each savepoint."""

    table: Table
    chance: random.Random
    now: Winners = field(default_factory=dict)
    after: dict[str, Winners] = field(default_factory=dict)
    """Completion time of a write -> the winners that it left. A restore removes the times that it has undone."""
    requested: set[str] = field(default_factory=set)
    saved: dict[str, Winners] = field(default_factory=dict)
    plans: list[Callable[[], object]] = field(default_factory=list)
    parts: str = "p"
    """The partitions into which a write inserts a key."""
    homes: dict[str, str] = field(default_factory=dict)
    """Key -> the partition of the write that completed first."""

    def _wrote(self, instant: Instant, winners: Winners) -> None:
        self.now = self.after[completion_of(instant)] = winners
        self.requested.add(instant.requested)

    def _write(self, table: Table, deletes: float = 0.25, key: str = "") -> None:
        key, ordering = key or self.chance.choice(("k0", "k0", "k0", "k1")), self.chance.choice((1, 1, 2))
        value = None if self.chance.random() < deletes else f"{len(self.after)}"
        # A draw from one partition would change the histories that the files of mutants name.
        part = self.chance.choice(self.parts) if len(self.parts) > 1 else self.parts
        rows = table_of(SCHEMA, (key, part, ordering, value))
        instant = table.delete(rows.drop_columns(["a"])) if value is None else table.upsert(rows)
        home = self.homes.setdefault(key, part)  # only now: another write may have completed meanwhile
        by_event_time = table.config.merge_mode == BY_EVENT_TIME
        loses = by_event_time and key in self.now and ordering < self.now[key].ordering
        self._wrote(instant, self.now if loses else {**self.now, key: Winner(ordering, value, home)})

    def write(self) -> None:
        self._write(self.table)

    def delete(self) -> None:
        self._write(self.table, deletes=1)

    def overtake(self) -> None:
        """Complete a write while an older one has put its log and is pending."""
        self._write(during(self.table, ".log.", lambda: self._write(self.table)))

    def births(self) -> None:
        """Insert a new key while another write inserts it, too."""
        key = f"new{len(self.after)}"
        self._write(during(self.table, ".log.", lambda: self._write(self.table, key=key)), key=key)

    def meet(self) -> None:
        """Carry out the newest plan while a write that has read the mapping of keys is pending."""
        self._write(during(self.table, ".log.", self.finish_newest))

    def replaces(self) -> None:
        with suppress(Conflict):  # a plan is pending
            if not values(self.now) or self.chance.random() < 0.5:
                self._wrote(self.table.insert_overwrite(batch(("k0", 1, "new"))), {"k0": Winner(1, "new")})
            else:
                self._wrote(self.table.delete_partition(["part=p"]), {})

    def plan_log_compaction(self) -> None:
        if plan := self.table.schedule_log_compaction():
            self.plans.append(lambda: self.table.run_log_compaction(plan))

    def plan_compaction(self) -> None:
        if plan := self.table.schedule_compaction():
            self.plans.append(lambda: self.table.run_compaction(plan))

    def plan_resize(self) -> None:
        with suppress(Conflict):  # a resize or a replacing write is pending
            if plan := self.table.run("schedule_resize", buckets=self.chance.choice((1, 2, 3))):
                self.plans.append(lambda: self.table.run("run_resize", instant=plan))

    def finish(self, position: int = 0) -> None:
        if self.plans:
            with suppress(Conflict, BadInput):  # a restore has undone the plan
                self.plans.pop(position)()

    def finish_newest(self) -> None:
        self.finish(-1)

    def checkpoint(self) -> None:
        self.table.run("checkpoint_state")

    def archive(self) -> None:
        self.table.archive(retained=1)

    def clean(self) -> None:
        self.table.clean(retained=self.chance.choice((1, 2)))

    def save(self) -> None:
        with suppress(BadInput, Cleaned):  # nothing has completed, or it has a savepoint
            self.saved[self.table.savepoint().requested] = self.now

    def drop(self) -> None:
        for instant in sorted(self.saved)[:1]:
            self.table.delete_savepoint(instant)
            del self.saved[instant]

    def restore(self) -> None:
        """Return to one of the savepoints, after dropping the newer ones."""
        if not self.saved:
            return
        to = self.chance.choice(sorted(self.saved))
        for newer in [*self.saved][[*self.saved].index(to) + 1 :]:  # in the order in which they were pinned
            self.table.delete_savepoint(newer)
            del self.saved[newer]
        if self.table.restore(to) is None:  # nothing to undo
            return
        left = [each for each in self.table.context.history().whole.completed if each.writes]
        times, names = {completion_of(each) for each in left}, {each.requested for each in left}
        self.now = self.saved[to]
        self.after = {time: winners for time, winners in self.after.items() if time in times}
        self.requested &= names

    def judge(self) -> None:
        """Compare what a new process reads: the rows after each write, and the completion time of each instant. No
        data file is an orphan.
        """
        for time, winners in self.after.items():
            with suppress(Cleaned):
                assert read(fresh(self.table).as_of(time)) == values(winners), time
        context = fresh(self.table).context
        active = load(context.storage)
        assert not [orphan for orphan in orphan_files(gather(context.storage)) if not orphan.kept]
        for requested in self.requested:
            assert active.find(requested) or context.commits.archive.find(requested), requested


Operation = Callable[[History], None]
Weights = Mapping[Operation, int]
ALWAYS: Final[Weights] = {History.write: 30, History.finish: 14, History.checkpoint: 12}


def together(**weights: int) -> tuple[tuple[int, Weights]]:
    """One phase, with the usual operations and some others."""
    return ((18, {**ALWAYS, **{getattr(History, name): weight for name, weight in weights.items()}}),)


MIXES: Final[Mapping[str, tuple[tuple[int, Weights], ...]]] = {
    "late writes": together(plan_compaction=14, overtake=20),
    "kept deletes": (
        (5, {History.delete: 3, History.write: 1}),
        (7, {History.plan_compaction: 2, History.finish: 3, History.checkpoint: 3}),
        (6, {History.write: 4, History.checkpoint: 1}),
    ),
    "late logs": together(plan_log_compaction=16, overtake=10),
    "hidden logs": together(plan_log_compaction=16, replaces=12),
    "archive": together(plan_compaction=14, archive=16, replaces=6),
    "cleaned archive": together(plan_compaction=14, archive=10, clean=8),
    "restores": together(plan_compaction=8, save=10, restore=8, drop=2),
    "restored logs": together(plan_log_compaction=8, save=10, restore=8),
    "retired": (
        (8, {History.write: 3, History.plan_log_compaction: 2}),
        (8, {History.replaces: 3, History.clean: 3, History.archive: 3, History.checkpoint: 1}),
        (8, {History.plan_compaction: 3, History.finish: 4, History.write: 2, History.clean: 1}),
    ),
    "resizes": together(plan_resize=16, meet=12, plan_compaction=6),
    "resized logs": (
        (6, {History.write: 3, History.plan_log_compaction: 2}),
        (6, {History.plan_resize: 3, History.finish_newest: 2, History.write: 1}),
        (6, {History.checkpoint: 3, History.finish: 1, History.write: 1}),
    ),
    "cleaned resizes": (
        (6, {History.write: 3, History.plan_compaction: 2}),
        (8, {History.plan_resize: 2, History.finish: 2, History.write: 3, History.clean: 3}),
        (6, {History.finish: 3, History.clean: 2, History.write: 1}),
    ),
    "births": together(births=16, overtake=6, meet=8, plan_compaction=6, plan_resize=6, clean=4),
}
"""What meets in one history: phases, each with its number of steps and the weight of each operation. A mixture of
everything meets too seldom. In `retired` a log compaction is pending while its inputs are hidden and retired, in
`resized logs` while their file groups are replaced.
"""

PARTS: Final = {"births": "pq"}
"""Mix -> its partitions, if it has more than one. Its table has a record index, and every write may insert keys."""


def values(winners: Winners) -> list[tuple[str, str, str]]:
    """The rows of a read, as (key, partition, value)."""
    return sorted((key, won.part, won.value) for key, won in winners.items() if won.value is not None)


def read(rows: Any) -> list[tuple[str, str, str]]:
    return sorted((row["id"], row["part"], row["a"]) for row in rows.to_pylist())


def play(folder: Path, mix: str, seed: int) -> History:
    """Play one history of a mix in a new table. A new process reads the snapshot after each step, and the older states
    at the end.
    """
    chance = random.Random(f"{mix} {seed}")
    mode = chance.choice((BY_EVENT_TIME, "COMMIT_TIME_ORDERING"))
    history = History(make_table(folder / f"{mix} {seed}", merge_mode=mode), chance, parts=PARTS.get(mix, "p"))
    if mix in PARTS:
        history.table.index(inserts="moved")
    for steps, weights in MIXES[mix]:
        for operation in chance.choices(list(weights), list(weights.values()), k=steps):
            operation(history)
            assert read(fresh(history.table).snapshot()) == values(history.now), operation.__name__
    history.judge()
    return history
