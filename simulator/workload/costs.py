"""The costs of simulated operations: recorded storage requests of the engine, latencies of stores, and fitted
computation times.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np

from nbcc.model.validation import nearest

VERBS: Final = ("put", "get", "list", "delete")
POOL: Final = 2048  # durations that are sampled in advance for each stage
WIDTH: Final = 8  # the engine's requests at the same time (engine.storage.requests.WIDTH)


@dataclass(frozen=True, slots=True)
class Touched:
    """The amounts that determine an operation's cost: file groups, log files, and commits that the actor has not read
    yet.
    """

    groups: int = 0
    logs: int = 0
    commits: int = 0


@dataclass(frozen=True, slots=True)
class StageCost:
    """The cost of one stage of an operation, recorded from the engine. The number of storage requests is a linear
    function of the numbers of file groups, log files and commits.

    `takes` states how often the stage reads the clock, and `lists` states how often it lists the timeline. `decodes`
    states how often the stage decodes each commit that its actor has not read before.
    """

    locked: bool
    takes: int
    lists: int
    decodes: int
    rounds: tuple[int, ...]
    requests: Mapping[str, tuple[int, ...]]

    def count(self, touched: Touched) -> dict[str, int]:
        """Return the number of storage requests of each kind, such as "put", in the stage."""
        return {verb: _linear(counts, touched) for verb, counts in self.requests.items()}

    def depth(self, touched: Touched) -> int:
        """Return how many rounds of parallel storage requests the stage sends one after another."""
        sent = sum(self.count(touched).values())
        return max(_linear(self.rounds, touched), math.ceil(sent / WIDTH))


Program = tuple[StageCost, ...]


@dataclass(frozen=True, slots=True)
class Store:
    """A store: its kind, the latency of each verb in seconds (median and 99th percentile), bytes per second, and the
    price of each request in dollars. A request occupies a core of the writer's machine for `core_seconds`.
    """

    name: str
    about: str
    kind: str
    latency: Mapping[str, tuple[float, float]]
    bytes_per_second: float
    price: Mapping[str, float]
    core_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """Computation times that were fitted to measurements of the engine, in core-seconds.

    `prepare`, `request`, `write`, `publish` and `clean_up` are the fixed times of the stages of a write, excluding
    storage requests. Writing data takes an additional `per_row` for each row, and `per_file` for each file.

    A timeline listing takes `list_instant` for each active instant, plus `unread` for each commit that the process has
    not read before. `decode` is the time for decoding a new commit. A compaction takes `compact_row` for each row, and
    `compact_log` for each log file. A snapshot read takes `read_row` for each row, and `read_log` for each log file.

    The ratios of measured to fitted times are log-normal with the sigma `noise`. `latency` contains the median and the
    99th percentile of the latency of each kind of storage request, in seconds, on the local store.
    """

    prepare: float
    request: float
    write: float
    publish: float
    clean_up: float
    per_row: float
    per_file: float
    compact_row: float
    compact_log: float
    read_row: float
    read_log: float
    list_instant: float
    unread: float
    decode: float
    noise: float
    latency: Mapping[str, tuple[float, float]]
    ranges: Mapping[str, tuple[float, float]]
    machine: str


@cache
def programs(kind: str) -> dict[str, Program]:
    """Return the recorded operations (request counts by stage) on a kind of store: "object store" or "local"."""
    document = json.loads((_folder() / "accesses.json").read_text("utf-8"))
    # A listing of a local table reads each new commit without decoding it. One of an object store reads none.
    decoding = document["programs"]["object store"]
    return {
        name: tuple(_stage(*each, kind == "local") for each in zip(stages, decoding[name], strict=True))
        for name, stages in document["programs"][kind].items()
    }


def verb_of(request: str, is_local: bool) -> str:
    """Return the kind of storage request that determines the latency of a recorded request such as "delete log".

    On a file system, deletes (except of markers and heartbeats) sync the folder, and therefore cost as much as puts.
    """
    verb, _, kind = request.partition(" ")
    return "put" if is_local and verb == "delete" and kind not in ("marker", "heartbeat") else verb


@cache
def lease_requests() -> dict[str, dict[str, int]]:
    """Return the storage requests for each operation on the lease lock, such as its acquisition."""
    lease: dict[str, dict[str, int]] = json.loads((_folder() / "accesses.json").read_text("utf-8"))["lease"]
    return lease


def store(name: str, calibration: Calibration) -> Store:
    """Return the store with this name. Raises ValueError if the store does not exist."""
    stores = {key: value for key, value in _stores().items() if key != "format"}
    if name not in stores:
        raise ValueError(f"no store is called {name!r}; {nearest(name, tuple(stores), 'specs/workload/stores.toml')}")
    given = stores[name]
    latency = calibration.latency
    if given["kind"] != "local":
        latency = {verb: (given[verb][0] / 1000, given[verb][1] / 1000) for verb in VERBS}
    price = {verb: given["price"][verb] / 1000 for verb in VERBS}
    cores = given.get("core_milliseconds", 0.0) / 1000
    return Store(name, given["about"], given["kind"], latency, given["megabytes_per_second"] * 1e6, price, cores)


def calibration(path: Path | None = None) -> Calibration:
    """Return the fitted times from a calibration file, by default the packaged one. Raises ValueError if the file is
    invalid.
    """
    source = path or _folder() / "calibration.json"
    try:
        document = json.loads(source.read_text("utf-8"))
        fields: dict[str, Any] = {name: float(value) for name, value in document["seconds"].items()}
        for name in ("latency", "ranges"):
            fields[name] = {key: (float(low), float(high)) for key, (low, high) in document[name].items()}
        return Calibration(**fields, machine=document["machine"])
    except (KeyError, TypeError, ValueError) as error:
        remedy = "`nbcc simulate --calibrate FILE` writes one"
        raise ValueError(f"{source} is not a calibration: {error}; {remedy}") from None


class Sampler:
    """Samples random latencies of one store. For each group of requests, the samples are drawn in advance."""

    def __init__(self, store: Store, random: np.random.Generator) -> None:
        self.store, self._random = store, random
        self._pools: dict[tuple[tuple[str, int], ...] | tuple[Any, ...], list[float]] = {}
        self._next = 0

    def latency(self, requests: Mapping[str, int], depth: int) -> float:
        """Return a random total duration, in seconds, of the given storage requests, which are sent in `depth`
        consecutive rounds.
        """
        key = (depth, *requests.items())
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools[key] = self._sampled(requests, depth)
        self._next = (self._next + 1) % POOL
        return pool[self._next]

    def _sampled(self, requests: Mapping[str, int], depth: int) -> list[float]:
        verbs = [verb for verb, count in requests.items() for _ in range(count)]
        if not verbs or not depth:
            return [0.0] * POOL
        total = np.zeros(POOL)
        if depth > 200:  # the sum of many requests is close to its mean
            mean = sum(self.mean(verb) for verb in verbs) * depth / len(verbs)
            return [mean] * POOL
        for chunk in np.array_split(np.array(verbs), depth):
            total += np.max([self._draw(verb) for verb in chunk], axis=0) if len(chunk) else 0.0
        return [float(value) for value in total]

    def _draw(self, verb: str) -> Any:
        median, late = self.store.latency[verb]
        return median * np.exp(self._random.standard_normal(POOL) * _sigma(median, late))

    def mean(self, verb: str) -> float:
        """Return the mean latency of a request in seconds."""
        median, late = self.store.latency[verb]
        return median * math.exp(_sigma(median, late) ** 2 / 2)


def _sigma(median: float, late: float) -> float:
    return math.log(max(late, median * 1.0001) / median) / 2.326  # the 99th percentile of a normal distribution


def _linear(coefficients: tuple[int, ...], touched: Touched) -> int:
    constant, groups, logs, commits = coefficients
    return constant + groups * touched.groups + logs * touched.logs + commits * touched.commits


def _stage(given: Mapping[str, Any], decoding: Mapping[str, Any], is_local: bool) -> StageCost:
    requests: dict[str, list[int]] = {}
    for request, counts in given["requests"].items():
        verb = verb_of(request, is_local)
        total = requests.setdefault(verb, [0, 0, 0, 0])
        requests[verb] = [a + b for a, b in zip(total, counts, strict=True)]
    by_verb = {verb: tuple(counts) for verb, counts in requests.items()}
    lists, decodes = given["requests"].get("list timeline", [0])[0], decoding["rounds"][3]
    return StageCost(given["locked"], given["takes"], lists, decodes, tuple(given["rounds"]), by_verb)


@cache
def _stores() -> dict[str, Any]:
    return tomllib.loads((_folder() / "stores.toml").read_text("utf-8"))


def _folder() -> Any:
    return files("nbcc") / "specs" / "workload"
