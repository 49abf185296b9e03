"""A side as seen from the one who times: a process that is asked to do things and says how long they took."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

from . import progress

ROOT: Final = Path(__file__).parents[1]
SIDES: Final = Path(__file__).parent / "sides"
HUDI_PYTHON: Final = ROOT / ".venv-hudi" / "bin" / "python"
HEAP: Final = "3g"  # of each JVM


class Took(NamedTuple):
    """What an operation took and gave."""

    seconds: float
    answer: Any


class SideError(RuntimeError):
    """A side could not do what it was asked."""


class Side:
    """One process; its JVM's words go to the file `log`."""

    def __init__(self, name: str, log: Path, cores: int = 2, heap: str = HEAP, **start: Any) -> None:
        self.name = name
        python = _hudi_python() if name == "hudi" else Path(sys.executable)
        script = [str(SIDES / "hudi.py")] if name == "hudi" else ["-m", f"benchmarks.sides.{name}"]
        environment = {**os.environ, "PYSPARK_PYTHON": str(python)}
        if name != "hudi":
            environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), environment.get("PYTHONPATH", "")])
        self._log = log.open("ab")
        self._process = subprocess.Popen(
            [str(python), *script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True,
            env=environment, cwd=ROOT,
        )  # fmt: skip
        self.do("start", cores=cores, heap=heap, **start)

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._process.pid

    def do(self, operation: str, **arguments: Any) -> Took:
        """Have it done, with a line of progress."""
        with progress.during(f"{self.name}: {operation.replace('_', ' ')}"):
            self.send(operation, **arguments)
            return self.receive()

    def send(self, operation: str, **arguments: Any) -> None:
        """Send a request without waiting for the answer."""
        assert self._process.stdin is not None, "a pipe"
        self._process.stdin.write(json.dumps({"do": operation, **arguments}) + "\n")
        self._process.stdin.flush()

    def receive(self) -> Took:
        """The answer to the oldest request."""
        assert self._process.stdout is not None, "a pipe"
        line = self._process.stdout.readline()
        if not line:
            raise SideError(f"the process of {self.name} has ended; its output is in {self._log.name}")
        reply = json.loads(line)
        if "error" in reply:
            raise SideError(f"{self.name}: {reply['error']}")
        return Took(**reply)

    def close(self) -> None:
        """End the process by ending its input."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()
        self._log.close()


def hudi_is_there() -> bool:
    """Whether `make interop` or `make bench` has built Hudi's environment."""
    return _hudi_python().exists()


def _hudi_python() -> Path:
    return Path(os.environ.get("NBCC_HUDI_PYTHON", HUDI_PYTHON))
