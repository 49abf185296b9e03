"""Caches finished searches in a file, so that an interrupted series of searches continues where it stopped.

Each line of the file is a JSON object with a search job (world, protocol, promises, reductions, bounds) and its result.
The file begins with a hash of nbcc's source code. If a process dies while it writes a line, at most the result on this
line is lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from nbcc.model import Step

from .. import specs
from .failed import transient
from .jobs import JobRunner, SearchJob, run_jobs
from .result import PromiseResult, Result
from .search_checkpoint import FOLDERS, code
from .verdict import Verdict

HEAD: Final = {"format": 1, "keeps": "searches of a matrix"}
NO_BOUNDS: Final = ("workers", "memory", "raises")
"""Arguments that do not change the result of a search, or only make it `transient`."""


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

    def search(
        self,
        jobs: Sequence[SearchJob],
        *,
        across: JobRunner = run_jobs,
        done: Callable[[SearchJob, Result], None] | None = None,
        **bounds: Any,
    ) -> Iterator[tuple[SearchJob, Result]]:
        """Run jobs like `run_jobs`, but take the results of finished searches from the cache. `across` is the function
        that runs the jobs missing from the cache. The callback `done` is first called for all cached results, and then
        for each new result.

        A `transient` result (a failed search or one without enough memory) is not cached, so that its job can be
        repeated later.
        """
        keys = [key_of(job, bounds) for job in jobs]
        cached = [self._results.get(key) for key in keys]
        for job, result in zip(jobs, cached, strict=True):
            if result is not None:
                self.hits += 1
                if done:
                    done(job, result)

        def store(job: SearchJob, result: Result) -> None:
            self.misses += 1
            if transient(result) is None:
                self._write(key_of(job, bounds), result)
            if done:
                done(job, result)

        missing = [job for job, result in zip(jobs, cached, strict=True) if result is None]
        rest = across(missing, done=store, **bounds)
        for job, result in zip(jobs, cached, strict=True):
            yield next(rest) if result is None else (job, result)

    def _write(self, key: str, result: Result) -> None:
        line = json.dumps({"cell": json.loads(key), "result": asdict(result)})
        with self.path.open("ab", buffering=0) as file:  # unbuffered: each line is one write, also of several processes
            file.write(f"{line}\n".encode())


def key_of(job: SearchJob, bounds: Mapping[str, Any]) -> str:
    """Return the cache key of a job: all inputs that determine its result, except the source code."""
    if job.mutant or job.shard is not None:
        raise ValueError("searches of mutants and of shards are not cached")
    world = specs.world(job.world) if isinstance(job.world, str) else job.world
    protocol = specs.protocol(job.protocol) if isinstance(job.protocol, str) else job.protocol
    of_world = {name: value for name, value in world.to_mapping().items() if name not in ("format", "name", "about")}
    given = {name: value for name, value in bounds.items() if name not in NO_BOUNDS and value is not None}
    return _canonical({
        "protocol": protocol.differences(), "world": of_world, "promises": job.promises,
        "reduce": job.reduce, **given,
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
    return Result(**{**given, "promises": promises, "deadlock": deadlock, "reductions": reductions, "shards": None})


def _promise(given: Mapping[str, Any]) -> PromiseResult:
    return PromiseResult(**{**given, "verdict": Verdict(given["verdict"]), "trace": _steps(given["trace"])})


def _steps(given: Sequence[Any] | None) -> tuple[Step, ...] | None:
    return None if given is None else tuple(Step(*_frozen(step)) for step in given)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
