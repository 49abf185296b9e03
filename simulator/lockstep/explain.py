"""Explains a name of the model with a sentence, the sentence's source, and a minimal example."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from importlib.resources import files
from typing import Any, Final

from nbcc.model import Protocol, World, extensions
from nbcc.model.kernel.writer import WRITER
from nbcc.model.machine.mechanism import Mechanism
from nbcc.model.machine.options import names_of
from nbcc.model.machine.transition import Action
from nbcc.model.mechanisms import actions, kinds
from nbcc.model.promises import PROMISES
from nbcc.model.protocol import choices, documented
from nbcc.model.world import crew

from .. import glossary, specs
from ..search import mutants
from ..trace import Trace, load
from . import minimal_examples
from .accepted import breaks, example, is_judged, undetermined
from .mechanism import Feature
from .mechanisms import features

DEMO: Final = "demo"
WITHOUT_OVERLAPS: Final = "A run without overlaps:"
HUDI_RFCS: Final = "https://github.com/apache/hudi/blob/master/rfc"
WIKI: Final = "https://cwiki.apache.org/confluence/display/HUDI"
LINKS: Final = {
    "RFC-15": f"{WIKI}/RFC+-+15%3A+HUDI+File+Listing+Improvements",
    "RFC-22": f"{WIKI}/RFC+-+22+%3A+Snapshot+Isolation+using+Optimistic+Concurrency+Control+for+multi-writers",
    "RFC-42": f"{HUDI_RFCS}/rfc-42/rfc-42.md",
    "RFC-56": f"{HUDI_RFCS}/rfc-56/rfc-56.md",
    "RFC-66": f"{HUDI_RFCS}/rfc-66/rfc-66.md",
    "RFC-89": f"{HUDI_RFCS}/rfc-89/rfc-89.md",
    "RFC-91": f"{HUDI_RFCS}/rfc-91/rfc-91.md",
}
"""Document -> its address. `docs/contract.md` is a page of this repository."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of a name, with an example. `about` explains the name in one sentence, `source` cites documents,
    and `more` contains further lines of text.

    The function `run` computes the trace of the example. `shows` is the sentence that introduces the example, or '' if
    there is no example.
    """

    name: str
    kind: str
    about: str
    source: str
    more: tuple[str, ...] = ()
    shows: str = ""
    run: Callable[[], Trace | None] = lambda: None

    @property
    def links(self) -> tuple[str, ...]:
        """The web addresses of the documents that `source` cites."""
        return tuple(address for document, address in LINKS.items() if document in self.source)


def explain(name: str) -> tuple[Explanation, ...]:
    """Return an explanation of each word, promise, action, option, protocol, world, mechanism or verdict with the given
    name, ignoring case.

    Raises ValueError if nothing has this name; the message contains similar names.
    """
    wanted = _folded(name)
    # Several kinds of names may be equal: a word of the glossary can also be an action or an option.
    found = tuple(each for known, make in _known() if _folded(known) == wanted for each in [make()])
    if found:
        return found
    folded = {_folded(known): known for known, _ in _known()}
    close = [folded[each] for each in get_close_matches(wanted, folded, n=3, cutoff=0.6)]
    near = f"similar names: {', '.join(close)}" if close else "no name is similar"
    raise ValueError(f"nothing is called {name!r}; {near} (see: nbcc list promises, actions, protocols or worlds)")


def names() -> tuple[str, ...]:
    """Return every name that can be explained."""
    return tuple(dict.fromkeys(name for name, _ in _known()))


def _folded(name: str) -> str:
    return re.sub(r"[ _-]+", " ", name.strip()).casefold()


def _known() -> Iterator[tuple[str, Callable[[], Explanation]]]:
    for word in glossary.words():
        yield word, partial(_word, word)
    for name in PROMISES:
        yield name, partial(_promise, name)
    for action in actions().values():
        yield action.name, partial(_action, action)
    for field, values in choices().items():
        yield field, partial(_option, field)
        for value in values:
            yield f"{field}={value}", partial(_value, field, value)
    for name in specs.protocol_names():
        yield name, partial(_protocol, name)
    for name in specs.world_names():
        yield name, partial(_world, name)
    for name in VERDICTS:
        yield name, partial(_verdict, name)
    for feature in features().values():
        yield feature.name, partial(_mechanism, feature)


def _word(word: str) -> Explanation:
    values = [f"{field}={value}" for field, of_field in choices().items() for value in of_field]
    more = tuple(f"as an option: nbcc explain {each}" for each in values if each.endswith(f"={word.casefold()}"))
    return Explanation(word, "word", glossary.words()[word], "docs/glossary.md", more)


@cache
def pinned() -> dict[str, Any]:
    """Return the accepted search results (`specs/sizes.toml`) of each protocol that breaks a promise, by the protocol's
    name.
    """
    text = (files("nbcc") / "specs" / "sizes.toml").read_text(encoding="utf-8")
    return {name: known for name, known in tomllib.loads(text)["protocols"].items() if known["violated"]}


def _counterexample(protocol: str, promise: str) -> Trace | None:
    return minimal_examples.breaking(specs.world(pinned()[protocol]["world"]), specs.protocol(protocol), promise)


def _promise(name: str) -> Explanation:
    promise = PROMISES[name]
    broken_by = sorted(protocol for protocol in specs.protocol_names() if name in breaks(protocol))
    kept = f"kept by the default protocol: nbcc explore {DEMO} --promise {name}"
    more = (kept, f"broken by {', '.join(broken_by)}" if broken_by else "no protocol of nbcc breaks it")
    shown = {p: known["violated"][name] for p, known in pinned().items() if name in known["violated"]}
    if not shown:
        shows = f"The shortest run that tests {name}:"
        return Explanation(
            name, "promise", promise.about, promise.source, more, shows, lambda: minimal_examples.tried(name)
        )
    first = min(shown, key=lambda protocol: (shown[protocol], protocol))
    return Explanation(
        name, "promise", promise.about, promise.source, more,
        f"The shortest run that breaks it under {first} in the world {pinned()[first]['world']}:",
        lambda: _counterexample(first, name),
    )  # fmt: skip


def taken_by(action: str) -> str:
    """Return the kind of actor that takes an action, derived from the action's prefix; "any" if actors of all kinds
    take it.
    """
    # The longest one, because the name of a kind can be the beginning of another one's.
    return max((kind for kind in kinds() if action.startswith(f"{kind}_")), key=len, default="any")


def _action(action: Action) -> Explanation:
    kind = taken_by(action.name)
    return Explanation(
        action.name, "action", action.about, "RFC-66, an access of storage, lock or clock that others can observe",
        (f"taken by: {'any actor' if kind == 'any' else kind}",),
        "The shortest run that ends with it:", lambda: minimal_examples.taking(action.name),
    )  # fmt: skip


def _option(field: str) -> Explanation:
    values = choices()[field]
    weaker = [_value(field, value) for value in values[1:]]
    shown = next((each for each in weaker if each.shows not in ("", WITHOUT_OVERLAPS)), weaker[0])
    source = "; ".join(dict.fromkeys(each.source for each in weaker))
    more = (f"values: {', '.join(values)} (the first is the default and keeps every promise)",)
    return Explanation(field, "option", documented()[field], source, (*more, *shown.more), shown.shows, shown.run)


def _value(field: str, value: str) -> Explanation:
    name, about = f"{field}={value}", documented()[field]
    if value == choices()[field][0]:
        return Explanation(name, "option", about, _source_of(field), ("the default, which keeps every promise",))
    alone = [p for p, given in _differences().items() if given == {field: value}]
    if not alone and (field, value) not in _shown_in():  # it has an effect only together with another option
        together = (name for name, given in _differences().items() if given.get(field) == value)
        alone = [name for name in together if not _others_break(name, field)]
    if alone:
        known = _protocol(alone[0])
        more = (f"{name}: {known.about}", f"set by the protocol {alone[0]}", *known.more)
        return Explanation(name, "option", about, known.source, more, known.shows, known.run)
    in_extensions = next(iter(extensions.files_of("worlds")), DEMO)
    world, promises = _shown_in().get((field, value), (in_extensions, tuple(PROMISES)))
    more = (f"compare: a protocol file with {field} = {value!r}; nbcc explore {world} --protocol FILE.toml",)
    shows = f"The shortest run in the world {world} that breaks a promise under {name}:"
    run = partial(_broken_by, world, promises, field, value)
    return Explanation(name, "option", about, _source_of(field), more, shows, run)


def _others_break(name: str, field: str) -> bool:
    """True if a protocol that differs from `name` only by the default of `field` breaks the same promises."""
    rest = {option: value for option, value in _differences()[name].items() if option != field}
    broken = pinned().get(name, {"violated": {}})["violated"].keys()
    others = (known["violated"].keys() for other, known in pinned().items() if _differences()[other] == rest)
    return any(other >= broken for other in others)


@cache
def _differences() -> dict[str, dict[str, str]]:
    return {name: specs.protocol(name).differences() for name in specs.protocol_names()}


@cache
def _shown_in() -> dict[tuple[str, str], tuple[str, tuple[str, ...]]]:
    """Map each (option, value) to a world and the promises that this value alone breaks in this world."""
    known = (mutants.load(name) for name in mutants.names())
    alone = (each for each in known if len(each.protocol) == 1 and each.world and not each.replace)
    return {next(iter(each.protocol.items())): (each.world, (each.breaks,)) for each in alone}


def _broken_by(world: str, promises: tuple[str, ...], field: str, value: str) -> Trace | None:
    protocol = Protocol.from_mapping({field: value})
    found = (minimal_examples.breaking(specs.world(world), protocol, promise) for promise in promises)
    return next((trace for trace in found if trace is not None), None)


def _source_of(field: str) -> str:
    for name, mechanism in extensions.declared("MECHANISM", Mechanism):
        if mechanism.options and field in names_of(mechanism.options):
            return f"the extension {name}"
    return {
        "scheduling": "RFC-66, non-serial scheduling of compaction; RFC-22 plans only when no write is pending",
        "plan_takes": "RFC-66, a plan takes logs completed before its barrier",
        "visibility": "RFC-22, atomic commits",
    }.get(field, "RFC-66")


def _protocol(name: str) -> Explanation:
    spec = specs.protocol_file(name)
    values = ", ".join(f"{field} = {value}" for field, value in spec.protocol.differences().items())
    used = (f"used by: {spec.used_by}",) if spec.used_by else ()
    options = tuple(f"in Hudi: {option} = {value}" for option, value in spec.hudi_options.items())
    anywhere, known = breaks(name), pinned().get(name)
    more = (
        *((f"differs: {values}",) if values else ()), *used, *spec.evidence,
        _of_matrix(name),
        *((f"in the pinned world {known['world']}: {_counted(known['violated'])}",) if known else ()), *options,
    )  # fmt: skip
    if known:
        shows = f"The shortest run that breaks {known['promise']} in the world {known['world']}:"
        run: Callable[[], Trace | None] = partial(_counterexample, name, known["promise"])
    elif ending := [promise for promise in anywhere if PROMISES[promise].kind != "run"]:
        # A run that breaks a promise about whole runs is a cycle, which a trace of steps does not show.
        promise = min(ending, key=lambda each: anywhere[each])
        shows, run = f"The shortest run that breaks {promise}:", partial(example, name, promise)
    else:
        shows, run = WITHOUT_OVERLAPS, partial(_sequential, DEMO, spec.protocol)
    return Explanation(name, "protocol", spec.about, spec.source, more, shows, run)


def _of_matrix(protocol: str) -> str:
    if not is_judged(protocol):
        return "not in the accepted matrix yet: nbcc verdicts --accept"
    words = _counted(breaks(protocol))
    place = "the matrix (specs/verdicts.md)"
    broken = f"breaks, shortest in {place}: {words}" if words else f"breaks no promise in the worlds of {place}"
    doubts = ", ".join(undetermined(protocol))
    return f"{broken}; undetermined: {doubts}" if doubts else broken


def _counted(steps: Mapping[str, int]) -> str:
    return ", ".join(f"{promise} in {count} steps" for promise, count in steps.items())


def _sequential(world: str = DEMO, protocol: Protocol | None = None) -> Trace:
    return minimal_examples.one_after_another(specs.world(world), protocol)


def _mechanism(spec: Feature) -> Explanation:
    columns = {
        "promises": spec.promises,
        "the model": (*spec.model, *spec.options),
        "the engine": spec.engine,
        "on Apache Hudi": spec.hudi or ((f"impossible: {spec.hudi_impossible}",) if spec.hudi_impossible else ()),
        "mutants": spec.mutants,
        "protocols that break it": spec.verdicts,
    }
    more = tuple(f"{title}: {', '.join(words) or 'not yet'}" for title, words in columns.items())
    shows = f"A run of it, {spec.trace}:" if spec.trace else ""
    gallery = files("nbcc") / "specs" / "traces" / f"{spec.trace}.json"
    run = (lambda: load(str(gallery))) if spec.trace else (lambda: None)
    return Explanation(spec.name, "mechanism", spec.about, spec.source, more, shows, run)


def _world(name: str) -> Explanation:
    added = (extension for extension, worlds in extensions.declared("WORLDS", dict) if name in worlds)
    source = next((f"the extension {extension}" for extension in added), f"nbcc/specs/worlds/{name}.toml")
    look = f"every interleaving of it: nbcc explore {name}"
    shows = "A run without overlaps, one actor after the other:"
    about, run = specs.about("worlds", name), partial(_sequential, name)
    return Explanation(name, "world", about, source, (look,), shows, run)


def _broken_demo() -> Trace | None:
    shortest = min(
        (steps, name, promise)
        for name, known in pinned().items()
        if known["world"] == DEMO
        for promise, steps in known["violated"].items()
    )
    return _counterexample(shortest[1], shortest[2])


VERDICTS: Final[dict[str, tuple[str, str, str, Callable[[], Trace | None]]]] = {
    "HOLDS": (
        "The promise is kept in every interleaving of the world, up to the printed bound, and one of them tests it.",
        f"nbcc explore {DEMO}", "One of those interleavings:", _sequential,
    ),
    "VIOLATED": (
        "An interleaving breaks the promise; the shortest is printed, saved as a trace and can be replayed.",
        f"nbcc explore {DEMO} --protocol requested-time-slicing", "The shortest of them all:", _broken_demo,
    ),
    "UNDETERMINED": (
        "Not known, with the reason: a limit stopped the search, or no state tested the promise. The exit code is 3.",
        f"nbcc explore {DEMO} --max-states 100", "", lambda: None,
    ),
    "NOT APPLICABLE": (
        "The promise does not apply to this world: QUIET is about compaction, and the world has no compactor.",
        "nbcc explore FILE.toml --promise QUIET, with a world without a compactor", "A run in such a world:",
        lambda: minimal_examples.one_after_another(World(actors=crew(WRITER), name="of one writer")),
    ),
    "AGREED": (
        "Model and system were equal after every step of N random histories. This is not a proof.",
        f"nbcc check {DEMO}", "A history on which they agree:", _sequential,
    ),
    "DISAGREED": (
        "Model and system differed after a step; the history is shrunk, printed and saved as a trace.",
        "nbcc list mutants names the broken variants that a check must detect", "", lambda: None,
    ),
}  # fmt: skip
"""Verdict -> the sentence, a command that prints it, the introduction of an example, and the example."""


def _verdict(name: str) -> Explanation:
    about, command, shows, run = VERDICTS[name]
    return Explanation(name, "verdict", about, "nbcc, verdicts", (f"see it: {command}",), shows, run)
