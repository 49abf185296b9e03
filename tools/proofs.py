"""The accepted proofs, specs/proofs.json: which promises the default protocol keeps for any number of actors."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any, Final

from nbcc.model import Protocol
from nbcc.simulator.prove.lemmas import LEMMAS, Lemmas
from nbcc.simulator.prove.proof import prove
from nbcc.simulator.prove.system import System

PATH: Final = Path(str(resources.files("nbcc") / "specs" / "proofs.json"))


def claimed() -> dict[str, dict[str, Any]]:
    """The promises with the lemmas that imply each, and the size of each file of lemmas. Runs no prover."""
    systems = {lemmas.name: _system(lemmas) for lemmas in LEMMAS}
    names = dict.fromkeys(claim.promise for system in systems.values() for claim in system.claims)
    return {
        "promises": {
            name: [lemmas for lemmas, system in systems.items() if name in {c.promise for c in system.claims}]
            for name in names
        },
        "lemmas": {
            name: {"clauses": len(system.clauses), "obligations": count(system)} for name, system in systems.items()
        },
    }


def _system(lemmas: Lemmas) -> System:
    system, reason = lemmas.under(Protocol().to_mapping())
    assert system is not None, reason
    return system


def count(system: System) -> int:
    """Each clause holds initially and is preserved by each action; each claim holds in a state or over each action;
    each action is possible."""
    implied = sum((c.holds is not None) + (c.step is not None) * len(system.actions) for c in system.claims)
    return len(system.clauses) * (1 + len(system.actions)) + implied + len(system.actions)


def proved() -> dict[str, dict[str, Any]]:
    """The claims, each proved by the prover.

    Raises:
        ValueError: a promise is not proved.
    """
    results = prove("default", Protocol()).promises
    if unproved := [promise for promise, verdict in results.items() if verdict.answer != "PROVED"]:
        raise ValueError(f"nbcc prove does not prove {', '.join(unproved)}")
    return claimed()


def text() -> str:
    """The content of specs/proofs.json, after a run of the prover."""
    return json.dumps({"format": 1, "protocol": "default", **proved()}, indent=1) + "\n"


def accepted() -> dict[str, dict[str, Any]]:
    """The promises and the lemmas of specs/proofs.json."""
    document = json.loads(PATH.read_text("utf-8"))
    return {name: document[name] for name in ("promises", "lemmas")}
