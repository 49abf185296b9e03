"""Searches for kills: which mutant breaks which promise, in the smallest world that shows it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nbcc.model import Protocol, World
from nbcc.model.assembly import is_modelled
from nbcc.model.machine.order import Unordered
from nbcc.model.promises import PROMISES
from nbcc.model.protocol import choices
from nbcc.simulator import specs
from nbcc.simulator.search import mutants
from nbcc.simulator.search.explore import Verdict
from nbcc.simulator.search.jobs import SearchJob
from nbcc.simulator.search.verdicts.bound import bound_of, sentence
from nbcc.simulator.search.verdicts.kills import Kill, accepted, path, small_worlds


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A change that a search must detect: a mutant of the model, or one weaker option.

    `breaks` is the promise that a mutant must violate, '' for an option.
    """

    name: str
    breaks: str
    job: SearchJob
    sound: SearchJob
    """The same job without the replacement. A promise that is violated there is not killed by the replacement."""
    protocol: Protocol
    world: World | None = None


def mutants_of(known: Iterable[Kill]) -> Mapping[str, tuple[Kill, ...]]:
    found: dict[str, list[Kill]] = {}
    for kill in known:
        found.setdefault(kill.mutant, []).append(kill)
    return {name: tuple(each) for name, each in found.items()}


def subjects() -> tuple[Subject, ...]:
    """Yield every mutant that a search must detect, and every weaker option."""
    found = [_mutant(each) for each in map(mutants.load, mutants.names()) if each.detector == "search"]
    weaker = [(name, value) for name, values in choices().items() for value in values[1:]]
    for name, value in weaker:
        protocol = Protocol.from_mapping({name: value})
        job, sound = SearchJob(world="", protocol=protocol), SearchJob(world="")
        found.append(Subject(name=f"{name}={value}", breaks="", job=job, sound=sound, protocol=protocol))
    return tuple(found)


def _mutant(mutant: mutants.Mutant) -> Subject:
    plain = Protocol.from_mapping({**mutant.protocol}) if mutant.replace else Protocol()
    return Subject(
        name=mutant.name,
        breaks=mutant.breaks,
        job=SearchJob(world="", mutant=mutant.name),
        sound=SearchJob(world="", protocol=plain),
        protocol=Protocol.from_mapping({**mutant.protocol}),
        world=specs.world(mutant.world) if mutant.world else None,
    )


def kills(subject: Subject, promises: tuple[str, ...] = ()) -> tuple[Kill, ...]:
    """Return the kills of a subject: for each promise (default: all) the first small world that violates it."""
    found: dict[str, Kill] = {}
    for world in (*small_worlds(), *([subject.world] if subject.world else [])):
        if not is_modelled(world, subject.protocol) or (promises and not _applies(subject, world, promises)):
            continue
        try:
            result = replace(subject.job, world=world, promises=promises).run()
        except Unordered:  # the mutant refines a transition that a mechanism of this world refines, too
            continue
        broken = {name: each for name, each in result.promises.items() if each.verdict is Verdict.VIOLATED}
        if new := broken.keys() - found.keys():
            for name in _broken_anyway(subject, world, new):
                del broken[name]
        for name in sorted(new & broken.keys()):
            found[name] = Kill(
                mutant=subject.name, promise=name, bound=bound_of(world), steps=broken[name].steps or 0,
                states=result.distinct, seconds=round(result.seconds, 2),
            )  # fmt: skip
    return tuple(found.values())


def _applies(subject: Subject, world: World, promises: tuple[str, ...]) -> bool:
    """True if one of `promises` is checked in a world: the search of any other world would find nothing."""
    model = replace(subject.sound, world=world).system()
    return any(PROMISES[name].unfit(model) is None for name in promises)


def _broken_anyway(subject: Subject, world: World, promises: Iterable[str]) -> tuple[str, ...]:
    if subject.sound.protocol in ("default", Protocol()):
        return ()
    result = replace(subject.sound, world=world).run()
    return tuple(name for name in promises if result.promises[name].verdict is Verdict.VIOLATED)


def kill_all(
    done: Callable[[], None] | None = None, known: Iterable[Kill] = (), new: tuple[str, ...] = ()
) -> tuple[Kill, ...]:
    """Return every kill of every subject, in the order of specs/kills.json.

    A subject keeps its `known` kills if all of them can be repeated; otherwise it is searched again. `new` contains the
    promises that were not judged when the known kills were found; each subject is searched for them.

    Raises:
        ValueError: a mutant survives.
    """
    found: list[Kill] = []
    alive = []
    before = mutants_of(known)
    for subject in subjects():
        mine = before.get(subject.name, ())
        if not mine or not all(_still_there(subject, kill) for kill in mine):
            mine = kills(subject)
        elif new:
            mine = (*mine, *kills(subject, new))
        found += mine
        if subject.breaks and subject.breaks not in {kill.promise for kill in mine}:
            alive.append(f"{subject.name} (it should break {subject.breaks})")
        if done:
            done()
    if alive:
        raise ValueError(f"no bound of specs/verdicts.toml kills {', '.join(alive)}; give it a world, or add a bound")
    return _sorted(found)


def _still_there(subject: Subject, kill: Kill) -> bool:
    own = (subject.world,) if subject.world else ()
    where = next((world for world in (*small_worlds(), *own) if bound_of(world) == kill.bound), None)
    if where is None:
        return False
    found = replace(subject.job, world=where, promises=(kill.promise,)).run().promises[kill.promise]
    return found.verdict is Verdict.VIOLATED and found.steps == kill.steps


def to_mapping(found: Iterable[Kill]) -> dict[str, Any]:
    """Return the content of specs/kills.json."""
    rows = [
        {"mutant": k.mutant, "promise": k.promise, "bound": dict(k.bound), "steps": k.steps, "states": k.states,
         "seconds": k.seconds}
        for k in _sorted(found)
    ]  # fmt: skip
    return {"format": 1, **_searched(), "kills": rows}


def _sorted(found: Iterable[Kill]) -> tuple[Kill, ...]:
    return tuple(sorted(found, key=lambda kill: (kill.mutant, kill.promise)))


def _searched() -> dict[str, Any]:
    """Return the promises and worlds that are searched. If the worlds change, all subjects are searched again."""
    return {"promises": list(PROMISES), "worlds": [sentence(bound_of(world)) for world in small_worlds()]}


def still_good() -> tuple[Kill, ...]:
    """Return the accepted kills if the worlds are unchanged and no promise was removed; otherwise none."""
    given = json.loads(path().read_text("utf-8"))
    same = given.get("worlds") == _searched()["worlds"] and set(given.get("promises", ())) <= set(PROMISES)
    return accepted() if same else ()


def new_promises() -> tuple[str, ...]:
    """Return the promises that were not judged when the accepted kills were found."""
    given = json.loads(path().read_text("utf-8"))
    return tuple(name for name in PROMISES if name not in given.get("promises", ()))
