"""The entries of a specification: one for each type of the state, transition, rule, option and promise.

Everything is computed from the model: declarations, docstrings and source text. Two protocols differ in an entry if
its text or its code differs.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from math import inf
from typing import Any, Final

from nbcc.engine.actions import operations
from nbcc.model import Protocol, World
from nbcc.model.assembly import compose, is_modelled, rules_of, transitions
from nbcc.model.kernel import table, timeline
from nbcc.model.machine.composition import Composition
from nbcc.model.machine.options import declarations
from nbcc.model.machine.transition import Preset, Transition, effects_in
from nbcc.model.mechanisms import actions, kinds, limits, of_package
from nbcc.model.mechanisms.endless import Endless
from nbcc.model.promises import PROMISES
from nbcc.model.protocol import choices, documented
from nbcc.model.rules import Rules

from ... import specs
from ...lockstep.accepted import breaks
from ...lockstep.explain import LINKS
from ...lockstep.mapping import MAPPING, by_action
from .engine_functions import engine_functions

RUNS: Final = "runs"
"""The folder of the pictures, next to the pages."""


@dataclass(frozen=True, slots=True)
class Code:
    """A function or class of the model: what it is to the entry, its address in the code, and its source text."""

    role: str
    place: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecEntry:
    """One rule of a specification. `address` is its permanent address in the page. `lines` are pairs of a word and a
    text. `links` are pairs of a text and an address.
    """

    address: str
    title: str
    about: str
    lines: tuple[tuple[str, str], ...] = ()
    code: tuple[Code, ...] = ()
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Chapter:
    """Several entries under one title."""

    address: str
    title: str
    about: str
    entries: tuple[SpecEntry, ...]


def chapters(protocol: Protocol, other: Protocol | None = None) -> list[Chapter]:
    """Return the specification of a protocol. With `other`, return only what is in worlds that `other` models, too."""
    words = tuple(_type(each) for module in (timeline, table) for each in _types_of(module))
    faults = tuple(_limit(name, says) for part in limits() for name, says in declarations(part).items())
    return [
        Chapter("words", "Words", "The types of which the state of a table is made.", words),
        Chapter("assumptions", "Assumptions", "What a world bounds; 0 means that it does not happen.", faults),
        Chapter("options", "Options", "One value of each option makes a protocol.", tuple(_options(protocol))),
        *_actors(protocol, other),
        Chapter("rules", "Rules of slicing, planning, merging and reading",
                "Each rule is a method. A later class of the list extends or replaces the one before.",
                tuple(_rules(protocol))),
        Chapter("promises", "Promises", "What every run of a world must satisfy.", tuple(_promises())),
    ]  # fmt: skip


def source(function: Any) -> str:
    """Return the source text of a function or class, without its indentation; "" if it has none."""
    try:
        return textwrap.dedent(inspect.getsource(function)).rstrip()
    except (OSError, TypeError):
        return ""


def _code(role: str, function: Any) -> Code:
    plain = _plain(function)
    place = f"{plain.__module__}:{plain.__qualname__}"
    return Code(role, place, _source(place, getattr(plain, "__code__", plain)))


@cache
def _source(place: str, code: Any) -> str:
    return source(code)


def _first_line(thing: Any) -> str:
    text = inspect.getdoc(thing) or ""
    return " ".join(text.split("\n\n")[0].split())


# words and assumptions


def _types_of(module: Any) -> list[type]:
    found = (each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__)
    return [each for each in found if hasattr(each, "_fields")]


def _type(each: type) -> SpecEntry:
    return SpecEntry(address=f"type-{each.__name__}", title=each.__name__, about=_first_line(each),
                 code=(_code("type", each),))  # fmt: skip


def _limit(name: str, says: Any) -> SpecEntry:
    return SpecEntry(address=f"limit-{name}", title=name, about=str(says["about"]))


# options


def _options(protocol: Protocol) -> Iterator[SpecEntry]:
    chosen, about = protocol.to_mapping(), documented()
    for name, values in choices().items():
        weaker = [each for each in specs.protocol_names() if _one_difference(each) == name]
        runs = [f"{each} breaks {', '.join(f'{promise} in {n} steps' for promise, n in breaks(each).items())}"
                for each in weaker if breaks(each)]  # fmt: skip
        lines = [("value", chosen[name]), ("others", ", ".join(value for value in values if value != chosen[name]))]
        lines += [("weaker form", run) for run in runs]
        links = tuple((f"nbcc explain {each}", _gallery(each)) for each in weaker if _gallery(each))
        yield SpecEntry(address=f"option-{name}", title=f"{name} = {chosen[name]}", about=about[name],
                    lines=tuple(lines), links=links)  # fmt: skip


@cache
def _one_difference(name: str) -> str:
    """The option in which a named protocol differs from the default; "" if it differs in several or in none."""
    differences = specs.protocol(name).differences()
    return next(iter(differences)) if len(differences) == 1 else ""


@cache
def _pictures() -> dict[tuple[tuple[str, str], ...], str]:
    from ...lockstep.findings import FOLDER
    from ...trace import load

    every = ((path.stem, load(path)) for path in sorted((FOLDER.parent / "traces").glob("*.json")))
    return {tuple(trace.protocol.differences().items()): name for name, trace in every}


def _gallery(protocol: str) -> str:
    run = _pictures().get(tuple(specs.protocol(protocol).differences().items()))
    return f"{RUNS}/{run}.svg" if run else ""


# actors


def _actors(protocol: Protocol, other: Protocol | None) -> Iterator[Chapter]:
    """Yield a chapter for each kind of actor: the writer, the compactor and the reader, then those of mechanisms."""
    found = _transitions(protocol, other or protocol)
    first = of_package("kernel")
    for name in sorted(kinds(), key=lambda name: (name not in first, name)):
        entries = [_transition(action, name, forms) for action, forms in found.get(name, {}).items()]
        if entries:
            yield Chapter(f"actor-{name}", f"The {_words(name)}", STEPS, tuple(entries))


STEPS: Final = "Every step in the named worlds. What only some worlds add to a step names the first of them."
Form = tuple[Transition, World]
"""A transition, and a world that has it in this form: mechanisms refine the transitions of others."""


def _words(name: str) -> str:
    return name.replace("_", " ")


def _transitions(protocol: Protocol, other: Protocol) -> dict[str, dict[str, list[Form]]]:
    """Return the forms of each transition of the first actor of each kind, those of small worlds first."""
    found: dict[str, dict[str, list[Form]]] = {}
    every = (_composed(world, protocol) for world in _worlds() if is_modelled(world, other))
    for composition in (each for each in every if each is not None):
        firsts = {actors[0]: kind for kind, actors in composition.actors.items() if actors}
        for each in transitions(composition):
            if kind := firsts.get(each.actor):
                found.setdefault(kind, {}).setdefault(each.action, []).append((each, composition.world))
    return found


@cache
def _composed(world: World, protocol: Protocol) -> Composition | None:
    """Compose a model; None if the world is not modelled under the protocol."""
    return compose(world, protocol) if is_modelled(world, protocol) else None


@cache
def _worlds() -> tuple[World, ...]:
    """The named worlds in which every actor follows the protocol of the table, and which forget no instant, those with
    the fewest transitions under the default protocol first.
    """
    every = map(specs.world, specs.world_names())
    some = [world for world in every if not world.settings and not world[Endless].endless]
    found = {world: _composed(world, Protocol()) for world in some}
    sizes = {world: len(each.transitions) + len(each.components) if each else inf for world, each in found.items()}
    return tuple(sorted(found, key=sizes.__getitem__))


def _transition(action: str, kind: str, forms: list[Form]) -> SpecEntry:
    lines: dict[tuple[str, str], str] = {}
    code: dict[Code, None] = {}
    for each, world in forms:
        for line in _lines_of(each, f"the {_words(kind)}"):
            lines.setdefault(line, world.name)
        code |= dict.fromkeys(_code_of(each))
    base = forms[0][1].name
    named = ((word, text if world == base else f"{text} (world {world})") for (word, text), world in lines.items())
    return SpecEntry(
        address=action if action.startswith(f"{kind}_") else f"{kind}-{action}", title=action,
        about=actions()[action].about, lines=tuple(sorted(named, key=lambda line: ORDER.index(line[0]))),
        code=tuple(code), links=tuple(_links_of_action(action)),
    )  # fmt: skip


ORDER: Final = ("after", "then", "guard", "limit", "effect", "changes")


def _lines_of(each: Transition, actor: str) -> Iterator[tuple[str, str]]:
    yield "after", each.at or "any step"
    yield "then", each.to or "as the effects decide"
    for guard in each.guards:
        yield "limit" if guard.limit else "guard", guard.reason.replace("{me}", actor)
    yield from (("effect", text) for effect in _effects(each) if (text := _first_line(_plain(effect))))
    yield "changes", ", ".join(each.changes) or "nothing"


def _code_of(each: Transition) -> Iterator[Code]:
    yield from (_code("guard", function) for guard in each.guards for function in (guard.holds, *guard.also))
    yield from (_code("arguments", function) for function in each.arguments)
    yield from (_code("effect", function) for function in _effects(each))


def _effects(each: Transition) -> list[Callable[..., object]]:
    return [function for effect in each.effects for function in effects_in(effect)]


def _plain(function: Any) -> Any:
    if isinstance(function, Preset):
        return _plain(function.function)
    return _plain(function.func) if isinstance(function, partial) else function


@cache
def _rows() -> Any:
    return by_action(MAPPING)


def _links_of_action(action: str) -> Iterator[tuple[str, str]]:
    yield f"nbcc explain {action}", ""
    row = _rows().get(action)
    if row is not None and row.operation in operations():
        yield f"engine: {operations()[row.operation].__name__}", ""


# rules


def _rules(protocol: Protocol) -> Iterator[SpecEntry]:
    of_protocol = type(rules_of(protocol))
    for name in sorted(name for name in dir(Rules) if not name.startswith("_") and callable(getattr(Rules, name))):
        chain = [each for each in reversed(of_protocol.__mro__) if name in vars(each)]
        code = tuple(_code(each.__name__, vars(each)[name]) for each in chain)
        links = tuple((f"engine: {place}", "") for place in engine_functions().get(name, ()))
        if code:
            yield SpecEntry(address=f"rule-{name}", title=name, about=_first_line(getattr(Rules, name)),
                        code=code, links=links)  # fmt: skip


# promises


def _promises() -> Iterator[SpecEntry]:
    for name, promise in PROMISES.items():
        broken = {each: breaks(each)[name] for each in specs.protocol_names() if name in breaks(each)}
        shortest = sorted(broken.items(), key=lambda pair: pair[1])[:MOST_BROKEN]
        lines = [("about", f"each {promise.kind}"), ("source", promise.source)]
        lines += [("broken by", f"{each} in {steps} steps") for each, steps in shortest]
        links = [(document, address) for document, address in LINKS.items() if document in promise.source]
        links += [(f"the run of {each}", _gallery(each)) for each, _ in shortest if _gallery(each)]
        yield SpecEntry(address=f"promise-{name}", title=name, about=promise.about, lines=tuple(lines),
                    code=(_code("holds", promise.holds),), links=(*links, (f"nbcc explain {name}", "")))  # fmt: skip


MOST_BROKEN: Final = 6
"""A promise names so many protocols that break it, those with the shortest runs."""
