"""Computes the content of a trace's page as one JSON value. The model computes everything that the page shows.

Each instant, file and answer has a history: a list of [step, value], in which each entry applies until the next one.
The page's script computes the state at any step from the histories. A history contains only changes, so that the page
remains small even for a trace of 2,000 steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from math import inf
from typing import Any, NamedTuple

from nbcc.model import Model, Protocol, Step
from nbcc.model.answers import Data

from ..components import field_of, is_dead
from ..trace import Trace
from .explanation import WrongAnswer, explanation
from .files import Files
from .headline import other_rule, sentence
from .judge import Broken, breaking_step, judged, judged_steps, verdict_of
from .rows import Answers, Case, Put, answers, choose
from .run import Run, play
from .services import services_of
from .style import VERDICTS
from .systems import systems_of
from .wording import Context, ranked

FORMAT = 1
SENTENCE_STEPS = 200
"""The headline says `every snapshot` after checking so many steps, and the last one."""
Part = Any
"""A piece of a sentence: text, or [text, requested time] for text in the colour of that instant."""


class History:
    """Records the history of each named value as [step, value] entries."""

    def __init__(self) -> None:
        self.changes: dict[str, list[list[Any]]] = {}
        self._now: dict[str, Any] = {}

    def see(self, step: int, things: Mapping[str, Any]) -> None:
        """Append [step, value] to the history of each name whose value has changed. `things` maps all names to their
        values; a missing name has the value None.
        """
        for name in [name for name in self._now if name not in things]:
            self._now.pop(name)
            self.changes[name].append([step, None])
        for name, value in things.items():
            if self._now.get(name) != value:
                self._now[name] = value
                self.changes.setdefault(name, []).append([step, value])


def document(trace: Trace) -> dict[str, Any]:
    """Return the content of a trace's page as one JSON value."""
    own = play(Model(trace.world, trace.protocol), trace.steps)
    broken = judged(own, trace.promise)
    broke = breaking_step(trace, own, broken)
    puts = puts_of(own)
    promise = trace.promise or next((b.name for b in broken if b.step == broke), "")
    case = choose(own.model, own.states, broke, _begun_puts(own, broke, puts), data=_data(trace, puts), promise=promise)
    if not case.key and not any(b.name == promise and b.step for b in broken):
        case, broke = first_wrong(own, case, broke)
    views = [_view(own, case, broke, broken, trace)]
    if trace.protocol.differences():
        right = play(Model(trace.world, Protocol()), trace.steps)
        views.append(_view(right, case, broke, judged(right, trace.promise), trace))
    claim = next((b for b in broken if b.name == promise), None)
    return {
        "format": FORMAT,
        "handle": trace.handle,
        "title": trace.title,
        "verdict": trace.verdict or verdict_of(own, broken),
        "shapes": VERDICTS,
        "promise": {"name": promise, "about": claim.about if claim else "", "source": claim.source if claim else ""},
        "because": trace.because or (claim.message if claim else ""),
        "sentence": _sentence(own, case, broke, trace.because or (claim.message if claim else "")),
        "breaking": broke,
        "breaks": (trace.verdict or verdict_of(own, broken)) in ("VIOLATED", "DISAGREED"),
        "judged": judged_steps(own),
        "reading": case.reading.words(),
        "key": str(case.key),
        "ranked": ranked(case.data),
        "actors": [name for _, name in actors_of(own.model)],
        "kinds": [kind for kind, _ in actors_of(own.model)],
        "services": services_of(actors_of(own.model)),
        "groups": [f"file group {group}" for group in range(trace.world.groups)],
        **_steps(own, trace),
        "systems": systems_of(trace),
        "views": views,
    }


def _sentence(run: Run, case: Case, broke: int, because: str) -> list[Part]:
    context = Context(run.model, run.states, case, puts_of(run), Files(run.model, case))
    last = len(run.states) - 1
    steps = [step for step in range(broke, last + 1) if step < broke + SENTENCE_STEPS or step == last]
    return sentence(context, broke, because, [answers(run.model, run.states, step, case, broke) for step in steps])


def actors_of(model: Model) -> list[tuple[str, str]]:
    """Return all actors as pairs (kind, name), in the order of the lanes on the page: writers first, readers last."""
    everyone = [(kind, name) for kind, names in model.actors.items() for name in names]
    return sorted(everyone, key=lambda actor: (actor[0] == "reader") - (actor[0] == "writer"))


def _steps(run: Run, trace: Trace) -> dict[str, Any]:
    """Return the steps for the page, the sentences that describe them, and the listings of readers. A step is [index of
    its actor, index of its sentence, requested time of its instant or None].
    """
    sentences: dict[str, int] = {}
    actors = [name for _, name in actors_of(run.model)]
    rows = []
    for number, step in enumerate(trace.steps):
        taken = run.steps[number] if number < len(run.steps) else step
        text = _step_words(run.model, taken).removeprefix(f"{step.actor} ")
        after = run.states[min(number + 1, len(run.states) - 1)]
        before = run.states[min(number, len(run.states) - 1)]
        instant = _instant(run.model, step, before, after)
        rows.append([actors.index(step.actor), sentences.setdefault(text, len(sentences)), instant])
    return {"steps": rows, "sentences": list(sentences), "listings": _listings(run)}


def _listings(run: Run) -> list[list[Any]]:
    """For each listing by a reader, return [reader, first step, last step, instants that it showed, completed instants
    that it missed].

    A listing is not atomic: it may show any subset of the instants that complete during the listing.
    """
    found: list[list[Any]] = []
    began: dict[str, int] = {}
    for number, step in enumerate(run.steps, 1):
        if step.action.startswith("reader_starts_listing"):
            began[step.actor] = number
        elif step.action.startswith("reader_ends_listing"):
            before, after = (_completed_by(run, at) for at in (began[step.actor], number))
            came: Any = dict(step.args).get("seen", ())
            seen = before | after & set(came)
            found.append([step.actor, began[step.actor], number, sorted(seen), sorted(after - seen)])
    return found


def _completed_by(run: Run, step: int) -> set[int]:
    return {each.requested for each in run.model.timeline(run.states[step]) if each.completed is not None}


def _instant(model: Model, step: Step, before: Any, after: Any) -> int | None:
    for state in (after, before):
        own = model.component(state, step.actor)
        if found := next((time for field in _Work._fields if (time := field_of(own, field))), 0):
            return int(found)
    return None


def puts_of(run: Run) -> list[Put]:
    """Return the writes of a trace: completed writes in order of completion, then pending writes."""
    found: dict[int, Put] = {}
    for state in run.states:
        for actor in run.model.actors.get("writer", ()):
            own = run.model.component(state, actor)
            if own.requested and own.requested not in found:
                found[own.requested] = Put(own.requested, actor, own.number, run.model.world.files(actor, own.number))
    done = {each.requested: each.completed for each in run.model.timeline(run.states[-1])}
    return sorted(found.values(), key=lambda put: (done.get(put.requested) or inf, put.requested))


def _begun_puts(run: Run, step: int, puts: Sequence[Put]) -> list[Put]:
    begun = {instant.requested for instant in run.model.timeline(run.states[step])}
    return [put for put in puts if put.requested in begun]


def _data(trace: Trace, puts: Sequence[Put]) -> Data:
    return {p.requested: trace.batches[p.actor, p.number] for p in puts if (p.actor, p.number) in trace.batches}


def first_wrong(run: Run, case: Case, broke: int) -> tuple[Case, int]:
    """Find the first step from `broke` onwards at which the read of the example `case` is wrong. Returns the example
    with the key of the wrong row, and the step. If the read is never wrong, returns the arguments unchanged.
    """
    seen: Any = None
    for step in range(broke, len(run.states)):
        if (rests_on := _components_read(run.model, run.states[step], case)) != seen:
            seen = rests_on
            if wrong := answers(run.model, run.states, step, case, broke).wrong():
                return case._replace(key=wrong[0]), step
    return case, broke


def _view(run: Run, case: Case, broke: int, broken: Sequence[Broken], trace: Trace) -> dict[str, Any]:
    protocol = run.model.protocol
    values = protocol.to_mapping()
    named = {name: values[name] for name in trace.protocol.differences()}
    timeline, files, answer_history = History(), History(), History()
    context = Context(run.model, run.states, case, puts_of(run), Files(run.model, case))
    explanations: list[WrongAnswer] = []
    numbers: dict[Any, int] = {}
    last: Any = None
    for step, state in enumerate(run.states):
        timeline.see(step, instants_of(run.model, state))
        files.see(step, context.files.at(state))
        at = _components_read(run.model, state, case)
        if at != last:
            last = at
            found = answers(run.model, run.states, step, case, broke)
            number = _explanation_number(context, step, found, explanations, numbers)
            answer_history.see(step, {"answer": _answer_cells(found, number)})
    label = ", ".join(f"{name} {value}".replace("_", " ") for name, value in named.items())
    return {
        "rule": "+".join(named.values()) or "default",
        "label": label,
        "right": not protocol.differences(),
        "verdict": "NOT APPLICABLE" if run.stopped else verdict_of(run, broken),
        "sentence": _other_protocol_sentence(context, run, trace, label, broken),
        "stopped": run.stopped,
        "instants": timeline.changes,
        "files": files.changes,
        "answers": answer_history.changes.get("answer", []),
        "explanations": [each._asdict() for each in explanations],
        "promises": [{"name": b.name, "about": b.about, "step": b.step, "message": b.message} for b in broken],
    }


def _other_protocol_sentence(
    context: Context, run: Run, trace: Trace, label: str, broken: Sequence[Broken]
) -> list[Part]:
    if run.stopped is not None:
        number, reasons = run.stopped
        sentence_of_step = _step_words(run.model, trace.steps[number - 1])
        return [f"Under {label} step {number} ({sentence_of_step}) cannot happen: {'; '.join(reasons)}."]
    if names := [each.name for each in broken if each.step]:
        return [f"Under {label} the same steps break {', '.join(names)}."]
    last = len(run.states) - 1
    must = answers(run.model, run.states, last, context.case, last).must or {}
    return other_rule(context, label, must.get(context.case.key), judged_steps(run))


def _step_words(model: Model, step: Step) -> str:
    def words(value: object) -> object:
        if not isinstance(value, tuple):
            return value
        return ", ".join(f"t{time}" if isinstance(time, int) else str(time) for time in value) or "nothing"

    return model.describe(step._replace(args=tuple((name, words(value)) for name, value in step.args)))


def _components_read(model: Model, state: Any, case: Case) -> list[Any]:
    names = [*model.table_reads, *([case.reading.reader] if case.reading.reader else [])]
    return [model.component(state, name) for name in names]


def _explanation_number(
    context: Context, step: int, found: Answers, explanations: list[WrongAnswer], numbers: dict[Any, int]
) -> int | None:
    wrong = found.wrong()
    if not wrong:
        return None
    wrong_answer = explanation(context, step, found, context.case.key if context.case.key in wrong else wrong[0])
    if wrong_answer is None:
        return None
    number = numbers.setdefault(repr(wrong_answer), len(explanations))
    if number == len(explanations):
        explanations.append(wrong_answer)
    return number


def _answer_cells(found: Answers, number: int | None) -> Any:
    """Return [rows that the promise requires, rows that the read returned, number of the explanation]. A row is [key,
    value, requested time, ordering], with the value null for a delete.
    """

    def rows(answer: Mapping[Any, Any] | None) -> Any:
        if answer is None:
            return None
        return [[str(key), None if r.deleted else str(r.value), r.requested, r.ordering] for key, r in answer.items()]

    return [rows(found.must), rows(found.got), number]


def instants_of(model: Model, state: Any) -> dict[str, Any]:
    """Map the requested time of each instant to [action, state, completion time, actor]. An instant's state is
    "crashed" if its actor crashed before completing it.
    """
    actors = {own.requested or own.plan or own.rollback: name for name, own in _actors_at_work(model, state)}
    done = {entry.requested: entry.actor for entry in model.component(state, "published")}
    planned = (model.component(state, name) for name in ("plans", "cleans", "restores") if name in model.components)
    runners = {plan.requested: plan.runner for plan in chain.from_iterable(planned)}
    if "rollbacks" in model.components:
        runners |= {each.requested: each.planner for each in model.component(state, "rollbacks")}
    found: dict[str, Any] = {}
    for instant in model.timeline(state):
        if instant.action == "savepoint":  # it has the time of the instant that it pins, which has a bar already
            continue
        actor = done.get(instant.requested) or runners.get(instant.requested) or actors[instant.requested]
        dead = instant.completed is None and is_dead(model.component(state, actor))
        shown = "crashed" if dead else instant.state
        found[str(instant.requested)] = [instant.action, shown, instant.completed, actor]
    return found


class _Work(NamedTuple):
    requested: int
    plan: int
    rollback: int


def _actors_at_work(model: Model, state: Any) -> list[tuple[str, _Work]]:
    everyone = (name for names in model.actors.values() for name in names)
    owns = ((name, model.component(state, name)) for name in everyone)
    work = ((name, _Work(*(field_of(own, field) for field in _Work._fields))) for name, own in owns)
    return [(name, each) for name, each in work if any(each)]
