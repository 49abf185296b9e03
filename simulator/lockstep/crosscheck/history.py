"""A history: a sequence of steps that model and system take together, with a comparison after each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from nbcc.model import Protocol, Query, Step
from nbcc.model.answers import NoAnswer

from ...components import field_of, is_assumed
from ...observables import (
    EVERY_STEP,
    Batch,
    Observable,
    as_written,
    final_queries,
    is_answer,
    model_rows,
    model_slices,
    other_queries,
    reader_rows,
)
from ...symbols import Symbols
from ..mapping import MAPPING, by_action
from ..mechanism import CRASH, FAULT, SPARK, MappingRow
from ..systems import CannotStep, Impossible, RunningOperation, System
from .conditions import computed_batch, is_possible
from .disagreement import Difference, Disagreement, first_difference
from .streams import expected_of_stream, progress_after

SNAPSHOT = Query("snapshot")


class PlayedHistory:
    """Plays steps one by one on the model and on the system under test.

    ``batches`` maps each pair (actor, number of the actor's write, from 1) to the rows of the write.

    `take` and `finish` raise Disagreement if model and system differ, and Impossible if the system cannot execute a
    step.
    """

    def __init__(
        self,
        model: Any,
        system: System,
        batches: Mapping[tuple[str, int], Batch] | None = None,
        mapping: Iterable[MappingRow] = MAPPING,
    ) -> None:
        self.model = model
        self.system = system
        self.state = model.initial
        self.steps: list[Step] = []  # with symbols for the times in their arguments
        self.observed: list[dict[str, list[str]]] = []  # the changed observables of each step
        self.answered: list[dict[str, list[str]]] = []  # the answers of the system after each step, by read
        self.data: dict[int, Batch] = {}
        self._batches = batches or {}
        self._rows: Mapping[str, MappingRow] = getattr(system, "rows_by_action", None) or by_action(mapping)
        self._running: dict[str, RunningOperation] = {}
        self._started: dict[tuple[str, str], int] = {}
        self._writing: dict[str, Batch | None] = {}  # the rows of each actor's newest operation
        self._seen: dict[str, tuple[Any, ...]] = {}
        self._progress: dict[str, int] = {}  # of each stream, as it has published it
        self.skipped: Counter[str] = Counter()  # reads that the system does not offer, by the reason
        self.symbols = Symbols(())  # symbols of the times so far

    def enabled(self) -> list[Step]:
        """Return the steps that the model allows now, and that the system must be able to take."""
        steps = list(self.model.enabled(self.state))
        # Asked by attribute: a system of a user need not know of optional abilities.
        writes_files = hasattr(self.system, "rows_by_action")
        return [s for s in steps if not writes_files or is_possible(self.model, self.state, s, self.data)]

    def resolved(self, named: Step) -> Step:
        """Return a recorded step with clock ticks in place of symbols such as ``r1``. Raises KeyError for an unknown
        symbol.
        """
        return self.symbols.resolved(named)

    def sentence(self, text: str) -> str:
        """Return a message with its clock ticks replaced by symbols such as ``r1``."""
        return self.symbols.sentence(text)

    def take(self, step: Step) -> None:
        """Take a step on both the model and the system, then compare their observable values."""
        # The model first: if the system fails, the step and its state are part of the trace.
        after = self.model.apply(self.state, step)
        self.steps.append(self.symbols.step(step))
        self.observed.append({})
        self.answered.append({})
        try:
            observed = self._perform(step, after)
        except Impossible:
            raise
        except CannotStep as error:
            # A step that the model allows and the system refuses is a difference like any other.
            raise self._differs(Difference(step.action, "the step can be taken", str(error))) from error
        # Only now: `_perform` needs the state from which the step is taken.
        before, self.state = self.state, after
        self._compare_arguments(step, observed)
        if "progress" in observed:
            self._compare_stream(step, before, observed)
        self._compare_observables(step)
        if "rows" in observed:
            read = reader_rows(self.model, after, step.actor, self.data)
            self.answered[-1]["read"] = self.symbols.rows(observed["rows"])
            self.compare(f"what {step.actor} read", read, observed["rows"], self.symbols.row)
            self._observe("read", self.symbols.rows(read))

    def finish(self) -> None:
        """Compare every read that is possible at the end of the history, and run the system's own diagnostics."""
        for query in final_queries(self.timeline, change_logs=self.keeps_promises):
            rows = self._compare_rows(query)
            # The files of older slices may be deleted, although an answer may still be right by luck.
            if query.kind == "as_of" and query.until is not None and is_answer(rows) and self._is_retained(query.until):
                self._compare_slices(query.until)
        # These reads are mostly refused, and only the default protocol says by which class of error.
        if self.keeps_promises and getattr(self.system, "refuses_by_class", False):
            for query in other_queries(self.timeline, self.model.settled(self.state)):
                self._compare_rows(query)
        # At the end: a segment is judged by all accesses of other actors, also later ones.
        complaints: Callable[[], Iterable[str]] = getattr(self.system, "complaints", tuple)
        self.compare("segments that are not atomic", (), tuple(complaints()))

    @property
    def keeps_promises(self) -> bool:
        """True if every promise must hold: the protocol is the default one, and the world satisfies its assumptions."""
        world = self.model.world
        return getattr(self.model, "protocol", Protocol()) == Protocol() and is_assumed(world)

    def _is_retained(self, time: int) -> bool:
        horizon: Callable[[Any], int] = getattr(self.model, "horizon", lambda state: 0)
        return time >= horizon(self.state)

    @property
    def timeline(self) -> tuple[Any, ...]:
        """Return ``(action, state, requested, completed)`` for every instant on the current timeline."""
        return self._seen.get("timeline", ())

    def described(self, query: Query) -> str:
        """Return a read as text, for example ``snapshot``, ``as of c2`` or ``incremental (0, c1]``."""
        kind, until = query.kind.replace("_", " "), self.symbols.symbol(query.until)
        if query.after is not None:
            return f"{kind} ({self.symbols.symbol(query.after)}, {until}]"
        return kind if query.until is None else f"{kind} {until}"

    @property
    def written(self) -> set[tuple[str, int]]:
        """Return all writes that have begun, as pairs of the actor and the write's number. Each actor's writes are
        numbered from 1.
        """
        return {(actor, number) for (actor, _), last in self._started.items() for number in range(1, last + 1)}

    @property
    def compaction_overlaps_write(self) -> bool:
        """True if a compaction and a write are both pending now."""
        pending = {action for action, _, _, completed in self.timeline if completed is None}
        return {"compaction", "deltacommit"} <= pending

    @property
    def _within_a_call(self) -> bool:
        continuations: frozenset[str] = getattr(self.model, "continuations", frozenset())
        # Between the two steps of one call a system cannot be looked at: it has not returned.
        return bool(continuations) and any(step.action in continuations for step in self.enabled())

    # one step on the system

    def _perform(self, step: Step, after: Any) -> dict[str, Any]:
        row = self._rows.get(step.action)
        if row is None:
            raise CannotStep(f"the mapping has no row for {step.action}; append one")
        if row.operation == FAULT:
            return dict(self._fault(step))
        if row.operation == SPARK:
            stream_step: Callable[..., dict[str, Any]] = getattr(self.system, "stream_step", lambda *_: {})
            return stream_step(step.actor, step.action, self.model.component(self.state, step.actor))
        if row.operation == CRASH:
            # An actor may crash between two operations, of which the system knows nothing.
            if operation := self._running.pop(step.actor, None):
                operation.crash()
            return {}
        # An operation that is replaced here has returned: no step of it was left.
        if row.starts:
            self._running[step.actor] = self._start(step, row, after)
        if step.actor not in self._running:
            raise CannotStep(f"{step.actor} has no operation in progress that {step.action} could continue")
        return dict(self._running[step.actor].step(step.action, dict(step.args)))

    def _start(self, step: Step, row: MappingRow, after: Any) -> RunningOperation:
        # Counted by operation, as the batches are: an actor may compact between two writes.
        number = self._started[step.actor, row.operation] = self._started.get((step.actor, row.operation), 0) + 1
        args: dict[str, Any] = dict(step.args)
        for argument, field in row.arguments:
            # After the step: an argument may be what the actor has chosen in it.
            own = self.model.component(after, step.actor)
            args[argument] = field(self.model.world, step.actor) if callable(field) else field_of(own, field)
        computed = computed_batch(self.model, self.state, step, self.data)
        batch = self._writing[step.actor] = computed or self._batches.get((step.actor, number))
        if batch:
            args["batch"] = batch
        return self.system.start(step.actor, row.operation, args)

    def _fault(self, step: Step) -> Mapping[str, Any]:
        fault = getattr(self.system, "fault", None)
        if fault is None:
            raise CannotStep(f"{self.system.name} has no faults")
        return fault(step.actor, step.action, dict(step.args)) or {}

    # comparing

    def _compare_arguments(self, step: Step, observed: Mapping[str, Any]) -> None:
        args = dict(step.args)
        # Only what both name. A system that does not report an argument is compared by its timeline.
        for name in args.keys() & observed.keys():
            self.compare(f"{name} of {step.action}", args[name], observed[name])

    def _compare_stream(self, step: Step, before: Any, observed: Mapping[str, Any]) -> None:
        me, was = step.actor, self.model.component(before, step.actor)
        self._progress[me] = progress_after(step, self._progress.get(me, 0), was)
        self.compare(f"the progress of {me}", self._progress[me], observed["progress"])
        for name, expected in expected_of_stream(self.model, before, self.state, step, self.data).items():
            self.compare(f"{name} of {me}", expected, observed[name])

    def _compare_observables(self, step: Step) -> None:
        before = self._seen
        self._seen = {observable.name: observable.of_model(self.model, self.state) for observable in EVERY_STEP}
        timeline = self._seen["timeline"]
        # Before the comparisons: their sentences already name the times of this step.
        self.symbols = self.symbols.then(timeline)
        for observable in EVERY_STEP:
            expected = self._seen[observable.name]
            if not self._within_a_call:
                self._compare_observable(observable, expected)
            new = [entry for entry in expected if entry not in before.get(observable.name, ())]
            self._observe(observable.name, [observable.says(self.symbols, entry) for entry in new])
        self._learn_data(step, before.get("timeline", ()), timeline)
        # A snapshot costs a read of all files, and only a completed instant may change it.
        if _completed(timeline) != _completed(before.get("timeline", ())):
            self._observe("snapshot", self.symbols.rows(self._compare_rows(SNAPSHOT)))

    def _compare_observable(self, observable: Observable, expected: tuple[Any, ...]) -> None:
        try:
            actual = self._ask(observable.name, partial(observable.of_system, self.system))
        except Impossible as impossible:
            self.skipped[str(impossible)] += 1
        else:
            self.compare(observable.name, expected, actual, partial(observable.says, self.symbols))

    def _observe(self, name: str, sentences: list[str]) -> None:
        if sentences:
            self.observed[-1][name] = sentences

    def _learn_data(self, step: Step, before: tuple[Any, ...], timeline: tuple[Any, ...]) -> None:
        earlier = {(action, requested) for action, _, requested, _ in before}
        pending = ((action, requested) for action, _, requested, completed in timeline if completed is None)
        new = {requested for action, requested in pending if (action, requested) not in earlier}
        batch = self._writing.get(step.actor)
        # Only then is it clear under which requested time the rows count.
        if batch and len(new) == 1:
            self.data[new.pop()] = as_written(batch)

    def _compare_rows(self, query: Query) -> Any:
        expected = _or_refusal(lambda: model_rows(self.model, self.state, query, self.data))
        what = self.described(query)
        try:
            actual = self._ask(what, lambda: _or_refusal(lambda: self.system.rows(query)))
        except Impossible as impossible:
            self.skipped[str(impossible)] += 1
        else:
            if query == SNAPSHOT:
                self.answered[-1]["snapshot"] = self.symbols.rows(actual)
            self.compare(what, expected, actual, self.symbols.row)
        return expected

    def _compare_slices(self, time: int) -> None:
        look = getattr(self.system, "slices_as_of", None)
        if look is None:
            self.skipped[f"{self.system.name} offers no past file slices"] += 1
            return
        what = f"slices as of {self.symbols.symbol(time)}"
        expected = model_slices(self.model, self.state, time)
        try:
            actual = self._ask(what, lambda: look(time))
        except Impossible as impossible:
            self.skipped[str(impossible)] += 1
        else:
            self.compare(what, expected, actual, self.symbols.slice)

    def _ask(self, what: str, look: Callable[[], Any]) -> Any:
        try:
            return look()
        except Impossible:
            raise
        except Exception as error:  # a read that fails in any way has no answer
            raise self._differs(Difference(what, "there is an answer", f"{type(error).__name__}: {error}")) from error

    def compare(self, what: str, model: Any, system: Any, says: Callable[[Any], str] = str) -> None:
        """Raise `Disagreement` unless the model's value equals the system's value. If the values are tuples, the
        function ``says`` formats each element for the error message.
        """
        if difference := first_difference(what, model, system):
            raise self._differs(difference.in_words(says))

    def _differs(self, difference: Difference) -> Disagreement:
        return Disagreement(len(self.steps), difference)


def _or_refusal(read: Callable[[], tuple[Any, ...]]) -> Any:
    try:
        return read()
    except NoAnswer as refused:
        return f"no answer {refused}"


def _completed(timeline: tuple[Any, ...]) -> int:
    return sum(completed is not None for _, _, _, completed in timeline)
