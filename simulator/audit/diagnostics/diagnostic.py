"""A diagnostic names a file, its fault, the consequences, and a remedy for the operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Literal, NamedTuple

from nbcc.engine.config.options import FUNCTION, PARTIAL

from ..view import TableView

Gravity = Literal["BROKEN", "AT RISK"]


class Spot(NamedTuple):
    """One file that violates a rule. `remedy` is a phrase, or an `nbcc table` command with the placeholder {table}."""

    file: str
    because: str
    remedy: str
    gravity: Gravity = "BROKEN"
    promises: tuple[str, ...] = ()


class Rule(NamedTuple):
    """A rule that detects one kind of fault. `find` yields the faults in a table. Each fault violates the rule's
    `promises`, unless the fault names its own. `also` are further promises that some faults name.

    `remedies` are all remedies of the faults, with {table}, {instant}, {files} and {count} in the place of names.
    """

    name: str
    about: str
    promises: tuple[str, ...]
    find: Callable[[TableView], Iterable[Spot]]
    remedies: tuple[str, ...]
    also: tuple[str, ...] = ()


class Diagnostic(NamedTuple):
    """A fault that a rule has detected, with the name of the rule."""

    rule: str
    gravity: Gravity
    promises: tuple[str, ...]
    file: str
    because: str
    remedy: str


READS: Final = ("SNAP", "TRAVEL", "INCR", "RO")
"""The promises about the rows of reads."""

RESTORE = "restore it from a copy"
RESTORE_COMPLETED = "restore its completed file from a copy"
RESTORE_TIMELINE = "restore its timeline files from a copy"

REMOVED: Final = "restore the timeline files of {instant} from a copy, and validate the table again"
REWRITE: Final = "nbcc table {table} rewrite {files}"
WRITE_AGAIN: Final = "write again those of its rows that the table lacks"
AGAIN: Final = (REWRITE, WRITE_AGAIN, REMOVED)
"""The remedies that `again` returns."""

FINISH: Final = "finish the restore that undid it: nbcc table {table} restore"
ROLL_BACK: Final = "nbcc table {table} rollback --instant {instant}"
ROLL_BACK_ELSEWHERE: Final = "roll back the instant {instant} with the engine that wrote it"
UNDO: Final = (ROLL_BACK, ROLL_BACK_ELSEWHERE, FINISH)
"""The remedies that `undo` returns."""


def filled(remedy: str, **names: str) -> str:
    """Return a remedy with names in the place of its placeholders. {table} is replaced when it is printed."""
    for name, value in names.items():
        remedy = remedy.replace(f"{{{name}}}", value)
    return remedy


def again(view: TableView, *paths: str) -> str:
    """Return the remedy for lost rows of the given logs: an `nbcc table` command or an instruction to write the rows
    again.

    While completed instants are missing from the timeline, one of them may have replaced or deleted the rows.
    """
    if view.removed:
        return filled(REMOVED, instant=min(view.removed))
    values = view.audit.properties
    ranked = values.get("hoodie.record.merge.mode") == "EVENT_TIME_ORDERING" and not {PARTIAL, FUNCTION} & {*values}
    if view.audit.own and ranked:
        return filled(REWRITE, files=" ".join(paths))
    return WRITE_AGAIN


def undo(view: TableView, requested: str) -> str:
    """Return the remedy for a pending instant: the command that undoes it, or an instruction."""
    if requested in view.audit.undone:
        return FINISH
    if view.audit.own:
        return filled(ROLL_BACK, instant=requested)
    return filled(ROLL_BACK_ELSEWHERE, instant=requested)


def diagnostics_of(view: TableView, rules: Iterable[Rule]) -> list[Diagnostic]:
    """Return all faults that the rules detect. Faults of gravity BROKEN come first."""
    diagnostics = [
        Diagnostic(rule.name, case.gravity, case.promises or rule.promises, case.file, case.because, case.remedy)
        for rule in rules
        for case in rule.find(view)
    ]
    return sorted(diagnostics, key=lambda diagnostic: diagnostic.gravity != "BROKEN")
