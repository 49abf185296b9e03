"""Runs an operation of the engine on file groups that hold several ranges, which the model takes one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from nbcc.engine.errors import Conflict
from nbcc.model.kernel.writer import WRITER_WRITES_LOG

from ..control.calls import Call, kind_of, parsed
from ..control.footprints import Access
from ..mechanism import MappingRow
from .engine_operation import EngineOperation
from .protocol import CannotStep, Impossible

WRITES_BASE: Final = "compactor_writes_base"
DELETES: Final = {"rollbacker_deletes_log": "delete log", "cleaner_deletes_files": "delete.all"}
"""The actions that delete files of one range, with the call of the engine that deletes those of a file group."""


class RangeOperation(EngineOperation):
    """An operation of the engine on file groups that hold several ranges, which the model takes one by one. The engine
    writes the base file of a file group at its first range. At the first range of a plan, it deletes all files of the
    plan. It makes no call for the other ranges. No actor observes the difference: readers open no base file before its
    plan is complete, and no file that a plan deletes.
    """

    taken: frozenset[int] = frozenset()
    has_deleted = False

    def step(self, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        has_written = action == WRITES_BASE and args["group"] in self.taken
        if has_written or (self.has_deleted and action in DELETES):
            self.system.harness.step += 1
            return {}
        return super().step(action, args)

    def segment(self, row: MappingRow) -> Mapping[str, Any]:
        if row.action in DELETES:
            self.has_deleted = True
            return super().segment(replace(row, also=(*row.also, DELETES[row.action])))
        return super().segment(row)

    def _run(self, row: MappingRow, title: str) -> list[Call]:
        try:
            return super()._run(row, title)
        except CannotStep as error:
            if row.action == WRITER_WRITES_LOG and isinstance(self.task.error, Conflict):
                # In the model the writer goes on, and is refused under the lock.
                raise Impossible("the engine moves no logs that a rollback has deleted") from error
            raise

    def _observed(self, call: Call) -> Mapping[str, Any]:
        if (name := parsed(call.path)).get("file"):
            self.taken = frozenset(self.system.groups(name.get("partition", ""), name["file"]))
        return super()._observed(call)


def without_deletions(accesses: Iterable[Access]) -> list[Access]:
    """Return the accesses without deletions of data files. A segment of a `RangeOperation` has several of them; in
    worlds without a resize each has a segment of its own.
    """
    return [each for each in accesses if not (each.verb.startswith("delete") and kind_of(each.path) in ("log", "base"))]
