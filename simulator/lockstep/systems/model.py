"""The model as the system under test, for replays without an engine and for comparisons of two protocols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbcc.model import Model, Query, Refused, Step
from nbcc.model.kernel.reader import READER_READS
from nbcc.model.mechanisms.crashes import ACTOR_CRASHES

from ...observables import Batch, as_written, model_rows, model_slices, model_timeline, reader_rows
from .protocol import CannotStep


class ModelSystem:
    """The model as a system: the caller takes single steps, including crashes and faults."""

    name = "model"
    refuses_by_class = True

    def __init__(self, model: Model, batches: Mapping[tuple[str, int], Batch] | None = None) -> None:
        self.model = model
        self.state = model.initial
        self.data: dict[int, Batch] = {}

    def start(self, actor: str, operation: str, args: Mapping[str, Any]) -> ModelOperation:
        batch = args.get("batch")
        return ModelOperation(self, actor, batch and as_written(batch))

    def fault(self, actor: str, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """Take a step that belongs to no operation, such as the expiry of a lock."""
        self.take(Step(actor, action, tuple(args.items())))
        return {}

    def take(self, step: Step) -> None:
        try:
            self.state = self.model.apply(self.state, step)
        except Refused as refused:
            raise CannotStep("; ".join(refused.reasons)) from refused

    def timeline(self) -> tuple[Any, ...]:
        return model_timeline(self.model, self.state)

    def slices(self) -> tuple[Any, ...]:
        return model_slices(self.model, self.state)

    def slices_as_of(self, time: int) -> tuple[Any, ...]:
        return model_slices(self.model, self.state, time)

    def rows(self, query: Query) -> tuple[Any, ...]:
        return model_rows(self.model, self.state, query, self.data)


class ModelOperation:
    def __init__(self, system: ModelSystem, actor: str, batch: Batch | None) -> None:
        self._system, self._actor, self._batch = system, actor, batch

    def step(self, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        system = self._system
        before = {entry[2] for entry in system.timeline()}
        system.take(Step(self._actor, action, tuple(args.items())))
        if self._batch is not None:  # a retried write is a new instant with the same rows
            new = {entry[2] for entry in system.timeline()} - before
            system.data.update(dict.fromkeys(new, self._batch))
        if action in (READER_READS, "consumer_reads_window", "querier_reads"):
            return {"rows": reader_rows(system.model, system.state, self._actor, system.data)}
        return {}

    def crash(self) -> None:
        self._system.take(Step(self._actor, ACTOR_CRASHES))
