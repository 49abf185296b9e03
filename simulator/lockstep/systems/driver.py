"""A driver as the system under test: a program in any language that is asked over a pipe (docs/drivers.md).

Each request and each answer is one JSON object on one line. The program is started once; the request ``new`` begins a
history. A program that ends during a history differs from the model in the step that it was asked; it is started again
for the next history.
"""

from __future__ import annotations

import atexit
import shlex
from collections.abc import Collection, Mapping
from functools import cache, cached_property
from typing import Any, Final

from nbcc.model import Model, Protocol, Query, World
from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms import kinds

from ...observables import Batch, refused
from ...trace import plain, rows_of
from ...users_factory import CannotPlay
from ..crosscheck.generators import draw_world
from ..mapping import MAPPING
from ..mechanism import CRASH, FAULT, SPARK, MappingRow
from ..peers.json_lines import JsonLines, NotAnAnswer, ProcessEnded
from .protocol import CannotStep, Impossible

FORMAT: Final = 1
"""The version of the protocol, in the request ``hello``."""

SECONDS: Final = 60.0
"""A program that gives no answer for so long is ended. The first answer may include the start of a JVM."""

OPTIONAL: Final = ("crash", "fault", "timeline", "slices", "slices_as_of", "rows")
"""The verbs that a program may leave out. It must know hello, new, start and step."""


class Command(str):
    """The command line of a driver, where other systems have a name."""

    __slots__ = ()


class Driver:
    """The process of a driver, and what it can do according to its answer to ``hello``."""

    def __init__(self, command: str) -> None:
        self.command = command
        self._process = JsonLines(shlex.split(command), seconds=SECONDS)
        # The process serves all histories, so no single history may end it.
        atexit.register(self._process.close)

    @cached_property
    def says(self) -> Mapping[str, Any]:
        """The answer to ``hello``: ``name``, ``operations`` and ``verbs``. Raises CannotPlay if there is none."""
        try:
            says = self.ask("hello", format=FORMAT)
        except (OSError, CannotStep) as error:
            raise CannotPlay(f"the driver {self.command!r} does not start: {error}") from error
        if not isinstance(says, Mapping) or not isinstance(says.get("operations"), list):
            raise CannotPlay(f"the driver {self.command!r} answers hello without a list of 'operations': {says!r}")
        return says

    @property
    def verbs(self) -> Collection[str]:
        """The optional verbs that the driver knows; all of them, if its answer to ``hello`` does not say."""
        verbs: Collection[str] = self.says.get("verbs", OPTIONAL)
        return verbs

    @cached_property
    def impossible(self) -> Mapping[str, str]:
        """The actions of the model that the driver cannot perform, each with the reason."""
        return {row.action: because for row in MAPPING if (because := self._lacks(row))}

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of actors that begin, in random worlds, no operation that the driver lacks."""
        begun = {kind: _begun(kind) for kind in kinds()}
        return frozenset(kind for kind, some in begun.items() if some and not some & self.impossible.keys())

    def ask(self, verb: str, **arguments: Any) -> Any:
        """Send a request and return the value of ``ok``.

        Raises:
            Impossible: If the answer is ``missing``.
            CannotStep: If the answer is ``error`` or not an answer, or if the process has ended.
        """
        try:
            answer = self._process.ask({"do": verb, **arguments})
        except (ProcessEnded, NotAnAnswer) as error:
            raise CannotStep(f"the driver was asked for {verb}: {error}") from error
        if "ok" in answer:
            return answer["ok"]
        if "missing" in answer:
            raise Impossible(f"the driver has no {answer['missing']}")
        if "error" in answer:
            raise CannotStep(str(answer["error"]))
        if "refused" in answer:
            return refused(str(answer["refused"]))
        raise CannotStep(
            f"the driver was asked for {verb}: an answer without 'ok', 'error', 'missing' or 'refused': {answer!r}"
        )

    def optional(self, verb: str, **arguments: Any) -> Any:
        """Like `ask`. Raises Impossible without asking if the driver does not know the verb."""
        if verb not in self.verbs:
            raise Impossible(f"the driver has no {verb}")
        return self.ask(verb, **arguments)

    def _lacks(self, row: MappingRow) -> str:
        if row.operation in (CRASH, FAULT, SPARK):
            return "" if row.operation in self.verbs else f"the driver has no {row.operation}"
        return "" if row.operation in self.says["operations"] else f"the driver has no {row.operation}"


def _begun(kind: str) -> set[str]:
    """Return the actions by which a kind of actors begins operations in random worlds, under the default protocol.

    Other options and limits add actions (announced commits, changes by condition), which a history leaves out.
    """
    world = draw_world(lambda n: n - 1, (WRITER.name, kind))
    there = {each.action for each in Model(world, Protocol()).transitions}
    return {row.action for row in MAPPING if row.starts and row.action in there and row.action.startswith(f"{kind}_")}


@cache
def driver(command: str) -> Driver:
    """Return the driver of a command. All histories of one process of nbcc ask the same process."""
    return Driver(command)


class DriverSystem:
    """One history on a driver."""

    def __init__(self, program: Driver, world: World, protocol: Protocol) -> None:
        self.name = str(program.says.get("name", program.command))
        self.impossible = program.impossible
        self._driver = program
        try:
            program.ask("new", world=world.to_mapping(), protocol=protocol.differences())
        except CannotStep as error:
            raise CannotPlay(f"the driver {program.command!r} does not begin a history: {error}") from error

    def start(self, actor: str, operation: str, args: Mapping[str, Any]) -> DriverOperation:
        given = {name: plain(value) for name, value in args.items() if name != "batch"}
        if "batch" in args:
            given["rows"] = list(rows_of(args["batch"]))
        self._driver.ask("start", actor=actor, operation=operation, args=given)
        return DriverOperation(self._driver, actor)

    def fault(self, actor: str, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """Take a step that belongs to no operation, such as the expiry of a lock."""
        self._driver.optional("fault", actor=actor, action=action, args=plain(dict(args)))
        return {}

    def timeline(self) -> tuple[Any, ...]:
        answer = self._driver.optional("timeline")
        return tuple((i["action"], i["state"], i["requested"], i.get("completed")) for i in answer)

    def slices(self) -> tuple[Any, ...]:
        return _slices(self._driver.optional("slices"))

    def slices_as_of(self, time: int) -> tuple[Any, ...]:
        return _slices(self._driver.optional("slices_as_of", time=time))

    def rows(self, query: Query) -> tuple[Any, ...]:
        answer = self._driver.optional("rows", kind=query.kind, after=query.after, until=query.until)
        return answer if isinstance(answer, tuple) else _rows(answer)


class DriverOperation:
    """One operation of an actor; the driver knows it by the actor's name."""

    def __init__(self, program: Driver, actor: str) -> None:
        self._driver = program
        self._actor = actor

    def step(self, action: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        chosen = self._driver.ask("step", actor=self._actor, action=action, args=plain(dict(args))) or {}
        return {**chosen, "rows": _rows(chosen["rows"])} if "rows" in chosen else chosen

    def crash(self) -> None:
        self._driver.optional("crash", actor=self._actor)


def _slices(answer: Any) -> tuple[Any, ...]:
    return tuple((s["group"], s["barrier"], s["base"], tuple(tuple(log) for log in s["logs"])) for s in answer)


def _rows(answer: Any) -> tuple[Any, ...]:
    """The rows of a read, or the changes of a change log, as `canonical_rows` returns them."""
    return tuple(
        (row["key"], row["op"], _version(row["before"]), _version(row["after"]))
        if "op" in row
        else (row["key"], row["ordering"], row["value"], row["requested"])
        for row in answer
    )


def _version(row: Mapping[str, Any] | None) -> tuple[Any, ...] | None:
    return None if row is None else (row["ordering"], row["value"])


class DriverFactory:
    """Begins a history on the driver of a command."""

    def __init__(self, command: str) -> None:
        self.command = command

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of actors that random worlds may have."""
        return driver(self.command).kinds

    def __call__(self, world: World, protocol: Protocol, batches: Mapping[tuple[str, int], Batch]) -> DriverSystem:
        return DriverSystem(driver(self.command), world, protocol)
