"""The footprint of a world: which options and which rules of reading its search reads under one protocol.

A second protocol that gives the same value to every option that is read, and changes no rule that is called, takes the
same decisions in every state of the world. By induction over the steps it has the same runs and the same verdicts, so
that `nbcc judge` and `nbcc verdicts` do not search the world again. `nbcc verdicts` records the footprints of its own
searches; `nbcc judge` uses those of the default protocol that `python -m tools.regenerate footprints` has recorded.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from nbcc.model import Protocol, World, extensions, mechanisms
from nbcc.model.assembly import compose, rules_of
from nbcc.model.machine.mechanism import Mechanism
from nbcc.model.machine.options import names_of
from nbcc.model.promises import PROMISES
from nbcc.model.rules import Rules

from .explore import PromiseResult, Result, Verdict

Reads = tuple[tuple[str, ...], tuple[str, ...]]
"""The options and the rules that a search has read."""


@dataclass(frozen=True, slots=True)
class WorldFootprint:
    """What a search of a world reads, and its result under the default protocol: the states, and what holds."""

    world: str
    states: int
    options: tuple[str, ...]
    rules: tuple[str, ...]
    holds: tuple[str, ...]

    @property
    def result(self) -> Result:
        """The result of the recorded search. It has the promises that hold; the others do not apply to the world."""
        found = {name: PromiseResult(name=name, verdict=Verdict.HOLDS) for name in self.holds}
        return Result(distinct=self.states, generated=0, depth=0, seconds=0.0, promises=found)


def path() -> Path:
    return Path(str(files("nbcc") / "specs" / "footprints.json"))


@cache
def recorded() -> Mapping[str, WorldFootprint]:
    given = json.loads(path().read_text("utf-8"))
    return {key: _loaded(each, given["rules"]) for key, each in given["worlds"].items()}


def _loaded(each: Mapping[str, Any], rules: Sequence[str]) -> WorldFootprint:
    called = tuple(name for name in rules if name not in each["uncalled"])
    return WorldFootprint(each["world"], each["states"], tuple(each["options"]), called, tuple(each["holds"]))


@cache
def known_options() -> tuple[str, ...]:
    """Return the options that existed when the footprints were recorded. Nothing is known of others."""
    return tuple(json.loads(path().read_text("utf-8"))["known"])


def _options_of_extensions() -> Iterator[str]:
    """Yield the options that extensions declare. Only the extension reads them, and `_adds` says what it does then."""
    for _, each in extensions.declared("MECHANISM", Mechanism):
        yield from names_of(each.options) if each.options else ()


def key_of(world: World) -> str:
    """Return a short hash of a world, without its name and its description."""
    fields = {name: value for name, value in world.to_mapping().items() if name not in ("name", "about")}
    return sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:12]


def untouched(world: World, protocol: Protocol, promises: Sequence[str]) -> Result | None:
    """Return the recorded result of a world if the protocol cannot have another one; None otherwise, or if a promise
    was not recorded.
    """
    known = recorded().get(key_of(world))
    if known is None or any(name not in own_promises() for name in promises):
        return None
    if protocol.differences().keys() - {*known_options()} - {*_options_of_extensions()}:
        return None
    if is_touched((known.options, known.rules), protocol):
        return None
    added = (name for name, _ in extensions.declared("MECHANISM", Mechanism))
    return None if any(_adds(name, world, protocol) for name in added) else known.result


def is_touched(reads: Reads, protocol: Protocol) -> bool:
    """Return whether a protocol changes an option or a rule that a search under the default protocol has read."""
    return Choices(protocol).among(reads) != Choices(Protocol()).among(reads)


class Choices:
    """The choices of one protocol: the values of its options and the classes of its rules."""

    def __init__(self, protocol: Protocol) -> None:
        self._options = protocol.to_mapping()
        parts = {part for _, each, _ in mechanisms.in_order() for part in each.rules(protocol)}
        self._rules = {part: frozenset(_rules_of_class(part)) for part in parts}

    def among(self, reads: Reads) -> Hashable:
        """Return the choices among those options and rules. Two protocols between which they are equal have the same
        result, if a search under one of them has read nothing else.
        """
        options, rules = reads
        parts = frozenset(part for part, names in self._rules.items() if not names.isdisjoint(rules))
        return tuple(self._options.get(name) for name in options), parts


def _rules_of_class(part: type) -> Iterator[str]:
    for each in part.__mro__[: part.__mro__.index(Rules)]:
        yield from (name for name in vars(each) if not name.startswith("__"))


def own_promises() -> frozenset[str]:
    """Return the promises that no extension has added: those that were judged when the footprints were recorded."""
    added = {promise.name for _, some in extensions.declared("PROMISES", tuple) for promise in some}
    return frozenset(PROMISES.keys() - added)


def _adds(extension: str, world: World, protocol: Protocol) -> bool:
    """Return whether the mechanism of an extension changes the model of a world, its rules excepted."""
    others = [name for name in mechanisms.every() if name != extension]
    found = compose(world, protocol, only=others)
    before = _parts(found)
    found.begin(extension, others)
    mechanisms.every()[extension].compose(found)
    return _parts(found) != before


def _parts(composition: Any) -> list[Any]:
    parts = (composition.transitions, composition.components, composition.fields, composition.views)
    return [dict(part) for part in parts]


class ReadRecorder:
    """Records the options and rules that a search of a world reads. `protocol` is the copy that records them."""

    def __init__(self, protocol: Protocol, world: World) -> None:
        self.options: set[str] = set()
        self.rules: set[str] = set()
        self.protocol = protocol.replace()
        parts = {part: _recording(value, names_of(part), self.options) for part, value in self.protocol.options.items()}
        object.__setattr__(self.protocol, "options", parts)
        object.__setattr__(self.protocol, "_hash", id(self))
        rules = rules_of(self.protocol, world)
        names = tuple(name for each in type(rules).__mro__[:-1] for name in vars(each) if not name.startswith("__"))
        rules.__class__ = _class_recording(type(rules), names, self.rules)
        self.options.clear()  # the choice of the rules' classes: `Choices` compares their methods instead

    @property
    def reads(self) -> Reads:
        """The options and the rules that were read."""
        return tuple(sorted(self.options)), tuple(sorted(self.rules))


def _class_recording(kind: type[Any], names: Sequence[str], seen: set[str]) -> type[Any]:
    known = frozenset(names)

    def read(self: Any, name: str) -> Any:
        if name in known:
            seen.add(name)
        return object.__getattribute__(self, name)

    return type(kind.__name__, (kind,), {"__getattribute__": read})


def _recording(value: Any, names: Sequence[str], seen: set[str]) -> Any:
    found = object.__new__(_class_recording(type(value), names, seen))
    for name in names:
        object.__setattr__(found, name, getattr(value, name))
    return found
