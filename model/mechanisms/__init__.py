"""The mechanisms of the model, such as cleaning and clustering; each is one module or folder.

A module that defines `MECHANISM` is a mechanism, as is a folder whose module `mechanism` defines `MECHANISM`.
Mechanisms are discovered by scanning the folder `mechanisms`, so no list of mechanisms exists. Extensions add
mechanisms from elsewhere (`nbcc.model.extensions`). The modules of `variants` and the actors of the kernel also define
`MECHANISM`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pkgutil import iter_modules

from .. import extensions
from ..kernel.publication import publication_actions
from ..machine.mechanism import AddedValue, Kind, Mechanism
from ..machine.options import Limits, Options, names_of
from ..machine.transition import Action

PACKAGES = ("kernel", "variants", "mechanisms")


def every() -> dict[str, Mechanism]:
    """Return all declared mechanisms by module name, those of extensions last."""
    own = {name: each for package in PACKAGES for name, each in of_package(package).items()}
    return {**own, **dict(extensions.declared("MECHANISM", Mechanism))}


def check() -> None:
    """Raise ValueError if two mechanisms declare the same option, limit, action or kind of actor."""
    seen: dict[str, str] = {}
    for name, each in every().items():
        parts = [part for part in (each.options, each.limits) if part]
        words = [word for part in parts for word in names_of(part)]
        for word in (*words, *(action.name for action in each.actions), *(kind.name for kind in each.kinds)):
            if (other := seen.setdefault(word, name)) != name:
                raise ValueError(f"{other} and {name} both declare {word!r}")
    kinds()
    for name, each in every().items():
        for value in each.values:
            if not any(value.option in names_of(part) for part in options()):
                raise ValueError(f"{name} adds a value to the option {value.option!r}, which does not exist")


def of_package(package: str) -> dict[str, Mechanism]:
    """Return the mechanisms declared in `package` (`kernel`, `variants` or `mechanisms`), by module name."""
    module = import_module(f"{__package__.rpartition('.')[0]}.{package}")
    return _declared(module.__name__, tuple(module.__path__))


@cache
def _declared(package: str, paths: tuple[str, ...]) -> dict[str, Mechanism]:
    found: dict[str, Mechanism] = {}
    for info in sorted(iter_modules(paths), key=lambda each: each.name):
        module = import_module(f"{package}.{info.name}.mechanism" if info.ispkg else f"{package}.{info.name}")
        declared = getattr(module, "MECHANISM", None)
        if isinstance(declared, Mechanism):
            found[info.name] = declared
    return found


LAST = "*"
"""In `Mechanism.after`: after every mechanism that does not say so itself."""


def in_order() -> Iterator[tuple[str, Mechanism, tuple[str, ...]]]:
    """Yield variants (alternative rules) and mechanisms in the order in which they are applied. Each item consists of
    the name, the declaration, and the names of the mechanisms that must precede it.

    Variants are applied before all mechanisms, because a variant selects one interpretation of the kernel's rules. The
    mechanism of an extension follows those of nbcc: an author of an extension need not know what they refine.
    """
    readings = tuple(of_package("variants"))
    kernel = of_package("kernel")
    several = {name: each for name, each in every().items() if name not in kernel}
    added = dict(extensions.declared("MECHANISM", Mechanism))
    early = tuple(name for name, each in several.items() if LAST not in each.after and name not in readings)
    ours = tuple(name for name in several if name not in added and name not in readings)
    after = {}
    for name, each in several.items():
        declared = tuple(other for other in each.after if other in several)
        earlier = early if LAST in each.after else ()
        if name in added:
            earlier = (*earlier, *ours) if earlier else tuple(other for other in ours if other in early)
        after[name] = declared if name in readings else (*readings, *declared, *earlier)
    for name in _sorted(tuple(several), tuple(after.values())):
        yield name, several[name], after[name]


@cache
def _sorted(names: tuple[str, ...], after: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    graph = TopologicalSorter(dict(zip(names, after, strict=True)))
    found: list[str] = []
    try:
        graph.prepare()
    except CycleError as error:
        raise ValueError(f"mechanisms come after each other: {' -> '.join(error.args[1])}") from None
    while graph.is_active():
        ready = sorted(graph.get_ready(), key=names.index)
        found += ready
        graph.done(*ready)
    return tuple(found)


def options() -> tuple[type[Options], ...]:
    """Return the classes whose options make up a protocol."""
    return tuple(each.options for each in every().values() if each.options)


def values() -> tuple[AddedValue, ...]:
    """Return the values that mechanisms add to options of other mechanisms."""
    return tuple(value for each in every().values() for value in each.values)


def limits() -> tuple[type[Limits], ...]:
    """Return the classes in which mechanisms declare their limits."""
    return tuple(each.limits for each in every().values() if each.limits)


def kinds() -> dict[str, Kind]:
    """Return all kinds of actors by name. Raises ValueError if two kinds would give their actors the same name."""
    found = {kind.name: kind for part in every().values() for kind in part.kinds}
    named: dict[str, str] = {}
    for name, kind in sorted(found.items()):
        if (other := named.setdefault(kind.prefix, name)) != name:
            raise ValueError(f"{other} and {name} both call their first actor {kind.actor(1)}")
    return dict(sorted(found.items()))


def kind_of(actor: str) -> str:
    """Return the name of an actor's kind: `writer` for `w1`. The result is '' for an unknown name; the name of a kind
    is returned unchanged.
    """
    known = kinds()
    if actor in known:
        return actor
    prefix = actor.rstrip("0123456789")
    return next((name for name, kind in known.items() if kind.prefix == prefix), "")


PUBLISHER = "publisher"
"""Stands for every kind of actor that publishes instants, where an option states who may override it (`by`)."""


def roles_of(kind: str) -> set[str]:
    """Return the names that stand for a kind of actor where an option or limit states who may override it."""
    publishes = publication_actions(kind)[-1].name in actions()
    return {kind, PUBLISHER} if publishes else {kind}


def idle_steps() -> dict[str, tuple[str, ...]]:
    """Return, for each kind of actor, the steps at which it is idle, between two operations."""
    parts = every().values()
    return {name: (*kind.idle_steps, *(step for part in parts for step in part.idle_steps.get(name, ())))
            for name, kind in kinds().items()}  # fmt: skip


def actions() -> dict[str, Action]:
    return {action.name: action for part in every().values() for action in part.actions}
