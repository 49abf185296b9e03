"""Promise SAVED: what a savepoint pins can be restored (docs/contract.md)."""

from __future__ import annotations

from collections.abc import Iterator

from ..kernel.table import Table
from ..kernel.timeline import COMPLETED_TABLE
from ..machine.state import State
from ..machine.transition import Step
from ..mechanisms.cleaning.rules import DataFile, needed
from ..mechanisms.log_compaction.rules import with_inputs
from ..mechanisms.restores.mechanism import RESTORER
from ..mechanisms.savepoints import SAVEPOINTER, Savepoint
from ..model import Model
from .cleaning import file_named
from .promise import Promise, components_in, value_in
from .view import on_table


def saved_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise SAVED: each completed savepoint names every file that its state needs, and none of them is deleted.
    A restore returns to the newest savepoint, and keeps the writes that had completed by then.
    """
    assert before is not None
    deleted = value_in(model, after, "deleted", frozenset())
    for saved in model.savepoints(after):
        files, what = files_of_state(model, after, saved), f"the savepoint of t{saved.requested}"
        if unnamed := files.difference(saved.files):
            return f"{what} does not name {file_named(min(unnamed))}, which its state needs"
        if lost := files & deleted:
            return f"{what} needs {file_named(min(lost))}, which is deleted"
    # Before the step: in the step that plans a restore newer savepoints are dropped.
    named = max(model.savepoints(before), key=lambda each: each.at, default=None)
    for me, at, kept in _chosen(model, before, after):
        if named is None or (at, kept) != (named.at, named.writes):
            newest = f"the newest savepoint pins that of t{named.at}" if named else "there is no savepoint"
            return f"{me} restores the state of t{at}, and {newest}"
    return None


def files_of_state(model: Model, state: State, saved: Savepoint) -> frozenset[DataFile]:
    """Return the files of the state that a savepoint pins, and the logs that a log compaction among them covers."""
    table, found = _pinned(model.view(state, COMPLETED_TABLE), saved), set[DataFile]()
    for group in range(model.world.groups):
        # By the model's rules of reading, and not by the savepoint's own list, which is what is judged.
        opened = needed(model.rules, table, group, saved.at)
        logs = [(file.requested, file.version) for file in opened if file.version]
        found |= {*opened, *(DataFile(group, *log) for log in with_inputs(table, group, logs))}
    return frozenset(found)


def _pinned(table: Table, saved: Savepoint) -> Table:
    """Return the table with the writes and compactions that had completed. A reader whose as-of time is a requested
    time also sees writes that completed later; a restore undoes these.
    """
    writes = tuple(write for write in table.writes if write.requested in saved.writes)
    completed = tuple(done if done is None or done <= saved.at else None for done in table.completed)
    return table._replace(writes=writes, completed=completed)


def _chosen(model: Model, before: State, after: State) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Yield each restorer that chooses a savepoint in this step, with the time of the state that it will restore and
    the writes that it keeps. If its lock can be lost, a restorer puts its plan in a later step.
    """
    for me in model.actors_of(RESTORER):
        was, own = model.component(before, me), model.component(after, me)
        if own.to and not was.to:
            yield me, own.to, own.saved_writes
    for each in model.restores(after)[len(model.restores(before)) :]:
        if not model.component(before, each.runner).to:
            yield each.runner, each.at, each.saved_writes


def _on_savepoints(model: Model) -> tuple[str, ...]:
    others = components_in(model, "savepoints", "deleted", "restores")
    return tuple(dict.fromkeys((*on_table(model), *others, *model.actors_of(RESTORER))))


SAVED = Promise(
    name="SAVED",
    about="A savepoint names every file of its state, no clean deletes one of them, and a restore returns to it.",
    source="docs/contract.md, SAVED; Apache Hudi, savepoint and restore",
    kind="step",
    holds=saved_holds,
    sometimes=lambda model, state: bool(model.savepoints(state)),
    reads=_on_savepoints,
    unfit=lambda model: None if model.actors_of(SAVEPOINTER) else "the world has no savepointer",
)
