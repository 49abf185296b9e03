"""The accepted proofs, specs/proofs.json: which promises a protocol keeps for any number of actors."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any, Final

from nbcc.simulator.search.prove.evidence import fingerprints, missing
from nbcc.simulator.search.prove.lemmas import LEMMAS, Lemmas
from nbcc.simulator.search.prove.proof import prove
from nbcc.simulator.search.prove.system import ProvedSystem
from nbcc.simulator.search.prove.worlds import MOST, models
from nbcc.simulator.specs import protocol

from .bridge import compare, uncovered
from .claims import judge
from .worlds import elements_of

PATH: Final = Path(str(resources.files("nbcc") / "specs" / "proofs.json"))


def claimed() -> dict[str, dict[str, Any]]:
    """Return the promises that the lemmas of each protocol imply, and the size of each file of lemmas. The function
    runs no prover.
    """
    systems = {lemmas.name: _system(lemmas) for lemmas in LEMMAS}
    promises: dict[str, dict[str, list[str]]] = {}
    for lemmas in LEMMAS:
        of_protocol = promises.setdefault(lemmas.protocol, {})
        for name in dict.fromkeys(claim.promise for claim in systems[lemmas.name].claims):
            of_protocol.setdefault(name, []).append(lemmas.name)
    sizes = {name: {"clauses": len(each.clauses), "obligations": count(each)} for name, each in systems.items()}
    return {"protocols": promises, "lemmas": sizes}


def in_part() -> dict[str, dict[str, list[str]]]:
    """Return, for each protocol, the promises that are PROVED IN PART, with what is missing."""
    files = {lemmas.name: lemmas for lemmas in LEMMAS}
    found = {
        protocol: {name: [*missing([files[each] for each in by], name)] for name, by in promises.items()}
        for protocol, promises in claimed()["protocols"].items()
    }
    return {protocol: {name: gaps for name, gaps in promises.items() if gaps} for protocol, promises in found.items()}


def compared(lemmas: Lemmas) -> dict[str, dict[str, Any]]:
    """Return how the claims of a file of lemmas agree with the promises of the model, in its small worlds."""
    return {
        promise: {"steps": each.steps, "broken": each.broken, "weaker": each.weaker, "stronger": each.stronger}
        for promise, each in judge(lemmas).items()
    }


def same_steps(lemmas: Lemmas) -> dict[str, Any]:
    """Return how many states and steps of the small worlds of a file of lemmas are those of its relation, and the
    fingerprints of both sides.

    Raises:
        ValueError: a step differs, or the worlds do not take every action of the relation.
    """
    system = lemmas.system(any_plan=False)  # a compactor of the model resumes only the oldest plan
    comparisons = [compare(model, system, MOST, elements_of(model, system))
                   for model in models(lemmas.name, protocol(lemmas.protocol))]  # fmt: skip
    differences = [each.difference for each in comparisons if each.difference]
    if problems := (*differences, *uncovered(system, comparisons)):
        raise ValueError(f"{lemmas.name}: {'; '.join(problems)}")
    states, steps = sum(each.states for each in comparisons), sum(each.steps for each in comparisons)
    return {"states": states, "steps": steps, **fingerprints(lemmas)}


def _system(lemmas: Lemmas) -> ProvedSystem:
    system, reason = lemmas.under(protocol(lemmas.protocol).to_mapping())
    assert system is not None, reason
    return system


def count(system: ProvedSystem) -> int:
    implied = sum((c.holds is not None) + (c.step is not None) * len(system.actions) for c in system.claims)
    return len(system.clauses) * (1 + len(system.actions)) + implied + len(system.actions)


def proved() -> dict[str, dict[str, Any]]:
    """Return the claims, each proved by the prover.

    Raises:
        ValueError: a promise is not proved.
    """
    claims = claimed()
    for name, promises in claims["protocols"].items():
        verdicts = prove(name, protocol(name)).promises
        if unproved := [promise for promise in promises if not verdicts[promise].answer.startswith("PROVED")]:
            raise ValueError(f"nbcc prove --protocol {name} does not prove {', '.join(unproved)}")
    return claims


def text() -> str:
    """Return the content of specs/proofs.json, after a run of the prover."""
    document = {
        "format": 2, **proved(), "relations": {lemmas.name: same_steps(lemmas) for lemmas in LEMMAS},
        "compared": {lemmas.name: compared(lemmas) for lemmas in LEMMAS},
    }  # fmt: skip
    return in_lines(document) + "\n"


def in_lines(value: Any, depth: int = 2) -> str:
    """Return a value as JSON, with a line for each entry of the outer objects, which contain each other."""
    if depth == 0 or not isinstance(value, dict):
        return json.dumps(value)
    entries = (f"{json.dumps(name)}: {in_lines(each, depth - 1)}" for name, each in value.items())
    return "{\n" + ",\n".join(entries) + "\n}"


def accepted() -> dict[str, dict[str, Any]]:
    """Return the promises and the lemmas of specs/proofs.json."""
    document = json.loads(PATH.read_text("utf-8"))
    return {name: document[name] for name in ("protocols", "lemmas")}
