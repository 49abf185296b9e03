"""Checks and settings of a Python worker of Spark: one worker process runs many tasks, one after another."""

from __future__ import annotations

import gc
import os
import platform
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Final

from ..errors import NbccError
from .sources import digest_of_sources, home_of_sources

FLOORS: Final = {"fastavro": (1, 9), "numpy": (1, 26), "obstore": (0, 6), "pyarrow": (18,)}
"""Package -> the oldest version with which tasks run, as pyproject.toml requires it."""


@cache
def keep_loaded() -> None:
    """Exclude from garbage collection all objects that a Python worker has loaded during its first task.

    PySpark runs the garbage collector after each task. Skipping the objects of imported modules, which are never freed,
    makes each collection 40 ms faster.
    """
    gc.freeze()


@cache
def refusal(digest: str, home: str) -> tuple[str, str] | None:
    """Return the reason why this worker cannot run the driver's tasks, with a remedy; None if it can run them. Each
    worker process runs this check only once.

    `digest` identifies the driver's nbcc sources, and `home` is the host and folder in which they are stored.
    """
    python = f"its Python {sys.executable}"
    if home != home_of_sources() and digest != digest_of_sources():
        exists = f"{python} imports another nbcc from {home_of_sources().partition(':')[2]} than the driver"
        return exists, "install the driver's nbcc there, or remove that nbcc: the driver sends its own"
    needed = " ".join(f"'{name}>={'.'.join(map(str, floor))}'" for name, floor in FLOORS.items())
    for name, floor in FLOORS.items():
        version = _version(name)
        if version is None or tuple(int(part) for part in version.split(".")[: len(floor)]) < floor:
            exists = f"{python} has {f'{name} {version}' if version else f'no {name} that can be imported'}"
            return exists, f"install the packages that tasks need on every executor: pip install {needed}"
    return None


def _version(package: str) -> str | None:
    try:
        return str(import_module(package).__version__)
    except ImportError:
        return None


@contextmanager
def in_words() -> Iterator[None]:
    """Re-raise an `NbccError` so that it reaches the driver without the worker's traceback."""
    try:
        yield
    except NbccError:
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"  # of this error alone: Spark ends a worker that raised an error
        raise


def tell_user(text: str) -> None:
    """Show a warning on the driver's console. PySpark captures ``sys.stderr`` in the processes that plan reads and
    writes, and writes Python's warnings to a log that few users open.
    """
    console = sys.__stderr__
    if "PYSPARK_SPARK_SESSION_UUID" in os.environ and console is not None:
        console.write(f"{text}\n")
        console.flush()
    else:
        warnings.warn(text, stacklevel=2)


def host() -> str:
    return platform.node()
