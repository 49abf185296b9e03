"""Caches finished searches in a file, so that an interrupted series of searches continues where it stopped.

Each line of the file is a JSON object with a search job (world, protocol, promises, reductions, bounds) and its result.
The file begins with a hash of nbcc's source code. If a process dies while it writes a line, at most the result on this
line is lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from nbcc.model import Step

from ... import specs
from ..explore import PromiseResult, Result, Verdict
from ..explore.checkpoint import FOLDERS, code
from ..explore.result import Coverage
from .job import SearchJob, transient

HEAD: Final = {"format": 1, "keeps": "searches of a matrix"}


class ResultCache:
    """A file that caches the results of finished searches. `hits` counts the searches found in the cache, `misses`
    counts the searches that were run.

    Raises:
        ValueError: If the file is not a search cache, or if another version of nbcc wrote it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.hits = self.misses = 0
        self._results = _read(path)

    def results(self, jobs: Sequence[Any], bounds: Mapping[str, Any]) -> dict[int, Result]:
        """Return the cached results of jobs, by the index of the job. `bounds` are the arguments of `explore`."""
        cached = ((number, self._results.get(key_of(job, bounds))) for number, job in enumerate(jobs))
        found = {number: result for number, result in cached if result is not None}
        self.hits += len(found)
        return found

    def add(self, job: Any, bounds: Mapping[str, Any], result: Result) -> None:
        """Write the result of a job to the file. A `transient` result (a failed search or one without enough memory) is
        not cached, so that its job can be repeated later.
        """
        self.misses += 1
        if transient(result) is not None:
            return
        line = json.dumps({"cell": json.loads(key_of(job, bounds)), "result": asdict(result)})
        with self.path.open("ab", buffering=0) as file:  # unbuffered: each line is one write, also of several processes
            file.write(f"{line}\n".encode())


def key_of(job: SearchJob, bounds: Mapping[str, Any]) -> str:
    """Return the cache key of a job: all inputs that determine its result, except the source code."""
    if job.mutant:
        raise ValueError("searches of mutants are not cached")
    world = specs.world(job.world) if isinstance(job.world, str) else job.world
    protocol = specs.protocol(job.protocol) if isinstance(job.protocol, str) else job.protocol
    of_world = {name: value for name, value in world.to_mapping().items() if name not in ("format", "name", "about")}
    given = {name: value for name, value in bounds.items() if value is not None}
    return _canonical({
        "protocol": protocol.differences(), "world": of_world, "promises": job.promises,
        "reduce": job.reduce, **({"records": True} if job.records else {}), **given,
    })  # fmt: skip


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _read(path: Path) -> dict[str, Result]:
    head = {**HEAD, "code": code(*FOLDERS)}
    if not path.exists():
        temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
        temporary.write_text(f"{json.dumps(head)}\n", encoding="utf-8")
        os.replace(temporary, path)
        return {}
    first, *lines = path.read_bytes().split(b"\n")
    given = _loaded(first)
    if not lines or {name: given.get(name) for name in HEAD} != HEAD:
        raise ValueError(f"{path} is not a cache of searches; name another file, or delete it")
    if given != head:
        raise ValueError(f"{path} holds searches by other code; name another file, or delete it")
    if lines[-1]:
        os.truncate(path, path.stat().st_size - len(lines[-1]))  # a process died while it wrote this line
    whole = [each for each in map(_loaded, lines) if each.keys() == {"cell", "result"}]
    return {_canonical(each["cell"]): _result(each["result"]) for each in whole}


def _loaded(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _result(given: Mapping[str, Any]) -> Result:
    promises = {name: _promise(each) for name, each in given["promises"].items()}
    deadlock, reductions = _steps(given["deadlock"]), tuple(given["reductions"])
    reads, covered = _frozen(given["reads"]), given["coverage"] and Coverage(**given["coverage"])
    made = {"promises": promises, "deadlock": deadlock, "reductions": reductions, "reads": reads, "coverage": covered}
    return Result(**{**given, **made})


def _promise(given: Mapping[str, Any]) -> PromiseResult:
    return PromiseResult(**{**given, "verdict": Verdict(given["verdict"]), "trace": _steps(given["trace"])})


def _steps(given: Sequence[Any] | None) -> tuple[Step, ...] | None:
    return None if given is None else tuple(Step(*_frozen(step)) for step in given)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
