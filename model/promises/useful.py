"""Promise USEFUL: a table service that is due and may run does what its policy states (docs/contract.md).

PROGRESS states that a fair run takes every step that stays possible. USEFUL adds that the step is there: in every state
in which the policy of a service has work, the lock is free and the service is idle, the service can act, and what it
plans covers that work. The work is computed from completed instants and file slices, not from the service's own guards.
A compactor, moreover, does not go on after a file of its plan was deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any, Final, NamedTuple

from ..kernel.compactor import COMPACTOR, COMPACTOR_WRITES_BASE
from ..kernel.timeline import COMPLETED_TABLE
from ..machine.bound import BoundTransition
from ..machine.state import State
from ..machine.transition import Step
from ..mechanisms.archiving.mechanism import ARCHIVER
from ..mechanisms.archiving.rules import ArchiveLimits
from ..mechanisms.cleaning.mechanism import CLEANER
from ..mechanisms.cleaning.rules import Cleans, CompletedClean, DataFile, needed, needed_by_plans, taken_files
from ..mechanisms.endless import Endless
from ..mechanisms.log_compaction.mechanism import LOG_COMPACTOR
from ..mechanisms.log_compaction.rules import ADDS_FILES, log_plans_of, with_inputs
from ..mechanisms.metadata_entries import METADATA_COMPACTOR, pending_base
from ..mechanisms.restores.rules import Restored
from ..model import Model
from .cleaning import file_named
from .progress import UNFAIR
from .promise import Promise, components_in, value_in
from .services import bases_by, files_of
from .view import View, on_table, view_of

Work = frozenset[Any]
"""What the policy of a service has to do: file groups to compact, files to delete, or instants to archive."""
NOTHING: Final[Work] = frozenset()


class ServicePolicy(NamedTuple):
    """The policy of one kind of table service.

    `due(model, state, actor)` returns the work that the policy states. `planned(model, state)` returns the newest plan,
    and the work that it covers. `says` puts one piece of work in words. `input_step` is the action that reads the input
    files of a plan; '' if there is none.
    """

    due: Callable[[Model, State, str], Work]
    planned: Callable[[Model, State], Work]
    says: Callable[[Any], str]
    input_step: str = ""


def groups_to_compact(model: Model, state: State, me: str) -> Work:
    """Return the file groups that have a completed log in their newest slice, and that no pending plan includes."""
    view = view_of(model, state)
    busy = _planned_groups(view)
    return frozenset(group for group in view.groups if group not in busy and _newest_logs(view, group))


def groups_to_log_compact(model: Model, state: State, me: str) -> Work:
    """Return the file groups that have several completed logs in their newest slice, and in which no log compaction is
    pending.
    """
    view = view_of(model, state)
    busy = {part.group for plan, done in log_plans_of(view.table) if done is None for part in plan.groups}
    return frozenset(group for group in view.groups if group not in busy and len(_newest_logs(view, group)) > 1)


def _planned_groups(view: View) -> set[int]:
    plans = (*zip(view.table.plans, view.table.completed, strict=True), *log_plans_of(view.table))
    return {part.group for plan, done in plans if done is None for part in plan.groups}


def _newest_logs(view: View, group: int) -> list[tuple[int, int]]:
    completed = {entry.requested for entry in view.published}
    return [log for each in view.slices(group)[-1:] for log in each.logs if log[0] in completed]


def files_to_delete(model: Model, state: State, me: str) -> Work:
    """Return the files of slices that are older than every state that the cleaner's policy retains: older than the
    newest base file that had completed by the oldest of them. A file that a savepoint names or a pending plan
    takes is not due.
    """
    view, retained = view_of(model, state), model.world.limits_of(me, Cleans).commits_retained
    times = sorted(write.completed or 0 for write in view.completions)
    if len(times) < retained or _pending(model, state, "cleans"):
        return NOTHING
    # Computed from the slices again: if the cleaner's own rule were asked, a wrong rule would be right.
    spared: frozenset[DataFile] = model.component(state, "deleted") | needed_by_plans(view.table)
    spared |= {file for saved in value_in(model, state, "savepoints") for file in saved.files}
    return frozenset(file for group in view.groups for file in _superseded(view, group, times[-retained])) - spared


def _superseded(view: View, group: int, time: int) -> Iterator[DataFile]:
    oldest = max((barrier for barrier, done in bases_by(view, group) if done <= time), default=0)
    for each in view.slices(group):
        if (each.barrier or 0) < oldest:
            for requested, version in files_of(view, each):
                yield DataFile(group, requested, 0 if requested == each.base else version)


def _pending(model: Model, state: State, plans: str) -> bool:
    done = {entry.requested for entry in model.component(state, "published")}
    return any(plan.requested not in done for plan in model.component(state, plans))


def instants_to_archive(model: Model, state: State, me: str) -> Work:
    """Return the completed instants that the archiver's policy moves: the oldest ones except restores, up to the first
    write or compaction that a pending instant, a snapshot or the policy still needs on the active timeline.
    """
    removed = model.component(state, "removed")
    active = [entry for entry in model.component(state, "published") if entry.requested not in removed]
    bound = min((instant.requested for instant in model.pending(state)), default=inf)
    stay = _staying(model, state, active)
    due = []
    for entry in sorted(active, key=lambda each: each.requested):
        stays = entry.requested in stay or max(entry.requested, entry.completed) >= bound
        if stays and isinstance(entry, ADDS_FILES):
            break
        if not stays and not isinstance(entry, Restored):
            due.append(entry.requested)
    return frozenset(due)


def entries_to_compact(model: Model, state: State, me: str) -> Work:
    """Return the completed instants that no base of the metadata table lists; nothing while one is pending."""
    metadata = model.component(state, "metadata")
    if pending_base(metadata):
        return NOTHING
    completed = {entry.requested for entry in model.component(state, "published")}
    return frozenset({each.requested for each in metadata.entries} & completed - metadata.base.listed)


def _entries_planned(model: Model, state: State) -> Work:
    return frozenset().union(*(base.listed for base in model.component(state, "metadata").bases[-1:]))


def _staying(model: Model, state: State, active: Sequence[Any]) -> set[int]:
    view, newest = view_of(model, state), sorted(active, key=lambda entry: entry.completed)
    retained = model.world[ArchiveLimits].instants_retained
    stay = {entry.requested for entry in newest if isinstance(entry, ADDS_FILES)}
    stay = set(sorted(stay, key=[entry.requested for entry in newest].index)[-retained:])
    stay |= {entry.requested for entry in [each for each in newest if isinstance(each, CompletedClean)][-1:]}
    stay |= {getattr(entry, "requested", entry) for entry in value_in(model, state, "decisions")[-1:]}
    table = model.view(state, COMPLETED_TABLE)  # a service sees what is completed, also what a weaker reader does not
    for group in view.groups:
        opened = needed(model.rules, table, group, inf)
        logs = [(file.requested, file.version) for file in opened if file.version]
        stay |= {requested for requested, _ in with_inputs(table, group, logs)}
    return stay


def _groups_planned(plans: str) -> Callable[[Model, State], Work]:
    def planned(model: Model, state: State) -> Work:
        return frozenset(part.group for plan in model.component(state, plans)[-1:] for part in plan.groups)

    return planned


def _files_planned(model: Model, state: State) -> Work:
    return frozenset(file for clean in model.component(state, "cleans")[-1:] for part in clean.groups
                     for file in part.files)  # fmt: skip


SERVICES: Final = {
    COMPACTOR: ServicePolicy(
        groups_to_compact, _groups_planned("plans"), "compacting group {}".format, COMPACTOR_WRITES_BASE
    ),
    LOG_COMPACTOR: ServicePolicy(
        groups_to_log_compact, _groups_planned("log_plans"), "compacting group {}".format,
        "log_compactor_writes_log",
    ),
    CLEANER: ServicePolicy(files_to_delete, _files_planned, lambda file: f"deleting {file_named(file)}"),
    ARCHIVER: ServicePolicy(
        instants_to_archive, lambda model, state: frozenset(model.component(state, "archive")),
        "archiving the instant of t{}".format,
    ),
    METADATA_COMPACTOR: ServicePolicy(
        entries_to_compact, _entries_planned, "compacting the entry of t{} in the metadata table".format
    ),
}  # fmt: skip
"""Kind of actor -> its policy."""


def useful_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise USEFUL in one state."""
    if unfinished := _cleaned_halfway(model, after):
        return unfinished
    for kind, service in SERVICES.items():
        for me in model.actors_of(kind):
            if why := _goes_on(model, after, me, service) or _idles(model, after, me, service):
                return why
    return None


def first_idle(model: Model, states: Sequence[State]) -> tuple[int, str] | None:
    """Return the index of the first state that violates promise USEFUL, and the message; None if there is none."""
    # States that agree on what the promise reads are judged once: there are far fewer of them.
    masks = [model.coding.mask(model.coding.place[name] for name in _footprint(model))]
    seen = set[State]()
    for number, state in enumerate(states):
        if (key := state & masks[0]) not in seen:
            seen.add(key)
            if message := useful_holds(model, None, None, state):
                return number, message
    return None


def _idles(model: Model, state: State, me: str, service: ServicePolicy) -> str | None:
    if not (due := _due(model, state, me, service)):
        return None
    # A crash is always possible, and does no work.
    steps = [(step, after) for step, after in model.successors_of(state, me) if step.action not in UNFAIR]
    if not steps:
        return f"{service.says(min(due))} is due, {me} is idle and the lock is free, but {me} cannot act"
    plans = {row.action for row in _planning(model, me)}
    for step, after in steps:
        planned = service.planned(model, after)
        if step.action in plans and planned != service.planned(model, state) and (left := due - planned):
            return f"{service.says(min(left))} is due, and the plan of {me} leaves it out"
    return None


def _due(model: Model, state: State, me: str, service: ServicePolicy) -> Work:
    """Return the work of an idle service that may run: no actor holds the lock, no decided commit waits for its
    publication, and the limits of the world leave it a plan.
    """
    if model.component(state, me).step != "idle" or model.component(state, "lock") is not None:
        return NOTHING
    decided = value_in(model, state, "decisions")[-1:]
    if any(not isinstance(each, int) and each not in model.component(state, "published") for each in decided):
        return NOTHING
    limits = (guard for row in _planning(model, me) for guard in row.guards if guard.limit)
    if not all(guard.holds(*(model.component(state, name) for name in guard.reads)) for guard in limits):
        return NOTHING
    return service.due(model, state, me)


def _planning(model: Model, me: str) -> list[BoundTransition]:
    """Return the transitions with which a service makes a plan: those that a limit of the world counts."""
    rows = (row for row in model.transitions if row.actor == me and row.action not in UNFAIR)
    return [row for row in rows if any(guard.limit for guard in row.guards)]


def _goes_on(model: Model, state: State, me: str, service: ServicePolicy) -> str | None:
    own = model.component(state, me)
    if not service.input_step or not getattr(own, "plan", 0):
        return None
    # Before the search for its plan: most states have no actor about to read.
    if not any(step.action == service.input_step for step, _ in model.successors_of(state, me)):
        return None
    # A restore takes its plans off the timeline, and a runner may still have one.
    undone = [plan for each in model.restores(state) for plan in each.plans]
    plans = (*model.component(state, "plans"), *value_in(model, state, "log_plans"), *undone)
    plan = next((each for each in plans if each.requested == own.plan), None)
    part = plan.part_in(own.group) if plan else None
    gone = {file for file in (taken_files(part) if part else ()) if _is_deleted(model, state, file)}
    return f"{me} goes on with its plan of t{own.plan}, and {file_named(min(gone))} is deleted" if gone else None


def _is_deleted(model: Model, state: State, file: DataFile) -> bool:
    restored = (each.undone[: each.gone] for each in model.restores(state))
    return file in value_in(model, state, "deleted") or any(file.requested in gone for gone in restored)


def _cleaned_halfway(model: Model, state: State) -> str | None:
    done = {entry.requested for entry in model.component(state, "published") if isinstance(entry, CompletedClean)}
    for clean in value_in(model, state, "cleans"):
        files = {file for part in clean.groups for file in part.files}
        if clean.requested in done and (left := files - model.component(state, "deleted")):
            return f"the clean of t{clean.requested} is completed, and {file_named(min(left))} is there"
    return None


def _some_due(model: Model, state: State) -> bool:
    return any(service.due(model, state, me) for kind, service in SERVICES.items() for me in model.actors_of(kind))


def _policy_reads(model: Model) -> tuple[str, ...]:
    pending = model.pending_reads if model.actors_of(ARCHIVER) else ()
    others = components_in(
        model, "published", "plans", "log_plans", "cleans", "deleted", "savepoints", "restores", "archive", "removed",
        "decisions", "metadata",
    )  # fmt: skip
    return tuple(dict.fromkeys((*on_table(model), *others, *pending)))


def _footprint(model: Model) -> tuple[str, ...]:
    services = [me for kind in SERVICES for me in model.actors_of(kind)]
    steps = (name for row in model.transitions if row.actor in services for name in (*row.reads, *row.writes))
    return tuple(dict.fromkeys((*_policy_reads(model), "lock", *services, *steps)))


def _unfit(model: Model) -> str | None:
    if model.world[Endless].endless:
        return "an endless world forgets instants and times"
    there = any(model.actors_of(kind) for kind in SERVICES)
    return None if there else "the world has no compactor of data, logs or metadata, no cleaner and no archiver"


USEFUL = Promise(
    name="USEFUL",
    about="A table service that is due and may run does what its policy states, and a compactor does not go on "
    "without its input.",
    source="RFC-66, non-serial compaction plan schedule; docs/contract.md, USEFUL",
    kind="run",
    holds=useful_holds,
    sometimes=_some_due,
    reads=_policy_reads,
    unfit=_unfit,
    first=first_idle,
)
