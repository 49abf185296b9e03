"""A world is the configuration that a search explores: the table, the actors and the limits. Other model checkers call
a world a model configuration or scope.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Literal, TypeVar, get_args

from . import mechanisms
from .machine.mechanism import Kind
from .machine.options import Limits, Options, assemble, declarations, names_of
from .protocol import Protocol
from .validation import nearest, refuse_unknown, whole_number, write_shape

Part = TypeVar("Part", bound=Limits)

Granularity = Literal["storage", "call"]
MergeMode = Literal["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING", "CUSTOM"]
"""CUSTOM: a user's function makes one row of two."""

MOST_ACTORS = 12
"""The most actors of a world. The orders of more actors, which a search must rename, are too many to try."""
MOST_GROUPS = 16
"""The most file groups of a world."""
MOST = 10_000
"""The greatest value of every other number of a world. No search ends long before that."""


def crew(*kinds: Kind) -> dict[str, int]:
    """Return the actors of a world: one for each kind that is given, so two of a kind that is given twice."""
    return dict(Counter(kind.name for kind in kinds))


@dataclass(frozen=True, slots=True, init=False)
class World:
    """The configuration of one search: the table, the actors and the limits. File groups are numbered partition by
    partition: group = partition * buckets + bucket.

    `actors` maps each kind of actor, such as `writer`, to the number of its actors. A kind missing from `actors` has no
    actors.
    `writes` maps each pair (writer, write number) to a tuple with the number of log files that the write puts in each
    file group. Write numbers start at 1. A write missing from `writes` puts `log_versions` log files in every file
    group.
    `reads` maps (writer, write number) to the file groups that the write reads; by default, the groups that it writes.
    The option `conflict_reads` decides whether an optimistic writer checks the groups it reads for conflicts.
    `settings` maps an actor, or a kind of actor, to the protocol options that it overrides.
    `limits` contains the limits declared by mechanisms. For example, `world[Crashes].crashes` is the greatest number of
    crashes.
    `keys` and `orderings` are the numbers of distinct keys and ordering values in a random history; the search ignores
    them.
    `granularity` sets how much happens in one step of the model. At granularity `storage`, a step is one access to
    storage that other actors can observe. At granularity `call`, no other actor acts during a client's call, for
    example while a writer puts all its data files. Every run with granularity `call` is also possible with granularity
    `storage`.
    """

    actors: Mapping[str, int] = field(default_factory=lambda: {"writer": 2, "compactor": 1}, hash=False)
    merge_mode: MergeMode = "EVENT_TIME_ORDERING"
    buckets: int = 1
    partitions: int = 1
    writes_per_writer: int = 1
    compactions: int = 1
    log_versions: int = 1
    keys: int = 2
    orderings: int = 2
    writes: Mapping[tuple[str, int], tuple[int, ...]] = field(default_factory=dict, hash=False)
    reads: Mapping[tuple[str, int], tuple[int, ...]] = field(default_factory=dict, hash=False)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    granularity: Granularity = "storage"
    name: str = field(default="", compare=False)
    about: str = field(default="", compare=False)
    limits: Mapping[type[Limits], Limits] = field(default_factory=dict, hash=False)

    def __init__(self, **given: Any) -> None:
        """Raise ValueError for values that no world can have. A world that is searched is also bounded in size. With
        ``bounded=False`` it is not: the replay of one given run does not grow with the number of possible orders.
        """
        bounded = bool(given.pop("bounded", True))
        own = {each.name: each for each in fields(World) if each.name != "limits"}
        refuse_unknown(given, (*own, *limit_names(), "limits"), "world")
        for name, each in own.items():
            made = each.default if each.default_factory is MISSING else each.default_factory()
            object.__setattr__(self, name, given.get(name, made))
        flat = {n: getattr(part, n) for part in given.get("limits", {}).values() for n in names_of(type(part))}
        object.__setattr__(self, "limits", assemble(mechanisms.limits(), {**flat, **given}))
        self._check_actors(bounded)
        self._check_table()
        self._check_numbers(bounded)
        self._check_writes()
        kinds = tuple(kind for kind, count in self.actors.items() if count)
        for mechanism in mechanisms.every().values():
            for rule in mechanism.together:
                rule.check(kinds)
            mechanism.check(self)

    def __getitem__(self, part: type[Part]) -> Part:
        found = self.limits[part]
        assert isinstance(found, part), "each part is stored under its own type"
        return found

    def _check_actors(self, bounded: bool) -> None:
        kinds, most = mechanisms.kinds(), MOST_ACTORS if bounded else sys.maxsize
        for kind, count in self.actors.items():
            if kind not in kinds:
                raise ValueError(f"world: unknown actor {kind!r}; {nearest(kind, kinds)}")
            whole_number(count, f"world: actors.{kind}", most=most)
        if (total := sum(self.actors.values())) > most:
            raise ValueError(f"world: it has {total} actors, at most {most} are possible")
        for actor, choices in self.settings.items():
            if not (kind := mechanisms.kind_of(actor)):
                raise ValueError(f"world [actor.{actor}]: there is no such actor; {nearest(actor, kinds)}")
            limits = limits_by(kind)
            refuse_unknown(choices, (*chosen_by(kind), *limits), f"world [actor.{actor}], a {kind}")
            for name in limits:
                whole_number(choices.get(name, 1), f"world [actor.{actor}]: {name}", least=1, most=MOST)
            Protocol.from_mapping(_of_protocol(choices))

    def _check_table(self) -> None:
        for name, known in (("merge_mode", get_args(MergeMode)), ("granularity", get_args(Granularity))):
            if (value := getattr(self, name)) not in known:
                raise ValueError(f"world: unknown {name} {value!r}; {nearest(str(value), known)}")

    def _check_numbers(self, bounded: bool) -> None:
        for name in ("buckets", "partitions", "log_versions", "keys", "orderings"):
            whole_number(getattr(self, name), f"world: {name}", least=1, most=MOST)
        if self.groups > MOST_GROUPS:
            raise ValueError(f"world: it has {self.groups} file groups, at most {MOST_GROUPS} are possible")
        flat = self.flat()
        for name in (*OWN_LIMITS, *(n for n in limit_names() if n != "table_type")):
            whole_number(flat[name], f"world: {name}", most=MOST if bounded else sys.maxsize)

    def _check_writes(self) -> None:
        for (writer, number), versions in self.writes.items():
            if len(versions) != self.groups or not any(versions) or min(versions) < 0:
                raise ValueError(
                    f"world: write {number} of {writer} needs a count of log versions for each of {self.groups} file "
                    f"groups, at least one of them above 0, found {versions!r}"
                )

    def flat(self) -> dict[str, Any]:
        """Return a dict of all values of the world by name: first its own fields, then the limits declared by
        mechanisms.
        """
        own = {each.name: getattr(self, each.name) for each in fields(World) if each.name != "limits"}
        return {**own, **{name: getattr(part, name) for part in self.limits.values() for name in names_of(type(part))}}

    def replace(self, **changes: Any) -> World:
        """Return a copy of the world with some values changed."""
        return World(**{**self.flat(), **changes})

    @property
    def custom(self) -> bool:
        """True if rows are merged by a user-defined merge function."""
        return self.merge_mode == "CUSTOM"

    @property
    def groups(self) -> int:
        """The number of file groups."""
        return self.partitions * self.buckets

    def files(self, writer: str, number: int) -> tuple[tuple[int, int], ...]:
        """Return the log files of one write as pairs (file group, version), in the order in which they are put. Log
        versions start at 1.
        """
        versions = self.writes.get((writer, number), (self.log_versions,) * self.groups)
        return tuple((group, version) for group, most in enumerate(versions) for version in range(1, most + 1))

    def groups_of(self, writer: str, number: int) -> tuple[int, ...]:
        """Return the file groups to which the given write adds log files."""
        return tuple(dict.fromkeys(group for group, _ in self.files(writer, number)))

    def alike(self, one: str, other: str) -> bool:
        """True if two actors have the same options, writes and reads, as exchangeable actors must have."""
        numbers = range(1, max(1, self.writes_per_writer) + 1)
        limits = [part.of_write for part in mechanisms.every().values() if part.of_write]

        def description(me: str) -> list[Any]:
            writes = [(self.files(me, n), self.reads.get((me, n)), [of(self, me, n) for of in limits]) for n in numbers]
            return [self._chosen(me), writes]

        return description(one) == description(other)

    def protocol_of(self, actor: str, protocol: Protocol) -> Protocol:
        """Return the protocol that one actor follows: `protocol`, with the options that the world overrides for the
        actor or its kind.
        """
        if not self.settings:
            return protocol
        chosen = _of_protocol(self._chosen(actor))
        return Protocol.from_mapping({**protocol.to_mapping(), **chosen}) if chosen else protocol

    def limits_of(self, actor: str, part: type[Part]) -> Part:
        """Return the limits of one actor. A value set for the actor overrides a value set for its kind, which overrides
        the world's value.
        """
        stated = self._chosen(actor)
        return replace(self[part], **{name: stated[name] for name in names_of(part) if name in stated})

    def _chosen(self, actor: str) -> dict[str, Any]:
        return {**self.settings.get(mechanisms.kind_of(actor), {}), **self.settings.get(actor, {})}

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> World:
        """Make a world from the sections of its TOML file. Raises ValueError for an unknown field; the message suggests
        the most similar known field.
        """
        own = ("format", "name", "about", "granularity", "actors", "actor", "writes")
        refuse_unknown(given, (*own, *sections()), "world")
        if given.get("format", 1) != 1:
            raise ValueError(f"world: format {given['format']!r} is not known; this version reads format 1")
        flat: dict[str, Any] = {}
        for section, names in sections().items():
            values = given.get(section, {})
            refuse_unknown(values, names, f"world [{section}]")
            flat.update(values)
        flat["table_type"] = flat.pop("type", "MERGE_ON_READ")
        if "actors" in given:
            flat["actors"] = dict(given["actors"])
        return cls(
            **flat,
            granularity=given.get("granularity", "storage"),
            name=given.get("name", ""),
            about=given.get("about", ""),
            writes=dict(write_shape(row) for row in given.get("writes", ())),
            reads={(r["writer"], r["number"]): tuple(r["reads"]) for r in given.get("writes", ()) if "reads" in r},
            settings={actor: dict(choices) for actor, choices in given.get("actor", {}).items()},
        )

    def to_mapping(self) -> dict[str, Any]:
        """Return the sections of the world's TOML file; the inverse of `from_mapping`.

        Limits whose value and default are both 0 are omitted, so that a new mechanism does not change existing world
        files and traces.
        """
        known, usually, flat = sections(), defaults(), self.flat()
        values = {name: flat[name] for names in known.values() for name in names if name != "type"}
        values = {name: value for name, value in values.items() if value != 0 or usually[name] != 0}
        found = {section: {n: values[n] for n in names if n in values} for section, names in known.items()}
        found["table"] = {"type": flat["table_type"], **found["table"]}
        usual = (self.log_versions,) * self.groups
        shapes = [
            {
                "writer": w,
                "number": n,
                "versions": list(self.writes.get((w, n), usual)),
                **({"reads": list(r)} if (r := self.reads.get((w, n))) else {}),
            }
            for w, n in sorted({*self.writes, *self.reads})
        ]
        return {
            "format": 1,
            **({"name": self.name} if self.name else {}),
            **({"about": self.about} if self.about else {}),
            **({"granularity": self.granularity} if self.granularity != "storage" else {}),
            **found,
            "actors": dict(self.actors),
            **(
                {"actor": {actor: dict(choices) for actor, choices in sorted(self.settings.items())}}
                if self.settings
                else {}
            ),
            **({"writes": shapes} if shapes else {}),
        }


def _of_protocol(choices: Mapping[str, Any]) -> dict[str, Any]:
    limits = limit_names()
    return {name: value for name, value in choices.items() if name not in limits}


OWN_SECTIONS: dict[str, tuple[str, ...]] = {
    "table": ("type", "merge_mode", "buckets", "partitions"),
    "limits": ("writes_per_writer", "compactions", "log_versions"),
    "data": ("keys", "orderings"),
}
OWN_LIMITS = ("writes_per_writer", "compactions")
"""Limits of the kernel that may be 0."""


def chosen_by(kind: str) -> tuple[str, ...]:
    """Return the names of the protocol options that an actor of this kind may override."""
    return tuple(sorted(_overridable(mechanisms.options(), kind)))


def limits_by(kind: str) -> tuple[str, ...]:
    """Return the names of the limits that a world may override for this kind of actor, or for one actor of the kind."""
    return tuple(_overridable(mechanisms.limits(), kind))


def _overridable(parts: Iterable[type[Options] | type[Limits]], kind: str) -> Iterator[str]:
    roles = mechanisms.roles_of(kind)
    for part in parts:
        yield from (name for name, declaration in declarations(part).items() if roles & {*declaration["by"]})


def limit_names() -> tuple[str, ...]:
    return tuple(name for part in mechanisms.limits() for name in names_of(part))


def sections() -> dict[str, tuple[str, ...]]:
    """Return the field names of each section of a world file: first the world's own fields, then the limits declared by
    mechanisms.
    """
    found = {section: list(names) for section, names in OWN_SECTIONS.items()}
    for part in mechanisms.limits():
        for name, declaration in declarations(part).items():
            if name != "table_type":
                found[declaration["section"]].append(name)
    return {section: tuple(names) for section, names in found.items()}


def defaults() -> dict[str, Any]:
    """Return the default of each field and limit of a world, by name."""
    own = {each.name: each.default for each in fields(World)}
    return {**own, **{each.name: each.default for part in mechanisms.limits() for each in fields(part)}}
