"""The mechanisms of the model: one module each in this package, found by looking, never by a list.

A mechanism is a module with
    ACTIONS             its actions: tuple of Action(name, about, says)
    transitions(setting)  the transitions that it adds
and, as it needs them,
    KIND, PREFIX        the actor kind it brings, as worlds spell it, and what its actors' names begin with
    CHOOSES             the choices of the protocol that each of these actors makes for itself (default: none): real
                        writers and services disagree in them, and a world may say so
    IN_RANDOM_WORLDS    how many of them `check` draws at most where no world is named (default 0: none);
                        a world that does not name the kind has none
    SERVICE             True: its actions are a table service's, which no retained read may notice (QUIET)
    components(setting) the components it adds: name -> first value
    pending(...)        the instants that it keeps off the published timeline; its parameters name what it reads
An actor's component is named like the actor and is a NamedTuple with `step`, `busy` (in the midst of an operation) and
`dead` (it crashed): so crashes can meet it.
`__path__` may be extended: a module in another folder is a mechanism like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..machine.transition import Action, Transition

if TYPE_CHECKING:
    from ..kernel.table import Instant
    from ..protocol import Protocol
    from ..world import World


@dataclass(frozen=True, slots=True)
class Setting:
    """What a mechanism is built for. `actors` maps kind -> actor names; `first` the components gathered so far.

    `own` remembers by what protocol each actor goes: promises ask for it in every state.
    """

    world: World
    protocol: Protocol
    actors: Mapping[str, tuple[str, ...]]
    first: Mapping[str, Any]
    own: dict[str, Protocol] = field(default_factory=dict, repr=False, compare=False)

    def of(self, kind: str) -> tuple[str, ...]:
        """The actors of a kind, none if the world has none."""
        return self.actors.get(kind, ())

    def protocol_of(self, actor: str) -> Protocol:
        """The protocol by which one actor goes: the world may say that it, or its kind, chooses otherwise."""
        if actor not in self.own:
            self.own[actor] = self.world.protocol_of(actor, self.protocol)
        return self.own[actor]

    def if_any(self, component: str) -> tuple[str, ...]:
        """The component, to be read by a row, where the world has it."""
        return (component,) if component in self.first else ()

    @property
    def fenced(self) -> bool:
        """Whether the store can tell a put under an old lock from others; where no lock is lost there is none."""
        return self.protocol.fencing == "storage" and self.world.lock_losses > 0


class Mechanism(NamedTuple):
    """One module of this package, read through the defaults above."""

    name: str
    about: str
    actions: tuple[Action, ...]
    kind: str
    prefix: str
    chooses: tuple[str, ...]
    in_random_worlds: int
    service: bool
    components: Callable[[Setting], Mapping[str, Any]]
    transitions: Callable[[Setting], Iterator[Transition]]
    pending: Callable[..., Iterable[Instant]]


def mechanisms() -> tuple[Mechanism, ...]:
    """Every mechanism there is now, by module name."""
    names = sorted(info.name for info in iter_modules(__path__))
    return tuple(_mechanism(import_module(f"{__name__}.{name}")) for name in names)


def _mechanism(module: ModuleType) -> Mechanism:
    kind = getattr(module, "KIND", "")
    return Mechanism(
        name=module.__name__.rpartition(".")[2],
        about=(module.__doc__ or "").partition("\n")[0],
        actions=module.ACTIONS,
        kind=kind,
        prefix=getattr(module, "PREFIX", kind),
        chooses=getattr(module, "CHOOSES", ()),
        in_random_worlds=getattr(module, "IN_RANDOM_WORLDS", 0),
        service=getattr(module, "SERVICE", False),
        components=getattr(module, "components", lambda setting: {}),
        transitions=module.transitions,
        pending=getattr(module, "pending", no_instants),
    )


def no_instants() -> Iterable[Instant]:
    """The pending instants of a mechanism that has none."""
    return ()


def kinds() -> dict[str, Mechanism]:
    """Actor kind -> the mechanism that brings it; ValueError for two that call their actors alike."""
    found = {mechanism.kind: mechanism for mechanism in mechanisms() if mechanism.kind}
    named: dict[str, str] = {}
    for kind, mechanism in found.items():
        if (other := named.setdefault(mechanism.prefix, kind)) != kind:
            raise ValueError(f"{other} and {kind} both call their first actor {mechanism.prefix}1")
    return found


def kind_of(actor: str) -> str:
    """The kind of an actor by its name, or the name of a kind itself; empty if it is neither."""
    known = kinds()
    if actor in known:
        return actor
    prefix = actor.rstrip("0123456789")
    return next((kind for kind, mechanism in known.items() if mechanism.prefix == prefix), "")


def __getattr__(name: str) -> Any:
    """MECHANISMS: name -> Mechanism; ACTIONS: action name -> (actor kind, what it does). Looked up afresh each time."""
    if name == "MECHANISMS":
        return {mechanism.name: mechanism for mechanism in mechanisms()}
    if name == "ACTIONS":
        return {a.name: (m.kind or "any", a.about) for m in mechanisms() for a in m.actions}
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
