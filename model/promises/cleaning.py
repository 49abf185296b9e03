"""Promises about cleaning: CLEAN (no needed file is deleted) and RETAIN (cleaning follows its retention policy)."""

from __future__ import annotations

from math import inf

from ..kernel.reader import READER
from ..kernel.table import Write
from ..machine.state import State
from ..machine.transition import Step
from ..mechanisms.cleaning.mechanism import CLEANER
from ..mechanisms.cleaning.rules import Clean, Cleans, DataFile, needed, needed_by_plans
from ..mechanisms.consumers import CONSUMER
from ..model import Model
from .promise import Promise, components_in
from .view import on_table, settled_times


def clean_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise CLEAN: no clean deletes a file that a read at or after the horizon, a pending plan or a savepoint
    needs. A deleted file may make a read fail only if the time of the read is before the horizon.
    """
    table, bound, deleted = model.table(after), model.horizon(after), model.component(after, "deleted")
    if missing := deleted & needed_by_plans(table):
        return f"a pending plan takes {file_named(min(missing))}, which is deleted"
    for time in (inf, *(t for t in settled_times(model, after) if t >= bound)):
        for group in range(model.world.groups):
            if missing := deleted & needed(model.rules, table, group, time):
                what = "the snapshot" if time == inf else f"the read as of t{time}"
                return f"{what} needs {file_named(min(missing))}, which is deleted; the horizon is t{bound}"
    for saved in model.savepoints(after):
        for group in range(model.world.groups):
            if missing := deleted & needed(model.rules, table, group, saved.at):
                return f"the savepoint of t{saved.requested} needs {file_named(min(missing))}, which is deleted"
    for name in (*model.actors_of(READER), *model.actors_of(CONSUMER)):
        if model.component(after, name).step == "lost":
            return f"{name} found files deleted, and no horizon explains it"
    return None


def retain_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise RETAIN: no clean moves the horizon past the oldest time that the retention policy covers. No file
    needed to read the table as of a retained time is deleted.
    """
    table, gone = model.table(after), set[DataFile]()
    since = max((restore.requested for restore in model.restores(after)), default=0)  # it has undone retained states
    for clean in model.component(after, "cleans"):
        # Of all cleans up to this one, because an earlier clean may have deleted what this one's policy retains.
        gone.update(file for victims in clean.groups for file in victims.files)
        if clean.requested < since:
            continue
        # A plan does not name its author, whose policy it follows, and another cleaner may run it.
        policy = min(model.world.limits_of(each, Cleans).commits_retained for each in model.actors_of(CLEANER))
        what = f"the clean of t{clean.requested} retains {policy} commits"
        for time in _retained_states(model, after, clean, policy):
            if time < clean.horizon:
                return f"{what}, and its horizon t{clean.horizon} refuses the state of t{time}"
            for group in range(model.world.groups):
                if missing := gone & needed(model.rules, table, group, time):
                    return f"{what} and deletes {file_named(min(missing))}, which the state of t{time} needs"
    return None


def _retained_states(model: Model, state: State, clean: Clean, policy: int) -> list[int]:
    writes = [entry for entry in model.component(state, "published") if isinstance(entry, Write)]
    times = sorted(write.completed for write in writes if write.completed is not None)
    # The policy counts back from the state in which the clean was planned, not from the newest state.
    later = sum(time > clean.requested for time in times)
    return times[-(policy + later) :]


def file_named(file: DataFile) -> str:
    kind = f"log {file.version}" if file.version else "the base file"
    return f"{kind} of t{file.requested} in group {file.group}"


def _on_files(model: Model) -> tuple[str, ...]:
    cleaning = components_in(model, "cleans", "deleted", "savepoints")
    return (*on_table(model), *cleaning, *model.actors_of(READER), *model.actors_of(CONSUMER))


def _on_cleans(model: Model) -> tuple[str, ...]:
    return (*on_table(model), *components_in(model, "cleans"))


def _no_cleaner(model: Model) -> str | None:
    return None if model.actors_of(CLEANER) else "the world has no cleaner"


CLEAN = Promise(
    name="CLEAN",
    about="No file that a read since the horizon, a pending plan or a savepoint needs is deleted; "
    "a reader that is behind is refused.",
    source="RFC-66, cleaning by completion time; docs/contract.md, CLEAN",
    kind="state",
    holds=clean_holds,
    sometimes=lambda model, state: bool(model.component(state, "deleted")),
    reads=_on_files,
    unfit=_no_cleaner,
)
RETAIN = Promise(
    name="RETAIN",
    about="Cleaning keeps what its policy states: the states after each of so many newest writes, and later ones.",
    source="docs/contract.md, RETAIN; Apache Hudi, hoodie.clean.commits.retained",
    kind="state",
    holds=retain_holds,
    sometimes=lambda model, state: bool(model.component(state, "cleans")),
    reads=_on_cleans,
    unfit=_no_cleaner,
)
