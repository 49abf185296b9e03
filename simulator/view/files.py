"""Determines the slice and the status of each file in a state of the model, and why a read skips a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any, NamedTuple

from nbcc.model import FileSlice, Model
from nbcc.model.kernel.merge import Combination, Fold, Ranked, evaluate, logs_of
from nbcc.model.kernel.reads import base_file
from nbcc.model.kernel.table import Log, Table
from nbcc.model.mechanisms import copy_on_write
from nbcc.model.mechanisms.log_compaction import rules as log_compaction
from nbcc.model.variants.slicing import Slicing

from .content import ContentRow, FileName, FileState
from .rows import Example, reader_table, shown


class _PlanPart(NamedTuple):
    requested: int
    logs: tuple[Log, ...]


class FileStates:
    """Determines, for one read, the status of every file in each state of a run."""

    def __init__(self, model: Model, case: Example) -> None:
        self.model = model
        self.case = case
        self._tables: dict[Any, dict[FileName, FileState]] = {}
        self._bases: dict[tuple[int, int], tuple[ContentRow, ...]] = {}

    def at(self, state: Any) -> dict[FileName, FileState]:
        """Map each file and slice to its status and content.

        The status is "read", "merged", "hidden" or "pending". A log is "merged" if its rows are in a base file that is
        read. A log is "pending" until its write completes, and a base file until its compaction completes.
        """
        rests_on = (self.model.table(state), self._reader(state))
        if rests_on not in self._tables:
            self._tables[rests_on] = self._listed(state)
        found = dict(self._tables[rests_on])
        for group in range(self.model.world.groups):
            barriers = [plan.requested for plan in self.model.component(state, "plans") if plan.part_in(group)]
            for log in self._pending(state, group):
                rows, barrier = self._rows(group, log), max(barriers, default=0)
                found.setdefault(FileName("log", group, *log), FileState("pending", "not completed", rows, barrier))
        return found

    def _reader(self, state: Any) -> tuple[int, Table] | None:
        reader = self.case.reading.reader
        return reader_table(self.model, state, reader) if reader else None

    def _listed(self, state: Any) -> dict[FileName, FileState]:
        seen = self._reader(state)
        table = seen[1] if seen else self.model.table(state)
        by_group: dict[int, list[FileSlice]] = {group: [] for group in range(self.model.world.groups)}
        for each in self.model.slices(state):
            by_group[each.group].append(each)
        found: dict[FileName, FileState] = {}
        for group, slices in by_group.items():
            found.update(self._in_group(state, group, slices, self._fold(table, group)))
        return found

    def _in_group(
        self, state: Any, group: int, slices: list[FileSlice], fold: Fold
    ) -> Iterator[tuple[FileName, FileState]]:
        bases = [each.base for each in slices if each.base]
        taken = {log: part.requested for part in reversed(self._plans(state, group)) for log in part.logs}
        merged = frozenset(logs_of(fold.base)) if fold.base is not None else frozenset()
        read = frozenset(logs_of(fold._replace(base=None)))
        table = self.model.table(state)
        inputs = log_compaction.inputs_by_compaction(table, group)
        for each in slices:
            newer = min((base for base in bases if fold.base is not None and base > (each.barrier or 0)), default=0)
            whole = FileState("hidden", f"replaced by base t{newer}") if newer else FileState("read", "")
            yield FileName("slice", group, each.barrier or 0), whole
            if each.barrier is not None:
                yield FileName("base", group, each.barrier), self._base(state, each, newer)
            for log in each.logs:
                # The rows of a log compaction's log are those of its inputs: folds name only these.
                rows_of = [one for one in log_compaction.with_inputs(table, group, (log,)) if one[0] not in inputs]
                if read.issuperset(rows_of):
                    names = ", ".join(f"t{time}.log.{version}" for time, version in rows_of)
                    shown = FileState("read", f"in place of {names}" if rows_of != [log] else "")
                elif merged.issuperset(rows_of):
                    base = next(taken[one] for one in (log, *rows_of) if one in taken)
                    shown = FileState("merged", self._compacted(state, group, base, log))
                else:
                    shown = FileState("hidden", self._skipped(state, log, newer) if newer else self._left_out())
                rows, barrier = self._rows(group, log), each.barrier or 0
                yield FileName("log", group, *log), shown._replace(rows=rows, barrier=barrier)

    def _plans(self, state: Any, group: int) -> list[_PlanPart]:
        plans = self.model.component(state, "plans")
        return [_PlanPart(plan.requested, part.logs) for plan in plans if (part := plan.part_in(group)) is not None]

    def _compacted(self, state: Any, group: int, barrier: int, log: Log) -> str:
        base = {row.key: row.requested for row in self._content(state, group, barrier)}
        rows = self._rows(group, log)
        if not rows or any(base.get(row.key) == log[0] for row in rows):
            return f"in base t{barrier}"
        gone = all(row.value is None and row.key not in base for row in rows)
        return f"compacted into t{barrier}, {'not kept' if gone else 'outranked'}"

    def _skipped(self, state: Any, log: Log, newer: int) -> str:
        slicing = self.model.protocol[Slicing].slicing
        if slicing == "base_instant":
            return f"named before base t{newer}: skipped"
        completed = next(each.completed for each in self.model.timeline(state) if each.requested == log[0])
        time = f"requested t{log[0]}" if slicing == "requested" else f"completed t{completed}"
        return f"{time} < barrier t{newer}: skipped"

    def _left_out(self) -> str:
        query = self.case.reading.query
        if self.case.reading.reader and query.kind == "incremental":
            return f"in no window of {self.case.reading.reader}"
        if self.case.reading.reader:
            return f"not in {self.case.reading.reader}'s listing"
        if query.kind == "incremental":
            return f"outside (t{query.after or 0}, t{query.until}]"
        return "in a replaced file group" if query.until is None else f"after t{query.until}"

    def _base(self, state: Any, each: FileSlice, newer: int) -> FileState:
        barrier = each.barrier or 0
        if each.base is None:
            self._bases.pop((each.group, barrier), None)
        rows = self._content(state, each.group, barrier)
        if each.base is None:
            return FileState("pending", "being compacted", rows)
        return FileState("hidden", f"replaced by base t{newer}", rows) if newer else FileState("read", "", rows)

    def _content(self, state: Any, group: int, barrier: int) -> tuple[ContentRow, ...]:
        if (group, barrier) not in self._bases:
            table = self.model.table(state)
            rewritten = copy_on_write.base_fold(table, group, barrier) if copy_on_write.has_base_files(table) else None
            shape = rewritten or base_file(self.model.rules, table, group, barrier)
            self._bases[group, barrier] = tuple(self._base_rows(shape, group)) if shape else ()
        return self._bases[group, barrier]

    def _base_rows(self, shape: Fold, group: int) -> Iterator[ContentRow]:
        keys = {key for log in logs_of(shape) for key in self._file(group, log)}
        merger = self.model.merger
        for key in sorted(keys, key=str):
            if merger.combination:
                yield from self._combined_row(shape, group, key, merger.combination)
                continue

            def record_of(log: Log, key: Any = key) -> Ranked | None:
                record = self._file(group, log).get(key)
                return None if record is None else Ranked(record.ordering, 0, record.deleted, (record, log[0]))

            won = evaluate(shape, record_of, merger)
            if won is not None and (merger.keeps_tombstones or not won.deleted):
                record, requested = won.content
                yield ContentRow(str(key), None if won.deleted else str(record.value), won.ordering, requested)

    def _combined_row(self, shape: Fold, group: int, key: Any, by: Combination) -> Iterator[ContentRow]:
        merger = self.model.merger
        made = by.read(shape, lambda log: self._file(group, log).get(key), merger, deletes=merger.keeps_tombstones)
        rows = by.records_of(made, lambda log: self._file(group, log)[key], window=False) if made is not None else ()
        for row in rows:
            yield ContentRow(str(key), None if row.deleted else str(row.value), row.ordering, row.requested)

    def _fold(self, table: Table, group: int) -> Fold:
        query, rules = self.case.reading.query, self.model.rules
        if query.kind == "incremental":
            return rules.incremental(table, group, query.after or 0, query.until or inf)
        until = query.until if query.kind in ("as_of", "changes") else None
        return rules.as_of(table, group, inf if until is None else until)

    def _pending(self, state: Any, group: int) -> Iterator[Log]:
        for write in self.model.pending_writes(state):
            yield from self.model.rules.logs_of(write, group)

    def _file(self, group: int, log: Log) -> Mapping[Any, Any]:
        return self.case.data.get(log[0], {}).get((group, log[1]), {})

    def _rows(self, group: int, log: Log) -> tuple[ContentRow, ...]:
        records = self._file(group, log).items()
        return tuple(ContentRow(str(key), shown(record), record.ordering) for key, record in records)
