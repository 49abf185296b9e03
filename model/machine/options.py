"""Defines the options of a protocol and the limits of a world as typed values. Each mechanism declares its own options
and limits. A protocol collects the options of all mechanisms, and a world collects the limits.

An option is a choice between named values. A limit bounds a search, for example the number of crashes. Each declaration
states the default, the meaning, and the kinds of actors that may override the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, TypeVar, dataclass_transform, get_args, get_type_hints


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Declarations:
    """The base class of options and limits. Each subclass becomes a frozen dataclass with keyword-only fields."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


class Options(Declarations):
    """The base class for the options of one mechanism. Each field is declared with `option`."""


class Limits(Declarations):
    """The base class for the limits of one mechanism. Subclasses declare each field with `limit`."""


Part = TypeVar("Part", Options, Limits)
Own = TypeVar("Own", bound=Options)


class ProtocolOptions(Protocol):
    """The interface of a protocol, as used by the package `machine`. For example, `protocol[Slicing]` returns the
    options of the class `Slicing`.
    """

    def __getitem__(self, part: type[Own], /) -> Own: ...

    def to_mapping(self) -> dict[str, str]: ...


def option(default: str, about: str, *, by: tuple[str, ...] = ()) -> Any:
    """Declare an option: its default value, its meaning, and the kinds of actors that may override the value."""
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
    """Declare a limit: its default, its meaning, and its section in a world file.

    `by` names the kinds of actors that may override the limit. `in_random_worlds` lists the values from which a random
    world draws the limit (default: only `default`). If `needs` names a kind of actor, `in_random_worlds` applies only
    to random worlds with an actor of that kind.
    """
    random_worlds = {"in_random_worlds": in_random_worlds, "needs": needs}
    return field(default=default, metadata={"about": about, "section": section, "by": by, **random_worlds})


_VALUES: dict[type[Options], dict[str, tuple[str, ...]]] = {}


def values_of(options: type[Options]) -> dict[str, tuple[str, ...]]:
    """Return the possible values of each option by name, the default value first."""
    if options not in _VALUES:
        hints = get_type_hints(options)
        defaults = {each.name: str(each.default) for each in fields(options)}
        _VALUES[options] = {
            name: (value, *(v for v in get_args(hints[name]) if v != value)) for name, value in defaults.items()
        }
    return _VALUES[options]


def names_of(part: type[Options] | type[Limits]) -> tuple[str, ...]:
    """Return the names of the options or limits that a class declares, in the order of declaration."""
    return tuple(each.name for each in fields(part))


def declarations(part: type[Options] | type[Limits]) -> dict[str, Mapping[str, Any]]:
    """Return the metadata of each option or limit by name, such as its description (`about`)."""
    return {each.name: each.metadata for each in fields(part)}


def overrides(part: Options | Limits) -> dict[str, Any]:
    """Return the options or limits of `part` that differ from their defaults, by name."""
    return {each.name: value for each in fields(part) if (value := getattr(part, each.name)) != each.default}


def assemble(parts: Iterable[type[Part]], given: Mapping[str, Any]) -> dict[type[Part], Part]:
    """Return one instance of each options or limits class, built from those entries of `given` that are fields of the
    class.
    """
    return {part: part(**{name: given[name] for name in names_of(part) if name in given}) for part in parts}
