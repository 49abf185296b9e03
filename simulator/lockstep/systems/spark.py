"""The engine on Spark as the system under test. Each data phase (writing data files) is one Spark job, which runs in
the first step of the phase.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from nbcc.engine.context import Context
from nbcc.engine.data.digest import Digest
from nbcc.engine.data.jobs import InProcessJobs, Jobs
from nbcc.engine.data.tasks import AnyCompaction, AnyRead, TableShape, WriteTask, WrittenFile
from nbcc.engine.spark.jobs import SparkJobs
from nbcc.engine.storage import open_storage
from nbcc.model import Protocol, Query, World

from ..control.calls import Call
from ..control.clock import ReadOnlyClock
from ..control.harness import Handle, Harness
from ..control.lock import ObserversLock
from ..mapping import MAPPING
from ..mechanism import MappingRow
from .engine import MEMORY, EngineSystem
from .engine_operation import EngineOperation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DATA_PHASES: Final = dict.fromkeys(("run_compaction", "run_log_compaction", "insert_overwrite"), "jobs.compact")
"""The job that covers all segments of an operation that end with the put of a data file. Default: `jobs.write`."""
DATA_FILES: Final = {"put log", "put base"}
PATIENCE: Final = 120.0  # seconds; the first job of a session loads many classes


class SparkSystem(EngineSystem):
    """An engine table in ``folder``, whose jobs run on Spark. Without ``folder``, the table is in a temporary folder,
    which is deleted when the history ends.
    """

    name = "spark"

    def __init__(
        self, world: World, protocol: Protocol, *, spark: SparkSession, folder: Path | None = None
    ) -> None:
        self._spark = spark
        self._temporary = folder is None
        self._folder = folder or Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
        storage = open_storage(self._folder)
        self.coarse = frozenset(row.action for row in MAPPING if row.ends_after in DATA_FILES)
        super().__init__(world, protocol, harness=Harness(storage, PATIENCE))

    def operation(self, name: str, handle: Handle) -> EngineOperation:
        return SparkOperation(self, name, handle)

    def actors_jobs(self, handle: Handle) -> Jobs:
        return ControlledJobs(handle, SparkJobs(self._spark, self.harness.storage, handle.names))

    def data(self, table: pa.Table) -> Any:
        return self._spark.createDataFrame(table)

    def rows(self, query: Query) -> tuple[Any, ...]:
        """Return the rows of a read. Some reads run as Spark jobs, the others in this process."""
        last = max((completed for *_, completed in self.timeline() if completed), default=None)
        by_spark = query.kind == "read_optimized" or (query.until == last and not query.after)
        self._looking = self._spark_context if by_spark else self._process_context
        return super().rows(query)

    def observer_context(self) -> Context:
        none: Any = None
        seams = (self.harness.storage, ObserversLock(), ReadOnlyClock(self.harness.clock), none)
        self._spark_context = Context(*seams, SparkJobs(self._spark, self.harness.storage, none), self.rules)
        self._process_context = Context(*seams, InProcessJobs(self.harness.storage, none), self.rules)
        return self._process_context

    def plain(self, answer: Any) -> list[dict[str, Any]]:
        return super().plain(answer if isinstance(answer, pa.Table) else answer.toArrow())

    @contextmanager
    def folder(self) -> Iterator[Path]:
        yield self._folder

    def close(self) -> None:
        super().close()
        if self._temporary:
            shutil.rmtree(self._folder, ignore_errors=True)


class SparkOperation(EngineOperation):
    """An operation of the engine on Spark. The first step of a data phase runs the whole Spark job; the remaining steps
    of the phase do nothing.
    """

    def step(self, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        row = self.system.rows_by_action[action]
        if row.ends_after not in DATA_FILES:
            return super().step(action, args)
        job = DATA_PHASES.get(row.operation, "jobs.write")
        if any(call.verb == job for call in self.task.calls):
            self.system.harness.step += 1
            return {}
        return self.segment(MappingRow(row.action, row.operation, ends_after=job))


class ControlledJobs:
    """A Spark job runner that pauses the actor before each job, so that no job begins after the actor has crashed."""

    takes_conditions_later = False

    def __init__(self, handle: Handle, jobs: SparkJobs) -> None:
        self._handle = handle
        self._jobs = jobs

    def write(self, data: Any, task: WriteTask) -> list[WrittenFile]:
        return self._handle.call(Call("jobs.write"), lambda: self._jobs.write(data, task))

    def digest(self, data: Any, shape: TableShape, sets: frozenset[str] | None) -> Digest:
        return self._jobs.digest(data, shape, sets)

    def compact(self, tasks: Sequence[AnyCompaction]) -> list[WrittenFile]:
        return self._handle.call(Call("jobs.compact"), lambda: self._jobs.compact(tasks))

    def read(self, tasks: Sequence[AnyRead], schema: pa.Schema) -> Any:
        return self._handle.call(Call("jobs.read"), lambda: self._jobs.read(tasks, schema))
