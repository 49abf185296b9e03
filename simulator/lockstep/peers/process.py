"""Runs a peer (a program that runs another system) as a process."""

from __future__ import annotations

import atexit
import os
from functools import cache
from pathlib import Path
from typing import Any, Final

from .json_lines import JsonLines, ProcessEnded

_ROOT: Final = Path(__file__).resolve().parents[3]
_PROGRAMS: Final = _ROOT / "tools" / "peers"  # in a checkout; not in the wheel
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
        # PYSPARK_PYTHON too: Spark would start its workers with the first `python3` of the PATH, which lacks the
        # packages.
        environment = {**os.environ, "PYTHONPATH": str(_PROGRAMS), "PYSPARK_PYTHON": str(python)}
        if version is not None:
            environment[f"NBCC_{name.upper()}_VERSION"] = version
        self._name = name
        self._process = JsonLines([str(python), "-m", name], environment)

    def ask(self, step: str, table: str, **arguments: Any) -> Any:
        """Send one request to the peer and return the answer.

        Raises:
            PeerRefused: If the peer refuses the step.
            PeerMissing: If the peer's environment does not exist, or if the peer's process has ended.
        """
        try:
            answer = self._process.ask({"do": step, "table": table, **arguments})
        except ProcessEnded as ended:
            # Not PeerRefused: that a peer refuses a step is a fact about the system, that it ended is not.
            raise PeerMissing(f"the process of {self._name}: {ended}; its output is above") from ended
        if "error" in answer:
            raise PeerRefused(answer["error"])
        return answer["ok"]

    def close(self) -> None:
        """End the peer's process by closing its standard input."""
        self._process.close()


@cache
def peer(name: str, version: str | None = None) -> PeerProcess:
    """Return the process of a peer. The environment variable NBCC_<NAME>_PYTHON selects the peer's Python interpreter;
    the default environment is ``.venv-<name>`` in nbcc's root folder.

    Use ``version`` to select a release of the product other than the peer's default release.

    Raises:
        PeerMissing: If nbcc is not a checkout, or the Python interpreter does not exist.
    """
    if not (_PROGRAMS / name).is_dir():
        raise PeerMissing(f"the peer {name} needs a checkout of nbcc, where `make interop` builds its environment")
    there = _ROOT / _ENVIRONMENT.format(name=name) / "bin" / "python"
    python = Path(os.environ.get(f"NBCC_{name.upper()}_PYTHON", there))
    if not python.exists():
        raise PeerMissing(f"the peer {name} has no environment at {python}; `make interop` builds it")
    # One process for all tables of a run: the start of Spark costs more than most histories.
    process = PeerProcess(name, python, version)
    atexit.register(process.close)
    return process
