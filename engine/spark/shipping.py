"""Sends nbcc to the Python workers of a Spark session. Before a worker unpickles a task, it checks whether it can run
the task.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pyspark import cloudpickle

from ..errors import CannotRun
from . import guard
from .sources import archive_name, archive_of_sources, digest_of_sources, home_of_sources

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

F = TypeVar("F", bound=Callable[..., Any])

# A worker that lacks nbcc must be able to load the guard. PySpark's cloudpickle has no type annotations.
cloudpickle.register_pickle_by_value(guard)  # type: ignore[no-untyped-call]  # PySpark's copy has no types

_REMEDY: Final = "a merge function, a credential provider or a DataFrame's function must be one that pickle accepts"


def send(spark: SparkSession) -> None:
    """Send the sources of nbcc to the workers of a Spark session, including workers that join later.

    A repeated `send` to the same session changes nothing.
    """
    path = archive_of_sources()
    spark.addArtifacts(path, pyfile=True)
    # PySpark adds the archive to the path of the driver too, which has nbcc.
    sys.path[:] = [each for each in sys.path if not each.endswith(archive_name())]


def sender() -> Mapping[str, str]:
    """Return the digest and the folder of the driver's nbcc, which each worker compares with its own nbcc."""
    return {"archive": archive_name(), "digest": digest_of_sources(), "home": home_of_sources()}


def guarded(function: F) -> F:
    """Return a picklable wrapper of the function, for use in a Spark job. Before a worker unpickles the function, the
    worker checks that its nbcc sources and package versions can run the driver's tasks.
    """
    made: F = guard.deferred(pickled(function), sender(), function.__name__)
    return made


def reduced(value: object, state: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the `__reduce__` tuple that pickles `value` with the attributes `state`. Before a worker unpickles
    `value`, the worker checks that its nbcc sources and package versions can run the driver's tasks.
    """
    return guard.restore, (pickled((type(value), dict(state))), sender())


def reduced_with_sources(kind: type, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the `__reduce__` tuple that calls `kind` with `arguments`. The tuple contains nbcc's sources, because
    Spark sends no archives to Spark Connect's `foreachBatch` process.
    """
    sources = Path(archive_of_sources()).read_bytes()
    return guard.call, (pickled((kind, arguments)), sender(), sources)


def pickled(value: object) -> bytes:
    """Return the task, pickled with cloudpickle. Raises `CannotRun` if a part of the task cannot be pickled."""
    try:
        return bytes(cloudpickle.dumps(value))  # type: ignore[no-untyped-call]  # PySpark's copy has no types
    except Exception as unfit:  # `__reduce__` of a user's object may raise any error
        reason = " ".join(f"{type(unfit).__name__}: {unfit}".split())
        raise CannotRun("send a task to the executors", f"it cannot be pickled ({reason})", _REMEDY) from unfit
