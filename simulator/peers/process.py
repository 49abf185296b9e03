"""Runs a peer (a program that runs another system) as a process. Requests and answers are JSON objects, one per line.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, Final

_HERE: Final = Path(__file__).resolve().parent
_ENVIRONMENT: Final = ".venv-{name}"  # `make interop` puts it next to .venv


class PeerRefused(Exception):
    """The peer refused a step. The message contains the peer's exception and its causes."""


class PeerMissing(ValueError):
    """The peer's environment does not exist, or the peer's process has ended."""


class PeerProcess:
    """A process that runs a peer (another implementation, such as Apache Hudi). The process starts with the first
    request, and ends when the calling process ends.
    """

    def __init__(self, name: str, python: Path, version: str | None = None) -> None:
        self._name = name
        self._python = python
        self._version = version
        self._process: subprocess.Popen[str] | None = None

    def ask(self, step: str, table: str, **arguments: Any) -> Any:
        """Send one request to the peer and return the answer.

        Raises:
            PeerRefused: If the peer refuses the step.
            PeerMissing: If the peer's environment does not exist, or if the peer's process has ended.
        """
        process = self._started()
        assert process.stdin is not None, "a pipe"
        assert process.stdout is not None, "a pipe"
        process.stdin.write(json.dumps({"do": step, "table": table, **arguments}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise PeerMissing(f"the process of {self._name} has ended with {process.wait()}; its output is above")
        answer = json.loads(line)
        if "error" in answer:
            raise PeerRefused(answer["error"])
        return answer["ok"]

    def close(self) -> None:
        """End the peer's process by closing its standard input."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait()
            self._process = None

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            environment = {**os.environ, "PYTHONPATH": str(_HERE), "PYSPARK_PYTHON": str(self._python)}
            if self._version is not None:
                environment[f"NBCC_{self._name.upper()}_VERSION"] = self._version
            command = [str(self._python), "-m", self._name]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
        return self._process


@cache
def peer(name: str, version: str | None = None) -> PeerProcess:
    """Return the process of a peer. The environment variable NBCC_<NAME>_PYTHON selects the peer's Python interpreter;
    the default environment is ``.venv-<name>`` in nbcc's root folder.

    Use ``version`` to select a release of the product other than the peer's default release.

    Raises:
        PeerMissing: If the Python interpreter does not exist.
    """
    there = _HERE.parents[1] / _ENVIRONMENT.format(name=name) / "bin" / "python"
    python = Path(os.environ.get(f"NBCC_{name.upper()}_PYTHON", there))
    if not python.exists():
        raise PeerMissing(f"the peer {name} has no environment at {python}; `make interop` builds it")
    process = PeerProcess(name, python, version)
    atexit.register(process.close)
    return process
