"""Loads a pickled task on a Python worker of Spark, or refuses the task if the worker cannot run it.

The module's functions are pickled by value, because the worker may be unable to import nbcc. The module's functions use
only the standard library and PySpark, which they import when they run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def load(payload: bytes, sender: Mapping[str, str], sources: bytes = b"") -> Any:
    """Return the object pickled in `payload`, after checking that this worker can run it. Raises a RuntimeError with a
    one-sentence message if the worker lacks nbcc or a required package, or has a different nbcc release.

    `sender` contains the name of the driver's source archive of nbcc, a digest of the sources, and the folder of the
    driver's nbcc (`shipping.sender`). `sources` is the content of nbcc's source archive, for processes to which Spark
    does not send archives.
    """
    import atexit
    import importlib
    import os
    import pickle
    import platform
    import shutil
    import sys
    import tempfile

    def refuse(exists: str, remedy: str) -> None:
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"  # of this error alone: Spark ends a worker that raised an error
        raise RuntimeError(f"Asked to run a task of nbcc on {platform.node()}, but {exists}: {remedy}.")

    if "nbcc" not in sys.modules:
        if sources:
            folder = tempfile.mkdtemp(prefix="nbcc-sources-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            with open(os.path.join(folder, sender["archive"]), "wb") as file:
                file.write(sources)
        else:
            from pyspark import SparkFiles

            folder = SparkFiles.getRootDirectory()
        archive = os.path.join(folder, sender["archive"])
        if os.path.exists(archive):
            # Before the working directory of the worker, which may contain another nbcc.
            sys.path.insert(0, archive)
            importlib.invalidate_caches()
    try:
        refusal = importlib.import_module("nbcc.engine.spark.worker").refusal
    except (ImportError, AttributeError) as absent:
        old = "nbcc" in sys.modules
        exists = f"its Python {sys.executable} " + ("imports another release of nbcc" if old else "lacks nbcc")
        remedy = "call nbcc.register(spark), which sends nbcc to the workers, or install the driver's nbcc there"
        refuse(f"{exists} ({absent})", remedy)
    if reasons := refusal(sender["digest"], sender["home"]):
        refuse(*reasons)
    return pickle.loads(payload)


def deferred(payload: bytes, sender: Mapping[str, str], name: str) -> Any:
    """Return a function that loads a pickled function at the first call, and forwards all calls to the loaded function.
    """
    loaded: list[Any] = []

    def run(*arguments: Any) -> Any:
        if not loaded:
            loaded.append(load(payload, sender))
        return loaded[0](*arguments)

    run.__name__ = name  # Spark shows the name in plans
    run.__annotations__.clear()  # Spark would derive from them what kind of function this is
    return run


def restore(payload: bytes, sender: Mapping[str, str]) -> Any:
    """Recreate an object from its pickled class and attributes."""
    kind, state = load(payload, sender)
    restored = kind.__new__(kind)
    restored.__dict__.update(state)
    return restored


def call(payload: bytes, sender: Mapping[str, str], sources: bytes) -> Any:
    """Call a pickled function with its pickled arguments, and return the result."""
    function, arguments = load(payload, sender, sources)
    return function(*arguments)
