"""A protocol is a choice of one value for each option of the model. With the default values, a model satisfies every
promise.

Each non-default value reproduces a rule of an RFC, of an older table layout, or of another reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from . import mechanisms
from .machine.options import Options, assemble, declarations, values_of
from .validation import nearest, refuse_unknown

Part = TypeVar("Part", bound=Options)


@dataclass(frozen=True, slots=True, init=False)
class Protocol:
    """The options of one protocol, grouped in typed classes: for example, `protocol[Slicing].slicing` is the value of
    the option `slicing`. `Protocol(slicing="requested")` has the value `requested` for the option `slicing`, and
    defaults for all other options.

    Raises:
        ValueError: an option name or a value is unknown. For an unknown name or value, the error message suggests the
            most similar valid one.
    """

    options: Mapping[type[Options], Options]
    _hash: int = field(init=False, repr=False)

    def __init__(self, *, options: Mapping[type[Options], Options] | None = None, **given: Any) -> None:
        known = choices()
        refuse_unknown(given, known, "protocol")
        for name, value in given.items():
            if value not in known[name]:
                raise ValueError(f"protocol: {name} = {value!r}; {nearest(str(value), known[name])}")
        flat = {**(_flat(options) if options else {}), **given}
        object.__setattr__(self, "options", assemble(mechanisms.options(), flat))
        object.__setattr__(self, "_hash", hash(tuple(self.options.values())))
        for mechanism in mechanisms.every().values():
            mechanism.agree(self)

    def __getitem__(self, part: type[Part]) -> Part:
        found = self.options[part]
        assert isinstance(found, part), "each part is stored under its own type"
        return found

    def __hash__(self) -> int:
        return self._hash

    def replace(self, **changes: str) -> Protocol:
        """Return a copy of the protocol with some options changed."""
        return Protocol(options=self.options, **changes)

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Protocol:
        """Make a protocol from a mapping of option names to values."""
        return cls(**given)

    def to_mapping(self) -> dict[str, str]:
        """Return a mapping from every option name to its value, including default values."""
        return _flat(self.options)

    def differences(self) -> dict[str, str]:
        """Return the options whose values differ from their defaults."""
        known = choices()
        return {name: value for name, value in self.to_mapping().items() if value != known[name][0]}


def _flat(options: Mapping[type[Options], Options]) -> dict[str, str]:
    return {name: getattr(part, name) for part in options.values() for name in values_of(type(part))}


def choices() -> dict[str, tuple[str, ...]]:
    """Return a mapping from each option name to its possible values, the default value first."""
    own = {name: values for part in mechanisms.options() for name, values in values_of(part).items()}
    for option, value, _ in mechanisms.values():
        own[option] = (*own[option], value)
    return own


def documented() -> dict[str, str]:
    """Return a mapping from each option name to the meaning of the option."""
    every = (each for part in mechanisms.options() for each in declarations(part).items())
    own = {name: str(declaration["about"]) for name, declaration in every}
    for option, value, about in mechanisms.values():
        own[option] = f"{own[option]}; {value}: {about}"
    return own
