"""Options and limits as typed values. Each module declares its own; a protocol or a world collects all of them.

An option is a choice between named values of a protocol. A limit is a number that bounds a world. Each declaration
states the default, the meaning, and the kinds of actors that may each have another value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, TypeVar, dataclass_transform, get_args, get_type_hints


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Declarations:
    """Base of options and limits. Every subclass becomes a frozen dataclass with keyword-only fields."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


class Options(Declarations):
    """Base of the options of one module; each field is an `option`."""


class Limits(Declarations):
    """Base of the limits of one module; each field is a `limit`."""


Part = TypeVar("Part", Options, Limits)
Own = TypeVar("Own", bound=Options)


class ProtocolOptions(Protocol):
    """A protocol as the machine uses it: `protocol[Slicing]` are the options of one module."""

    def __getitem__(self, part: type[Own], /) -> Own: ...

    def to_mapping(self) -> dict[str, str]: ...


def option(default: str, about: str, *, by: tuple[str, ...] = ()) -> Any:
    """Declare an option: its default value, its meaning, and the kinds of actors that may each choose another value."""
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
    """Declare a limit: its default, its meaning, and its section in the file of a world.

    `by`: the kinds of actors for which a world may state another number. `in_random_worlds`: the numbers that a random
    world may have, each equally likely (default: only `default`). `needs`: the limit applies only if the world has an
    actor of this kind.
    """
    random_worlds = {"in_random_worlds": in_random_worlds, "needs": needs}
    return field(default=default, metadata={"about": about, "section": section, "by": by, **random_worlds})


_VALUES: dict[type[Options], dict[str, tuple[str, ...]]] = {}


def values_of(options: type[Options]) -> dict[str, tuple[str, ...]]:
    """Option name -> the values that it may take, the default first."""
    if options not in _VALUES:
        hints = get_type_hints(options)
        defaults = {each.name: str(each.default) for each in fields(options)}
        _VALUES[options] = {
            name: (value, *(v for v in get_args(hints[name]) if v != value)) for name, value in defaults.items()
        }
    return _VALUES[options]


def names_of(part: type[Options] | type[Limits]) -> tuple[str, ...]:
    """The names of the options or limits of a module, in the order of its source."""
    return tuple(each.name for each in fields(part))


def declarations(part: type[Options] | type[Limits]) -> dict[str, Mapping[str, Any]]:
    """Name -> the declaration of an option or limit: `about`, `by`, and for a limit its `section`."""
    return {each.name: each.metadata for each in fields(part)}


def assemble(parts: Iterable[type[Part]], given: Mapping[str, Any]) -> dict[type[Part], Part]:
    """One instance of each part, with those values that the part declares."""
    return {part: part(**{name: given[name] for name in names_of(part) if name in given}) for part in parts}
