"""Runs an operation of the engine on file groups that hold several ranges, which the model takes one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from nbcc.engine.errors import Conflict
from nbcc.model import World
from nbcc.model.kernel.writer import WRITER_WRITES_LOG

from ..control.calls import Call, kind_of, parsed
from ..control.footprints import Access
from ..mechanism import MappingRow
from .engine_operation import EngineOperation
from .indexed import has_new_keys
from .protocol import CannotStep, Impossible
from .resized import is_resized

WRITES_BASE: Final = "put base"
DELETES: Final = ("delete log", "delete.all")
"""The calls that delete files of a file group for a rollback or a clean."""


class RangeOperation(EngineOperation):
    """An operation of the engine on file groups that hold several ranges, which the model takes one by one. The engine
    writes the base file of a file group at its first range. At the first range of a plan, it deletes all files of the
    plan. It makes no call for the other ranges. No actor observes the difference: readers open no base file before its
    plan is complete, and no file that a plan deletes.
    """

    taken: frozenset[int] = frozenset()

    def step(self, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        ends = self.system.rows_by_action[action].ends_after
        if args.get("group") in self.taken and ends in (WRITES_BASE, *DELETES):
            self.system.harness.step += 1
            return {}
        return super().step(action, args)

    def segment(self, row: MappingRow) -> Mapping[str, Any]:
        if row.ends_after not in DELETES:
            return super().segment(row)
        found = super().segment(replace(row, also=(*row.also, *DELETES)))
        self.taken = frozenset(range(self.system.world.groups))
        return found

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
        found = super()._observed(call)
        # Of known and new keys, the model takes those that the log has.
        return {name: value for name, value in found.items() if name != "group" or not has_new_keys(self.system.world)}


def holds_several(world: World) -> bool:
    """True if a file group of the engine holds several of the model: ranges of hashes, or known and new keys."""
    return is_resized(world) or has_new_keys(world)


def without_deletions(accesses: Iterable[Access], world: World) -> list[Access]:
    """Return the accesses, in a world with resizes without deletions of data files: a segment of a `RangeOperation` has
    several of them. In other worlds each has a segment of its own.
    """
    if not holds_several(world):
        return [*accesses]
    return [each for each in accesses if not (each.verb.startswith("delete") and kind_of(each.path) in ("log", "base"))]
