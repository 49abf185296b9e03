"""Plays a trace on the model, and computes everything that its page and its pictures show."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import chain
from math import inf
from typing import Any, Generic, NamedTuple, TypeVar

from nbcc.model import Model, Protocol, Step
from nbcc.model.answers import Data
from nbcc.model.kernel.reader import READER, READER_ENDS_LISTING, READER_STARTS_LISTING
from nbcc.model.kernel.writer import WRITER

from ..components import field_of, is_dead
from ..trace import Trace
from .content import (
    Answer,
    ContentRow,
    FileName,
    FileState,
    InstantState,
    PageContent,
    Parts,
    PromiseStep,
    ProtocolView,
    ShownListing,
    ShownStep,
    WrongAnswer,
)  # fmt: skip
from .disagreement import parts_of, words_of
from .explanation import explanation
from .files import FileStates
from .headline import other_rule, sentence
from .judge import Broken, breaking_step, judged, judged_steps, verdict_of
from .mechanisms import services_of
from .rows import Example, Put, ReadAnswers, answers, choose
from .run import Run, play
from .systems import systems_of
from .wording import PageContext, ranked

SENTENCE_STEPS = 200
"""The headline says `every snapshot` after checking so many steps, and the last one."""
Name = TypeVar("Name", bound=Hashable)
Value = TypeVar("Value")


class _Recorder(Generic[Name, Value]):
    def __init__(self) -> None:
        self.changes: dict[Name, list[tuple[int, Value | None]]] = {}
        self._now: dict[Name, Value] = {}

    def see(self, step: int, things: Mapping[Name, Value]) -> None:
        """Append (step, value) to the history of each name whose value has changed. `things` maps all names to their
        values; a missing name has the value None.
        """
        for name in [name for name in self._now if name not in things]:
            self._now.pop(name)
            self.changes[name].append((step, None))
        for name, value in things.items():
            if self._now.get(name) != value:
                self._now[name] = value
                self.changes.setdefault(name, []).append((step, value))


def content_of(trace: Trace) -> PageContent:
    """Return everything that the page of a trace shows."""
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
    verdict, because = trace.verdict or verdict_of(own, broken), trace.because or (claim.message if claim else "")
    sentences = {text: number for number, text in enumerate(dict.fromkeys(_sentences(own, trace)))}
    actors = actors_of(own.model)
    differs = words_of(because, own.ticks) if verdict == "DISAGREED" else None
    return PageContent(
        handle=trace.handle,
        title=trace.title,
        verdict=verdict,
        promise=promise,
        about=claim.about if claim else "",
        source=claim.source if claim else "",
        because=because,
        sentence=differs.sentence if differs else _sentence(own, case, broke, because),
        differing=differs.values if differs else [],
        breaking=broke,
        breaks=verdict in ("VIOLATED", "DISAGREED"),
        judged=judged_steps(own),
        reading=case.reading.words(),
        key=str(case.key),
        ranked=ranked(case.data),
        actors=[name for _, name in actors],
        kinds=[kind for kind, _ in actors],
        services=services_of(actors),
        groups=trace.world.groups,
        steps=list(_steps(own, trace, sentences)),
        sentences=list(sentences),
        listings=_listings(own),
        systems=systems_of(trace),
        views=views,
    )


def _sentence(run: Run, case: Example, broke: int, because: str) -> Parts:
    context = PageContext(run.model, run.states, case, puts_of(run), FileStates(run.model, case))
    last = len(run.states) - 1
    steps = [step for step in range(broke, last + 1) if step < broke + SENTENCE_STEPS or step == last]
    reason = because[:1].upper() + because[1:] if because else "No promise is broken in this run"
    found = [answers(run.model, run.states, step, case, broke) for step in steps]
    return sentence(context, broke, [*parts_of(reason, run.ticks)], found)


def actors_of(model: Model) -> list[tuple[str, str]]:
    """Return all actors as pairs (kind, name), in the order of the lanes on the page: writers first, readers last."""
    everyone = [(kind, name) for kind, names in model.actors.items() for name in names]
    return sorted(everyone, key=lambda actor: (actor[0] == READER.name) - (actor[0] == WRITER.name))


def _sentences(run: Run, trace: Trace) -> Iterator[str]:
    """Yield the sentence that describes each step, without its actor."""
    for number, step in enumerate(trace.steps):
        taken = run.steps[number] if number < len(run.steps) else step
        yield _step_words(run.model, taken).removeprefix(f"{step.actor} ")


def _steps(run: Run, trace: Trace, sentences: Mapping[str, int]) -> Iterator[ShownStep]:
    actors, last = [name for _, name in actors_of(run.model)], len(run.states) - 1
    for number, (step, text) in enumerate(zip(trace.steps, _sentences(run, trace), strict=True)):
        instant = _instant(run.model, step, run.states[min(number, last)], run.states[min(number + 1, last)])
        yield ShownStep(actors.index(step.actor), sentences[text], instant)


def _listings(run: Run) -> list[ShownListing]:
    found: list[ShownListing] = []
    began: dict[str, int] = {}
    for number, step in enumerate(run.steps, 1):
        if step.action.startswith(READER_STARTS_LISTING):
            began[step.actor] = number
        elif step.action.startswith(READER_ENDS_LISTING):
            before, after = (_completed_by(run, at) for at in (began[step.actor], number))
            came: Any = dict(step.args).get("seen", ())
            seen = before | after & set(came)
            found.append(ShownListing(step.actor, began[step.actor], number, sorted(seen), sorted(after - seen)))
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
        for actor in run.model.actors_of(WRITER):
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


def first_wrong(run: Run, case: Example, broke: int) -> tuple[Example, int]:
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


def _view(run: Run, case: Example, broke: int, broken: Sequence[Broken], trace: Trace) -> ProtocolView:
    protocol = run.model.protocol
    values = protocol.to_mapping()
    named = {name: values[name] for name in trace.protocol.differences()}
    timeline, files = _Recorder[int, InstantState](), _Recorder[FileName, FileState]()
    shown: list[tuple[int, Answer]] = []
    context = PageContext(run.model, run.states, case, puts_of(run), FileStates(run.model, case))
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
            answer = Answer(_rows(found.must), _rows(found.got), number)
            if not shown or shown[-1][1] != answer:
                shown.append((step, answer))
    label = ", ".join(f"{name} {value}".replace("_", " ") for name, value in named.items())
    return ProtocolView(
        rule="+".join(named.values()) or "default",
        label=label,
        right=not protocol.differences(),
        verdict="NOT APPLICABLE" if run.stopped else verdict_of(run, broken),
        sentence=_other_protocol_sentence(context, run, trace, label, broken),
        stopped=run.stopped,
        instants=timeline.changes,
        files=files.changes,
        answers=shown,
        explanations=explanations,
        promises=[PromiseStep(b.name, b.about, b.step, b.message) for b in broken],
    )


def _other_protocol_sentence(
    context: PageContext, run: Run, trace: Trace, label: str, broken: Sequence[Broken]
) -> Parts:
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


def _components_read(model: Model, state: Any, case: Example) -> list[Any]:
    names = [*model.table_reads, *([case.reading.reader] if case.reading.reader else [])]
    return [model.component(state, name) for name in names]


def _explanation_number(
    context: PageContext, step: int, found: ReadAnswers, explanations: list[WrongAnswer], numbers: dict[Any, int]
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


def _rows(answer: Mapping[Any, Any] | None) -> tuple[ContentRow, ...] | None:
    if answer is None:
        return None
    rows = ((str(key), None if row.deleted else str(row.value), row) for key, row in answer.items())
    return tuple(ContentRow(key, value, row.ordering, row.requested) for key, value, row in rows)


def instants_of(model: Model, state: Any) -> dict[int, InstantState]:
    """Map the requested time of each instant to what a picture shows of it."""
    actors = {own.requested or own.plan or own.rollback: name for name, own in _actors_at_work(model, state)}
    for name in chain.from_iterable(model.actors.values()):  # a Flink job may have several pending instants
        actors |= dict.fromkeys(field_of(model.component(state, name), "instants", ()), name)
    done = {entry.requested: entry.actor for entry in model.component(state, "published")}
    planned = (model.component(state, name) for name in ("plans", "cleans", "restores") if name in model.components)
    runners = {plan.requested: plan.runner for plan in chain.from_iterable(planned)}
    if "rollbacks" in model.components:
        runners |= {each.requested: each.planner for each in model.component(state, "rollbacks")}
    found: dict[int, InstantState] = {}
    for instant in model.timeline(state):
        if instant.action == "savepoint":  # it has the time of the instant that it pins, which has a bar already
            continue
        actor = done.get(instant.requested) or runners.get(instant.requested) or actors[instant.requested]
        dead = instant.completed is None and is_dead(model.component(state, actor))
        shown = "crashed" if dead else instant.state
        found[instant.requested] = InstantState(instant.action, shown, instant.completed, actor)
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
