"""Models several live actors that run the same plan; the one that publishes first completes the plan.

No actor can distinguish a slow runner (an actor that runs a plan) from a crashed one, so an idle actor may resume any
pending plan. All runners of a plan write the same content, each into separate files. Before publishing, a runner checks
under the lock whether another runner has completed the plan. A runner that finds the plan completed deletes its own
files and publishes nothing.

Before publishing, a runner deletes the files that other runners of the same plan have put. If the runner crashes after
this deletion but before publication, the other runners find their files missing. The plan then stays pending.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

from ..kernel.compactor import COMPACTOR, READS_INPUT
from ..kernel.lock import release_lock
from ..kernel.publication import ABANDONS, BEGINS, COMMITS, TAKES_LOCK, Publication
from ..kernel.table import Plan
from ..kernel.timeline import Published
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..machine.plans import DONE, RESUMES_PLAN, STARTS_PLAN, Planner, PlanRunner, Runner, Start, start_plan
from ..machine.selection import Selection
from ..machine.transition import DEAD, Action, Changes, Component, Effect, Guard, preset, transition
from .cleaning.mechanism import CLEANER
from .cleaning.rules import DataFile, taken_files
from .crashes import Crashes
from .log_compaction.mechanism import LOG_COMPACTOR
from .lost_locks import LostLocks
from .restores.mechanism import RESTORER

WITH_FILES = (COMPACTOR.name, LOG_COMPACTOR.name)
"""The kinds of runners that read and put data files. Their state is a `PlanRunner`."""
SURE = "sure that its plan is pending"


class PlanCheck(Options):
    """The option that decides when a runner (an actor that runs a plan) checks that no other runner has completed the
    plan.
    """

    plan_check: Literal["under_lock", "before_lock"] = option(
        "under_lock",
        "when a runner checks whether another one has completed its plan. under_lock: under the lock that covers its "
        "publication; before_lock: before it takes that lock",
    )


def compose(composition: Composition) -> None:
    """Let an idle actor resume a pending plan of another actor of the same kind, and let an actor stop once another
    actor has completed the plan.
    """
    composition.map_view(DONE, published_instants)
    composition.refine_facts(Publication, partial(several_runners, composition))


def published_instants(published: Published) -> Published:
    return published


def several_runners(composition: Composition, each: Publication) -> None:
    """Let idle actors resume plans, and let a runner stop if another runner has completed its plan or deleted its
    files.
    """
    runs = composition.facts(Runner).get(each.actor)
    # With one runner of a kind no plan has a rival, and the transitions would never be possible.
    if runs is None or len(composition.actors_of(each.kind)) < 2:
        return
    resumes(composition, runs)
    gives_way(composition, runs)
    if each.kind in WITH_FILES:
        # Only a clean deletes inputs of a plan.
        if composition.actors_of(CLEANER):
            misses_input(composition, runs)
        # Otherwise the runner that deletes the files also publishes, and the others find the plan done.
        if composition.world[Crashes].crashes or composition.world[LostLocks].lock_losses:
            loses_files(composition, runs)


def resumes(composition: Composition, runs: Runner) -> None:
    """Add the transition by which an idle actor resumes the oldest pending plan."""
    parameters = {"plans": Component(runs.plans), "runners": composition.actors_of(runs.kind),
                  "completes": runs.completes}  # fmt: skip
    pending = Guard(f"a {runs.what} must be pending", preset(pending_plan, **parameters))
    resume = preset(resume_plan, **parameters, start=runs.start, component=runs.plans)
    composition.add(transition(runs.resumes, runs.actor, at="idle", guards=(pending,), changes=("own", runs.plans),
                               effect=resume, tags=(RESUMES_PLAN,)))  # fmt: skip


def pending_plan(
    instants_known_done: Published, plans: tuple[Any, ...], runners: tuple[str, ...], completes: type[Any]
) -> Any:
    """Return the oldest pending plan of the actors in `runners`; None if there is none."""
    theirs = [plan for plan in plans if plan.runner in runners]
    done = {each.requested for each in instants_known_done if isinstance(each, completes)} if theirs else ()
    return next((plan for plan in theirs if plan.requested not in done), None)


def resume_plan(
    own: Any, me: str, instants_known_done: Published, plans: tuple[Any, ...], runners: tuple[str, ...],
    completes: type[Any], start: Start, component: str,
) -> Changes:  # fmt: skip
    """Run a pending plan from the beginning."""
    plan = pending_plan(instants_known_done, plans, runners, completes)
    return start_plan(own, me, plan, plans, start, component)


def gives_way(composition: Composition, runs: Runner) -> None:
    """Let a runner start a plan, or publish its result, only if no other runner has completed the plan. A runner stops
    if it finds the plan completed.

    By default, a runner checks that the plan is still pending when it takes the lock. If locks can be lost, or the
    protocol uses a decision log, the runner checks when it commits.
    """
    me = runs.actor
    pending = is_pending(runs)
    done = Guard(f"another {runs.kind} must have completed its {runs.what}", pending.holds)
    starts = composition.select(STARTS_PLAN, actors=[me]).require(pending)
    checks = checking(composition, runs).require(pending)
    steps = preset(is_about_to, steps=(starts.one.at, checks.one.at))
    about_to = Guard(f"{{me}} must be about to start or to complete its {runs.what}", steps)
    ends = transition(f"{runs.kind}_finds_it_done", me, guards=(about_to, done), effect=idle(composition, me))
    if COMMITS in checks.one.tags:
        ends = ends.extend(release_lock, "lock")
    elif TAKES_LOCK in checks.one.tags:
        free = preset(lock_is_not_in_the_way, start=starts.one.at)
        ends = ends.require(Guard("the lock must be free, unless it starts", free))
    composition.add(ends)


def is_pending(runs: Runner) -> Guard:
    """Return the guard that holds if no other runner has completed the plan."""
    completed = preset(is_completed, completes=runs.completes, requested=runs.requested)
    return Guard(f"no other {runs.kind} may have completed its {runs.what}", completed, negated=True)


def checking(composition: Composition, runs: Runner) -> Selection:
    """Select the transition in which a runner checks that no other runner has completed the plan."""
    me, kind = runs.actor, runs.kind
    if checks_before_lock(composition, me):
        action = f"{kind}_checks_plan"
        composition.select(BEGINS, actors=[me]).insert_before(SURE, lambda actor: transition(action, actor))
        return composition.select(action, actors=[me])
    return composition.select(COMMITS if checks_to_commit(composition, me) else TAKES_LOCK, actors=[me])


def checks_before_lock(composition: Composition, me: str) -> bool:
    """True if, in the protocol of the actor `me`, runners check the plan before they take the lock."""
    return composition.protocol_of(me)[PlanCheck].plan_check == "before_lock"


def checks_to_commit(composition: Composition, me: str) -> bool:
    """True if a runner checks that the plan is still pending when it commits, rather than when it takes the lock."""
    lossy = composition.world[LostLocks].lock_losses or composition.protocol.to_mapping()["decision"] == "log"
    return bool(lossy) and not checks_before_lock(composition, me)


def idle(composition: Composition, me: str) -> Effect:
    """Return the effect that ends a runner's operation without publishing an instant."""
    return composition.facts(Planner)[me].give_up


def is_completed(own: Any, published: Published, completes: type[Any], requested: str) -> bool:
    time = getattr(own, requested)
    return any(isinstance(entry, completes) and entry.requested == time for entry in published)


def is_about_to(own: Any, steps: tuple[str, ...]) -> bool:
    return own.step in steps


def lock_is_not_in_the_way(own: Any, lock: str | None, start: str) -> bool:
    return lock is None or own.step == start


def misses_input(composition: Composition, runs: Runner) -> None:
    """Let a slow runner stop if a clean has deleted an input file of the plan, which another runner has completed."""
    cleaned = preset(input_is_deleted, plans=Component(runs.plans))
    gone = Guard("a clean must have deleted a file of its plan", cleaned)
    there = Guard("no clean may have deleted a file of its plan", cleaned, negated=True)
    reads = composition.select(READS_INPUT, actors=[runs.actor]).require(there)
    ends = idle(composition, runs.actor)
    reads.exit(lambda me: transition(f"{runs.kind}_finds_input_cleaned", me, guards=(gone,), effect=ends))


def input_is_deleted(own: Any, plans: tuple[Plan, ...], deleted: frozenset[DataFile]) -> bool:
    """True if a clean has deleted an input file that the plan needs in the file group that the runner handles next."""
    part = next((plan.part_in(own.group) for plan in plans if plan.requested == own.plan), None)
    return part is not None and not deleted.isdisjoint(taken_files(part))


def loses_files(composition: Composition, runs: Runner) -> None:
    """Let a runner delete the files of other runners before publishing. A runner that finds its files missing gives up.
    """
    me, kind = runs.actor, runs.kind
    gone = (is_pending(runs), ~HAS_FILES) if checks_to_commit(composition, me) else (~HAS_FILES,)
    # Several runners share the component, and the first one adds it.
    if WITHOUT_FILES not in composition.components:
        composition.add_component(WITHOUT_FILES, frozenset())
    removes = preset(remove_files, peers=Component(f"every_{kind}"))
    commits = composition.select(COMMITS, actors=[me]).require(HAS_FILES)
    if composition.protocol.to_mapping()["decision"] == "log":
        composition.register(Removal(me, removes))  # another runner may decide first
    else:
        commits.precede(removes, WITHOUT_FILES)
    commits.exit(lambda _: transition(f"{kind}_misses_files", me, guards=gone, effect=idle(composition, me),
                                      tags=(ABANDONS,)).extend(release_lock, "lock"))  # fmt: skip
    ends = (f"{kind}_misses_files", f"{kind}_finds_it_done", f"{kind}_finds_input_cleaned")
    composition.find(STARTS_PLAN, RESUMES_PLAN, *ends, actors=[me]).extend(forget_files, WITHOUT_FILES)


class Removal(NamedTuple):
    """The effect by which a runner deletes the files of other runners of its plan. Under a decision log, the runner
    deletes them after its entry, because until then another runner may put the entry.
    """

    actor: str
    effect: Effect


WITHOUT_FILES = "without_files"
"""The component of the runners whose files another runner of their plan has deleted."""


def has_files(me: str, without_files: frozenset[str]) -> bool:
    return me not in without_files


HAS_FILES = Guard("no other runner may have deleted its files", has_files)


def remove_files(own: PlanRunner, me: str, without_files: frozenset[str], peers: Mapping[str, PlanRunner]) -> Changes:
    """Under the lock, delete the files that other live runners have put for the same plan. Files of crashed runners
    stay in the model, because no actor would notice their deletion.
    """
    rivals = {name for name, peer in peers.items() if peer.plan == own.plan and peer.written}
    alive = {name for name in rivals if peers[name].step != DEAD}
    return {WITHOUT_FILES: without_files | alive - {me}}


def forget_files(me: str, without_files: frozenset[str]) -> Changes:
    return {WITHOUT_FILES: without_files - {me}}


def _actions() -> Iterator[Action]:
    for of, plan in ((COMPACTOR, "plan"), (LOG_COMPACTOR, "plan"), (CLEANER, "clean"), (RESTORER, "restore")):
        kind, service = of.name, of != RESTORER
        yield Action(f"{kind}_resumes_{plan}", f"takes up the oldest pending {plan}, whose runner may be alive",
                     f"{{actor}} takes up a pending {plan}", service=service)  # fmt: skip
        yield Action(f"{kind}_finds_it_done", f"finds that another actor has completed its {plan}; deletes its files",
                     f"{{actor}} finds its {plan} completed", service=service)  # fmt: skip
        yield Action(f"{kind}_checks_plan", f"checks without the lock that no other actor has completed its {plan}",
                     f"{{actor}} finds its {plan} pending", service=service)  # fmt: skip
    for kind in WITH_FILES:
        yield Action(f"{kind}_misses_files",
                     "under the lock: finds its files deleted by another actor, which has not completed the plan",
                     "{actor} finds its files deleted", service=True)  # fmt: skip
        yield Action(f"{kind}_finds_input_cleaned",
                     "finds a file of its plan deleted by a clean, and its plan completed by another actor",
                     "{actor} finds its input deleted and its plan completed", service=True)  # fmt: skip


MECHANISM = Mechanism(compose=compose, options=PlanCheck, actions=tuple(_actions()))
