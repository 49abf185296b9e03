"""The promise of cleaning: CLEAN."""

from __future__ import annotations

from math import inf

from ..machine.state import State
from ..machine.transition import Step
from ..mechanisms.cleaning.rules import DataFile, needed, needed_by_plans
from ..model import Model
from .promise import Promise, components_in
from .view import on_table, settled_times


def clean_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """CLEAN: no file is deleted that a read at or after the horizon, a pending plan or a savepoint needs. If a reader
    misses a deleted file, its horizon explains that.
    """
    table, bound, deleted = model.table(after), model.horizon(after), model.component(after, "deleted")
    if missing := deleted & needed_by_plans(table):
        return f"a pending plan takes {_named(min(missing))}, which is deleted"
    for time in (inf, *(t for t in settled_times(model, after) if t >= bound)):
        for group in range(model.world.groups):
            if missing := deleted & needed(model.rules, table, group, time):
                what = "the snapshot" if time == inf else f"the read as of t{time}"
                return f"{what} needs {_named(min(missing))}, which is deleted; the horizon is t{bound}"
    for saved in model.savepoints(after):
        for group in range(model.world.groups):
            if missing := deleted & needed(model.rules, table, group, saved.at):
                return f"the savepoint of t{saved.requested} needs {_named(min(missing))}, which is deleted"
    for name in (*model.actors_of("reader"), *model.actors_of("consumer")):
        if model.component(after, name).step == "lost":
            return f"{name} found files deleted, and no horizon explains it"
    return None


def _named(file: DataFile) -> str:
    kind = f"log {file.version}" if file.version else "the base file"
    return f"{kind} of t{file.requested} in group {file.group}"


def _on_files(model: Model) -> tuple[str, ...]:
    cleaning = components_in(model, "cleans", "deleted", "savepoints")
    return (*on_table(model), *cleaning, *model.actors_of("reader"), *model.actors_of("consumer"))


CLEAN = Promise(
    name="CLEAN",
    about="No file that a read since the horizon, a pending plan or a savepoint needs is deleted; "
    "a reader that is behind is refused.",
    source="RFC-66, cleaning by completion time; docs/contract.md, CLEAN",
    kind="state",
    holds=clean_holds,
    sometimes=lambda model, state: bool(model.component(state, "deleted")),
    reads=_on_files,
    unfit=lambda model: None if model.actors_of("cleaner") else "the world has no cleaner",
)
