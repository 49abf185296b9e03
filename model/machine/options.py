"""Options and limits as typed values: each part of a model declares its own, and a protocol or a world collects them.

An option is a choice between named values. A limit is a number that bounds a world. Both are fields of a frozen
dataclass, and state their default, what they decide, and which kinds of actors may each have another value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, TypeVar, get_args, get_type_hints


@dataclass(frozen=True, slots=True)
class Options:
    """Base of the options of one part of a protocol. A subclass is a frozen dataclass of `choice` fields."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Base of the limits of one part of a world. A subclass is a frozen dataclass of `limit` fields."""


Part = TypeVar("Part", Options, Limits)
Own = TypeVar("Own", bound=Options)


class ProtocolOptions(Protocol):
    """A protocol: `chosen[Slicing]` are the options of one part."""

    def __getitem__(self, part: type[Own], /) -> Own: ...

    def to_mapping(self) -> dict[str, str]: ...


def option(default: str, about: str, *, by: tuple[str, ...] = ()) -> Any:
    """An option: its default value, what it decides, and the kinds of actors that may each choose another value."""
    return field(default=default, metadata={"about": about, "by": by})


def limit(
    default: Any,
    about: str,
    *,
    section: str = "limits",
    by: tuple[str, ...] = (),
    in_random_worlds: tuple[int, ...] = (),
    needs: str = "",
) -> Any:
    """A limit: its default, what it bounds, and its section in the file of a world.

    `by`: the kinds of actors for which a world may state another number. `in_random_worlds`: a random world has one of
    these numbers, each with the same chance (default: always `default`); `needs`: if it has an actor of this kind.
    """
    drawn = {"in_random_worlds": in_random_worlds, "needs": needs}
    return field(default=default, metadata={"about": about, "section": section, "by": by, **drawn})


def values_of(options: type[Options]) -> dict[str, tuple[str, ...]]:
    """Option name -> the values that it may take, the default first."""
    if (known := _VALUES.get(options)) is None:
        hints = get_type_hints(options)
        first = {each.name: str(each.default) for each in fields(options)}
        known = {name: (value, *(v for v in get_args(hints[name]) if v != value)) for name, value in first.items()}
        _VALUES[options] = known
    return known


_VALUES: dict[type[Options], dict[str, tuple[str, ...]]] = {}


def names_of(part: type[Options] | type[Limits]) -> tuple[str, ...]:
    """The names of the options or limits of a part, in the order of its source."""
    return tuple(each.name for each in fields(part))


def declarations(part: type[Options] | type[Limits]) -> dict[str, Mapping[str, Any]]:
    """Name -> what the declaration of an option or limit says: `about`, `by`, and `section` of a limit."""
    return {each.name: each.metadata for each in fields(part)}


def assemble(parts: Iterable[type[Part]], given: Mapping[str, Any]) -> dict[type[Part], Part]:
    """One instance of each part, made of those of the given values that the part declares."""
    return {part: part(**{name: given[name] for name in names_of(part) if name in given}) for part in parts}
