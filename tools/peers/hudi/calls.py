"""Controls the storage calls of Hudi's client. The classes in `java/` stop before each call of an actor under the
table's folder: the call proceeds, fails, or ends the actor. They are compiled with `javac` when they are first needed.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyspark

CONTROLLED = os.environ.get("NBCC_HUDI_CALLS") == "1"
"""Whether this process controls storage calls."""
_SOURCES = Path(__file__).parent / "java" / "nbcc"
_ACTOR = "nbcc.actor"


@cache
def configuration() -> dict[str, str]:
    """Return the options of a Spark session whose local files are controlled; none if this process controls none."""
    if not CONTROLLED:
        return {}
    classes = tempfile.mkdtemp(prefix="nbcc-calls-")
    jars = Path(pyspark.__file__).parent / "jars"
    subprocess.run(["javac", "-d", classes, "-cp", f"{jars}/*", *map(str, sorted(_SOURCES.glob("*.java")))], check=True)
    return {"spark.driver.extraClassPath": classes, f"spark.hadoop.{FILE_SYSTEM[0]}": FILE_SYSTEM[1], **_INTERPRETED}


_INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Thousands of reads of three rows: to compile the code of a query takes longer than to interpret it."""
FILE_SYSTEM = ("fs.file.impl", "nbcc.ControlledFileSystem")
"""The option of Hadoop that selects the file system of local files, and its value."""


class Controlled:
    """The storage calls of the actors of one table."""

    def __init__(self, session: Any, path: str) -> None:
        self._session = session
        self._java = session._jvm.nbcc.Calls
        self._java.watch(session._jsc.sc(), str(Path(path).resolve()))
        self._ends: dict[str, dict[str, Any]] = {}
        self._threads: dict[str, threading.Thread] = {}

    def run(self, actor: str, number: int, fault: str, step: Callable[[], Any]) -> dict[str, Any]:
        """Execute a step of an actor. At its call `number` the call fails (`fail`), or the actor ends before it
        (`end`) or in the middle of a put (`tear`).

        Returns the calls, and the value of the step or the error with which it ended.
        """
        self._java.begin(actor, number, fault)
        return {**self._ended(actor, step), "calls": list(self._java.taken(actor))}

    def launch(self, actor: str, step: Callable[[], Any]) -> None:
        """Begin a step of an actor in a thread of its own. Each of its calls waits for an answer."""
        self._java.begin(actor, -1, "ask")

        def runs() -> None:
            self._java.enter(actor)
            self._ends[actor] = self._ended(actor, step)
            self._java.leave(actor)

        self._ends.pop(actor, None)
        self._threads[actor] = threading.Thread(target=runs, daemon=True)
        self._threads[actor].start()

    def next(self, actor: str, milliseconds: int = 60_000) -> dict[str, Any]:
        """Return the next call of an actor, or how its step has ended, or nothing if it waits for a lock."""
        call = self._java.next(actor, milliseconds)
        if call is None:
            return {}
        return {"call": call} if call else self._ends.get(actor, {"error": "nbcc ended the actor"})

    def answer(self, actor: str, fault: str) -> None:
        """Answer the call that `next` has returned: it proceeds (an empty text), fails, or ends the actor."""
        self._java.answer(actor, fault)

    def _ended(self, actor: str, step: Callable[[], Any]) -> dict[str, Any]:
        from .session import causes

        self._session.sparkContext.setLocalProperty(_ACTOR, actor)
        try:
            return {"value": step()}
        except Exception as error:  # the conductor decides what an error of an ended actor means
            return {"error": causes(error)}
        finally:
            self._session.sparkContext.setLocalProperty(_ACTOR, None)
