"""A scenario of the workload simulation: the table, the store and lock, the writers, services and readers.

A scenario is a TOML file with the tables `[table]`, `[lock]`, `[[writers]]`, `[compaction]`, `[cleaning]`, `[reads]`
and `[crashes]`. Each TOML table corresponds to a class in this module, whose attributes are the table's keys. Durations
are strings such as 90s, 5m or 2h.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args, get_type_hints

from nbcc.model.validation import nearest, refuse_unknown

Mode = Literal["nbcc", "occ", "single"]
Arrival = Literal["regular", "poisson", "continuous"]
Choice = Literal["newest", "uniform", "zipf", "own"]
Provider = Literal["file", "lease", "zookeeper"]
Decision = Literal["lock", "log", "shared", "free"]
Publication = Literal["ascending", "parallel"]
Requests = Literal["under_lock", "put_if_absent"]
MODES: Final = get_args(Mode)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TableLoad:
    """The shape of the simulated table, which has `partitions` times `buckets` file groups. `rows` is the initial
    number of rows.
    """

    partitions: int = 1
    buckets: int = 4
    rows: int = 0
    row_bytes: int = 200


@dataclass(frozen=True, slots=True)
class LockOptions:
    """The options of the simulated table's lock.

    `provider` is `file` (a file lock on one machine), `lease` (an object in the store) or `zookeeper` (a queue). `skew`
    is the time in seconds that an actor waits to allow for clock skew. `decision` states what decides a commit: the
    lock (`lock`), an entry of the decision log that its writer creates under the lock (`log`), an entry that the
    lock's holder creates for all writers that have announced their commits (`shared`), or such an entry that any writer
    creates without the lock (`free`). `publication` states whether the author of such an entry publishes its instants
    one after the other or at the same time. `requests` states whether a writer requests an instant under the lock. One
    that announces its commit does not.
    """

    provider: Provider = "lease"
    skew: float = 0.2
    wait: float = 60.0
    lease: float = 300.0
    decision: Decision = "lock"
    publication: Publication = "ascending"
    requests: Requests = "under_lock"

    @property
    def requests_without_lock(self) -> bool:
        """Whether a writer requests an instant without the lock."""
        return self.requests == "put_if_absent" or self.decision in ("shared", "free")


@dataclass(frozen=True, slots=True)
class WriterLoad:
    """A group of writers with the same options.

    `arrival` states when a batch arrives: regularly every `every` seconds, at random with this mean, or when the
    previous batch is done. A batch touches `partitions` partitions of the table, selected by `choice`. With the choice
    `own`, each writer has its own partitions. `zipf` is the exponent of the Zipf distribution of keys over buckets; 0
    means a uniform distribution. `updates` is the fraction of a batch's rows whose keys already exist. `compute` is the
    number of seconds for preparing a batch, in addition to the cost of its rows. `concurrency` overrides the
    concurrency mode of the run.
    """

    name: str
    count: int = 1
    every: float = 60.0
    arrival: Arrival = "regular"
    rows: int = 1000
    partitions: int = 1
    choice: Choice = "newest"
    zipf: float = 0.0
    updates: float = 0.5
    compute: float = 0.0
    cores: int = 1
    begins: float = 0.0
    ends: float = float("inf")
    concurrency: Literal["", "nbcc", "occ"] = ""


@dataclass(frozen=True, slots=True)
class Service:
    """A table service that runs every `every` seconds (0 means never) on `cores` cores."""

    every: float = 0.0
    cores: int = 4


@dataclass(frozen=True, slots=True)
class Reads:
    """Periodic snapshot queries of the newest `partitions` partitions. A query begins every `every` seconds (0 means
    never) on `cores` cores.

    If the previous query is still running, the next query begins after it.
    """

    every: float = 600.0
    partitions: int = 1
    cores: int = 4


@dataclass(frozen=True, slots=True)
class RandomCrashes:
    """Random crashes of writers. `every` is the mean number of seconds between two crashes of one writer (0 means no
    crashes).
    """

    every: float = 0.0
    restart: float = 60.0


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    """A batch: the arrival in seconds after the start, the number of rows, the file groups and, if recorded, the
    seconds that the write took.
    """

    at: float
    rows: int
    groups: tuple[int, ...]
    took: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A workload: a table with its writers, services, readers and crashes. `cores` is the number of cores that all
    writers share; 0 means that each writer has separate cores.
    """

    name: str
    about: str = ""
    source: str = ""
    hours: float = 1.0
    store: str = "s3"
    cores: int = 0
    table: TableLoad = field(default_factory=TableLoad)
    lock: LockOptions = field(default_factory=LockOptions)
    writers: tuple[WriterLoad, ...] = ()
    compaction: Service = field(default_factory=Service)
    cleaning: Service = field(default_factory=Service)
    reads: Reads = field(default_factory=Reads)
    crashes: RandomCrashes = field(default_factory=RandomCrashes)
    recorded: tuple[tuple[PlannedBatch, ...], ...] = ()
    """The batches of each writer of a recorded table; they take the place of `writers`."""

    @property
    def seconds(self) -> float:
        """The simulated time span in seconds."""
        return self.hours * 3600

    @property
    def writer_count(self) -> int:
        return len(self.recorded) or sum(group.count for group in self.writers)

    def scaled(self, factor: float) -> Scenario:
        """Return the scenario with the number of writers in each group multiplied by `factor` (at least one writer
        each).
        """
        groups = (replace(group, count=max(1, round(group.count * factor))) for group in self.writers)
        return replace(self, writers=tuple(groups))


SECTIONS: Final[dict[str, type]] = {
    "table": TableLoad, "lock": LockOptions, "compaction": Service, "cleaning": Service, "reads": Reads,
    "crashes": RandomCrashes,
}  # fmt: skip
MOST: Final = {"hours": 100_000, "count": 10_000, "partitions": 100_000, "buckets": 10_000}
"""The largest values of numbers that a run's memory or number of events grows with."""

MANY: Final = 10**12
BOUNDED: Final[Mapping[type, tuple[str, ...]]] = {
    Scenario: ("hours",), TableLoad: ("partitions", "buckets", "row_bytes"),
    WriterLoad: ("count", "rows", "partitions", "cores"),
}  # fmt: skip
"""Class -> its numbers that must be greater than 0 and at most `MOST`, or `MANY`."""
DURATIONS: Final = ("every", "begins", "ends", "skew", "wait", "lease", "restart", "compute")
TOP: Final = ("format", "about", "source", "hours", "store", "cores", "writers", *SECTIONS)
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
DURATION: Final = rf"(\d+(?:\.\d+)?)\s*({'|'.join(_UNITS)})"


def names() -> tuple[str, ...]:
    """Return the names of the packaged scenarios."""
    return tuple(sorted(e.name[: -len(".toml")] for e in _folder().iterdir() if e.name.endswith(".toml")))


def load(name: str) -> Scenario:
    """Load the scenario with this name or path. Raises ValueError if the scenario does not exist or is invalid."""
    if name.endswith(".toml"):
        path: Any = Path(name)
        if not path.is_file():
            raise ValueError(f"scenario file {name!r} does not exist")
    elif name in names():
        path = _folder() / f"{name}.toml"
    else:
        raise ValueError(f"no scenario is called {name!r}; {nearest(name, names(), 'nbcc simulate --help')}")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"scenario {name!r} is not TOML: {error}") from None
    try:
        return scenario_of(Path(name).stem if name.endswith(".toml") else name, content)
    except ValueError as error:
        raise ValueError(f"scenario {name!r}: {error}") from None


def scenario_of(name: str, content: Mapping[str, Any]) -> Scenario:
    """Parse the content of a scenario file. Raises ValueError for an unknown field or an invalid value."""
    if content.get("format") != 1:
        raise ValueError(f"format {content.get('format')!r} is not known; this version reads 1")
    refuse_unknown(content, TOP, "the scenario")
    groups = content.get("writers")
    if not isinstance(groups, list) or not groups or not all(isinstance(group, dict) for group in groups):
        raise ValueError("it has no writers; add a table [[writers]]")
    own = {key: content[key] for key in ("about", "source", "hours", "store", "cores") if key in content}
    sections: dict[str, Any] = {key: _part(kind, content.get(key, {}), f"[{key}]") for key, kind in SECTIONS.items()}
    writers = tuple(_part(WriterLoad, group, f"[[writers]] number {number}") for number, group in enumerate(groups, 1))
    values = {key: _value(key, value, type(getattr(_DEFAULT, key)), "the scenario") for key, value in own.items()}
    scenario = Scenario(name=name, writers=writers, **values, **sections)
    check(scenario)
    return scenario


def duration(text: str) -> float:
    """Convert a duration such as 200ms, 90s, 5m, 2h or 1d to seconds. Raises ValueError if the text is not a duration.
    """
    match = re.fullmatch(DURATION, text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a duration; use 200ms, 90s, 5m, 2h or 1d")
    return float(match[1]) * _UNITS[match[2]]


def check(scenario: Scenario) -> None:
    """Raise ValueError if a scenario contains impossible numbers, such as 0 partitions, or numbers whose simulation
    would take all memory or not end.
    """
    shape = scenario.table
    parts = [("", scenario), ("[table] ", shape), *((f"{group.name}: ", group) for group in scenario.writers)]
    for where, part in parts:
        for name in BOUNDED[type(part)]:
            value, most = getattr(part, name), MOST.get(name, MANY)
            if not 0 < value <= most:
                limit = f"at most {most}" if value > most else "greater than 0"
                raise ValueError(f"{where}{name} is {value}; it must be {limit}")
    for group in scenario.writers:
        if group.arrival != "continuous" and group.every <= 0:
            raise ValueError(f"{group.name}: every is {group.every:g} s; it must be greater than 0")
        if group.partitions > shape.partitions:
            raise ValueError(f"{group.name}: a batch touches {group.partitions} of {shape.partitions} partitions")
    if scenario.lock.provider == "file" and scenario.store != "local":
        raise ValueError(f"[lock] provider = 'file' locks the processes of one machine; the store is {scenario.store}")


def _part(kind: type[T], given: Any, where: str) -> T:
    if not isinstance(given, dict):
        raise ValueError(f"{where} must be a table")
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    refuse_unknown(given, tuple(known), where)
    values = {}
    for name, each in known.items():
        if name not in given:
            if each.default is MISSING and each.default_factory is MISSING:
                raise ValueError(f"{where} has no {name}")
            continue
        default = "" if each.default is MISSING else each.default
        values[name] = _value(name, given[name], type(default), where)
        options = _CHOICES.get(name)
        if options is not None and values[name] not in options:
            raise ValueError(f"{where}: {name} is {values[name]!r}; choose among {', '.join(filter(None, options))}")
    return kind(**values)


def _value(name: str, value: Any, kind: type, where: str) -> Any:
    if name in DURATIONS:
        if not isinstance(value, str):
            raise ValueError(f"{where}: {name} is {value!r}; give a duration such as 90s, 5m or 2h")
        return duration(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        words = {int: "a whole number", float: "a number", str: "a text"}[kind]
        raise ValueError(f"{where}: {name} is {value!r}; give {words}")
    return value


_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    **{name: get_args(hint) for name, hint in get_type_hints(LockOptions).items() if get_args(hint)},
    "arrival": get_args(Arrival), "choice": get_args(Choice), "concurrency": ("", "nbcc", "occ"),
}  # fmt: skip
_DEFAULT: Final = Scenario(name="")


def _folder() -> Any:
    return files("nbcc") / "specs" / "workload" / "scenarios"
