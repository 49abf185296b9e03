"""Prints the verdicts on locks and stores, and their differences from the accepted verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from .command import answer, echo
from .matrix import changes
from .outcome import Exit, gravest

if TYPE_CHECKING:
    from nbcc.simulator.search.verdicts import Depth, LockVerdicts

SIGNS: Mapping[str, str] = {"HOLDS": "holds", "UNDETERMINED": "?", "NOT_APPLICABLE": "–"}


def lock_tables(rows: Sequence[LockVerdicts]) -> Iterator[str]:
    """Yield two tables: the verdicts on locks and mutants of locks, and the verdicts on each combination of store and
    lock.
    """
    for title, kinds in (("locks", ("lock", "mutant")), ("stores", ("store",))):
        shown = [row for row in rows if row.kind in kinds]
        if shown:
            yield ""
            width = max(len(_named(row)) for row in shown)
            yield f"{title}:"
            yield from (f"  {_named(row):{width}}  {_verdicts(row)}" for row in shown)


def _named(row: LockVerdicts) -> str:
    depth = f" ({row.depth})" if row.kind == "lock" else ""
    return f"{row.name}{depth}" if row.kind != "store" else f"{row.name}: {row.lock}"


def _verdicts(row: LockVerdicts) -> str:
    """Return the verdicts on a lock or a store as text. The text for a store lists only promises that do not hold."""
    cells = {name: _sign(result) for name, result in row.promises.items()}
    if row.lock not in ("storage-lock", "numbered-lock"):
        cells = {name: sign for name, sign in cells.items() if sign not in ("holds", "–")}
    return ", ".join(f"{name} {sign}" for name, sign in cells.items()) or "all promises hold"


def _sign(result: Any) -> str:
    return str(result.steps) if str(result.verdict) == "VIOLATED" else SIGNS[str(result.verdict)]


class LockReport:
    """The verdicts on locks and stores from one run of `nbcc verdicts`."""

    def __init__(self, depth: Depth, accept: bool, alone: bool) -> None:
        self.depth, self.accept, self.alone = depth, accept, alone
        self.rows: tuple[LockVerdicts, ...] = ()

    def search(self, promises: Sequence[str], workers: int, **bounds: Any) -> None:
        """Search all locks and stores for violations, unless --promise is given, because that option selects promises
        about tables.

        Raises click.UsageError if --locks is combined with --promise.
        """
        from nbcc.simulator.search.verdicts import judge_locks

        if promises and self.alone:
            raise click.UsageError("--locks judges MUTEX and LEASE only; leave out --promise")
        if not promises:
            self.rows = judge_locks(self.depth, workers=workers, **bounds)

    def changed(self) -> list[str]:
        """Return the differences between the accepted and the new verdicts. Verdicts that were accepted at a greater
        search depth are ignored.
        """
        from nbcc.simulator.search.verdicts import load_locks, locks_data, locks_facts, locks_path, up_to

        if self.accept or not self.rows:
            return []
        accepted = up_to(load_locks(), self.depth)
        return list(changes(locks_path(), list(locks_facts(accepted)), list(locks_facts(locks_data(self.rows)))))

    def lines(self) -> Iterator[str]:
        """Yield the lines of a report: the tables of verdicts, then the differences from the accepted verdicts."""
        yield from lock_tables(self.rows)
        yield from self.changed()

    def to_json(self) -> list[dict[str, Any]]:
        """Return the verdicts on locks and stores as JSON, for `--json`."""
        from nbcc.simulator.search.verdicts import locks_json

        return locks_json(self.rows)

    def write(self) -> None:
        """Save the new verdicts as the accepted verdicts, unless a verdict is UNDETERMINED."""
        from nbcc.simulator.search.verdicts import load_locks, locks_data, locks_path, locks_text, with_accepted

        if self.rows and not self._is_undetermined():
            data = with_accepted(locks_data(self.rows), load_locks(), self.depth)
            locks_path().write_text(locks_text(data), encoding="utf-8")

    def exit(self) -> Exit:
        """Return the exit code: VIOLATED if any verdict differs from the accepted one, UNDETERMINED if any is
        undetermined.
        """
        doubts = [Exit.UNDETERMINED] if self._is_undetermined() else []
        return gravest([Exit.AGREES, *([Exit.VIOLATED] if self.changed() else []), *doubts])

    def report(self, as_json: bool) -> Exit:
        """Print only the verdicts on locks and stores. With --accept, save the verdicts as the accepted ones."""
        if self.accept:
            self.write()
        if as_json:
            answer({"locks": self.to_json()})
        else:
            for line in [*lock_tables(self.rows), *self.changed()]:
                echo(line)
        return self.exit()

    def _is_undetermined(self) -> bool:
        return any(str(each.verdict) == "UNDETERMINED" for row in self.rows for each in row.promises.values())
