"""Apache Hudi on Spark as the system under test: Hudi's real client runs in a separate process, one protocol step at a
time.

Hudi's times are readings of a real clock, but the model's times are clock ticks. Each Hudi instant is mapped to the
tick of the model step that created the instant.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from nbcc.engine.names import bucket_of
from nbcc.model import Query, World
from nbcc.model.answers import PENDING, NoAnswer
from nbcc.model.mechanisms.partial_updates import PartialColumns

from ...users_factory import CannotPlay
from ..mapping import IMPOSSIBLE, STEPS
from ..peers.process import PeerProcess, PeerRefused, peer
from .engine import MEMORY
from .hudi_histories import does_otherwise
from .protocol import CannotStep, Impossible
from .rows import is_rolled, partition_name, to_table

_INSTANT: Final = re.compile(r"(?P<requested>\d{17})(_(?P<completed>\d{17}))?\.(?P<action>\w+)(\.(?P<state>\w+))?$")
_LOG: Final = re.compile(r"\.[^_]+_(?P<requested>\d{17})\.log\.(?P<version>\d+)_")
_BASE: Final = re.compile(r".*_(?P<requested>\d{17})\.parquet$")
_STATES: Final = ("requested", "inflight", "completed")
_MODELLED: Final = {"deltacommit", "commit", "compaction", "rollback"}
WAITS_ONE_IN: Final = 3
"""One in so many publications finds the lock taken, and waits until it is released."""


class HudiSystem:
    """A Hudi table in a temporary folder, which is in `/dev/shm` (in memory) if this folder exists."""

    name = "hudi"
    impossible: Mapping[str, str] = IMPOSSIBLE
    does_otherwise = staticmethod(does_otherwise)

    def __init__(self, world: World, peer_process: PeerProcess | None = None) -> None:
        if world.custom:
            raise CannotPlay("Hudi merges rows by a Java class of the user, and this peer has none")
        self.world = world
        self._peer = peer_process or peer("hudi")
        self._folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
        self.partitions = [partition_name(number) for number in range(world.partitions)]
        self._tick = 0
        self.ticks: dict[str, int] = {}  # instant -> tick
        self._seen: dict[str, Any] | None = None
        self.ask("create", merge_mode=world.merge_mode, buckets=world.buckets, partitions=self.partitions)

    def ask(self, step: str, **arguments: Any) -> Any:
        """Execute a step of the Hudi process on the table. All steps except reads invalidate the cached observation."""
        self._seen = None if step != "read" else self._seen
        return self._peer.ask(step, str(self._folder), **arguments)

    def start(self, actor: str, operation: str, args: Mapping[str, Any]) -> HudiOperation:
        batch = args.get("batch", {})
        if is_rolled(batch):
            raise Impossible("Hudi's client puts all rows of a write for a file group into one log file")
        if self.world[PartialColumns].columns:
            raise Impossible("Hudi's client writes whole rows; only MERGE INTO of Spark SQL writes partial ones")
        columns = ("id", "part", "ts", "value", "_hoodie_is_deleted")
        rows = [[row[name] for name in columns] for row in to_table(batch, self.world).to_pylist()] if batch else []
        instants = {tick: instant for instant, tick in self.ticks.items()}
        return HudiOperation(self, actor, rows, instants.get(args.get("instant", 0)))

    def fault(self, actor: str, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """Inject a fault."""
        if call := STEPS[action].call:
            self.ask(call, actor=actor)
        return {}

    def take_time(self) -> int:
        """Advance the clock by one tick, and return the new time."""
        self._tick += 1
        return self._tick

    def close(self) -> None:
        """Close the table and delete its folder."""
        self.ask("forget")
        shutil.rmtree(self._folder, ignore_errors=True)

    @contextmanager
    def folder(self) -> Iterator[Path]:
        yield self._folder

    # what can be observed

    def timeline(self) -> tuple[Any, ...]:
        instants: dict[int, tuple[str, str, int, int | None]] = {}
        for entry in self.entries():
            if entry["requested"] not in self.ticks or entry["action"] not in _MODELLED:
                continue
            requested, completed = self.ticks[entry["requested"]], entry["completed"]
            state = "completed" if completed else entry["state"] or "requested"
            known = instants.get(requested)
            if known is None or _STATES.index(state) > _STATES.index(known[1]):
                instants[requested] = (entry["action"], state, requested, self.ticks[completed] if completed else None)
        return tuple(instants[requested] for requested in sorted(instants))

    def entries(self) -> list[dict[str, str | None]]:
        """Return the files of Hudi's timeline, with each file name split into its parts."""
        return [match.groupdict() for name in self._look()["timeline"] if (match := _INSTANT.match(name))]

    def slices(self) -> tuple[Any, ...]:
        """Return the file slices of Hudi's file-system view, without files of instants that are not completed."""
        done = {requested for _, state, requested, _ in self.timeline() if state == "completed"}
        plans = {requested for action, _, requested, _ in self.timeline() if action in ("commit", "compaction")}
        slices = []
        for each in self._look()["slices"]:
            instant = self.ticks.get(each["instant"], 0)
            base = self._ticks_of(_BASE, [each["base"]] if each["base"] else [])
            loaded = bool(base) and base[0][0] == instant and instant in done
            logs = sorted((tick, version) for tick, version in self._ticks_of(_LOG, each["logs"]) if tick in done)
            entry = (
                self._group(each["partition"], each["file"]),
                instant if instant in plans or loaded else None,
                base[0][0] if base and base[0][0] in done else None,
                tuple(logs),
            )
            if entry[1] is not None or logs:
                slices.append(entry)
        return tuple(sorted(slices, key=lambda entry: (entry[0], entry[1] or 0)))

    def rows(self, query: Query) -> tuple[Any, ...]:
        """Run a query with Hudi on Spark, and return its rows. Raises `Impossible` for queries that Hudi does not
        offer.
        """
        if query.kind == "changes":
            raise Impossible("Hudi returns change logs only for tables with CDC")
        instants = {tick: instant for instant, tick in self.ticks.items()}
        times = {name: instants.get(tick) for name, tick in (("after", query.after), ("until", query.until)) if tick}
        try:
            rows = self.ask("read", kind=query.kind, **times)
        except PeerRefused as refused:
            if "first incomplete commit" in str(refused):
                raise NoAnswer(PENDING) from refused
            raise
        return tuple((key, ordering, value, self.ticks[commit]) for key, ordering, value, commit in rows)

    def complaints(self) -> list[str]:
        """Return a message if the order of Hudi's instants differs from the order of the steps that created them."""
        by_instant = [tick for _, tick in sorted(self.ticks.items())]
        return [] if by_instant == sorted(by_instant) else [f"instants in the order of the ticks {by_instant}"]

    # observation

    def _look(self) -> dict[str, Any]:
        if self._seen is None:
            self._seen = self.ask("look")
        return self._seen

    def _group(self, partition: str, file: str) -> int:
        return self.partitions.index(partition) * self.world.buckets + (bucket_of(file) or 0)

    def _ticks_of(self, pattern: re.Pattern[str], names: Sequence[str]) -> list[tuple[int, int]]:
        matches = [match.groupdict() for name in names if (match := pattern.match(name))]
        return [(self.ticks[match["requested"]], int(match.get("version", 0))) for match in matches]


_CALLS: Final[Mapping[str, tuple[str, str]]] = {
    "start": ("", "requested"), "data": ("rows", ""), "bulk": ("rows", ""), "refused": ("", ""), "gone": ("", ""),
    "commit": ("waits", "completed"), "plan": ("", "requested"), "compact": ("instant", ""),
    "commit_compaction": ("waits", "completed"), "choose_rollback": ("", ""), "plan_rollback": ("", "requested"),
    "run_rollback": ("instant", "completed"),
}  # fmt: skip
"""Call of the peer -> the argument that it takes besides the actor, and the state of the instant that it creates."""


class HudiOperation:
    def __init__(self, system: HudiSystem, actor: str, rows: list[list[Any]], instant: str | None) -> None:
        self._system = system
        self._actor = actor
        self._rows = rows
        self._instant = instant  # of the write or the plan
        self._tick = 0  # taken in a step, and not yet mapped to an instant

    def step(self, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        step = STEPS.get(action)
        if step is None or step.impossible:
            raise Impossible(step.because if step else f"the table of peer steps has no row for {action}")
        if step.takes:
            self._tick = self._system.take_time()
        if step.call is not None:
            try:
                self._ask(step.call)
            except PeerRefused as refused:
                raise CannotStep(f"{step.call} of {self._actor}: {refused}") from refused
        return {}

    def crash(self) -> None:
        """Close the Hudi client and make its heartbeat expire, as after a crash."""
        self._system.ask("crash", actor=self._actor)

    def _ask(self, call: str) -> None:
        """Ask the peer for a call of `_CALLS`, and map the instant that it creates or completes to the tick."""
        argument, becomes = _CALLS[call]
        arguments = {argument: getattr(self, f"_{argument}")} if argument else {}
        answer = self._system.ask(call, actor=self._actor, **arguments)
        if call == "plan" and answer is None:
            raise CannotStep("Hudi finds nothing to compact")
        if becomes == "requested":
            self._instant = answer
            self._system.ticks[answer] = self._tick
        elif becomes == "completed":
            self._completed()

    @property
    def _waits(self) -> bool:
        return self._tick % WAITS_ONE_IN == 0

    def _completed(self) -> None:
        entries = self._system.entries()
        completed = [e["completed"] for e in entries if e["requested"] == self._instant and e["completed"]]
        if not completed:
            raise CannotStep(f"Hudi completed nothing for {self._instant}")
        self._system.ticks[str(completed[0])] = self._tick
