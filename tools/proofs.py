"""The accepted proofs, specs/proofs.json: which promises the default protocol keeps for any number of actors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Final

from nbcc.model import Protocol
from nbcc.simulator.prove.lemmas import LEMMAS, Lemmas
from nbcc.simulator.prove.proof import prove
from nbcc.simulator.prove.system import System

PATH: Final = Path(str(resources.files("nbcc") / "specs" / "proofs.json"))


def claimed() -> dict[str, dict[str, Any]]:
    """Promise -> the lemmas that imply it, and the number of clauses and obligations. Runs no prover."""
    return {promise: entry for lemmas in LEMMAS for promise, entry in _claims(lemmas)}


def _claims(lemmas: Lemmas) -> Iterator[tuple[str, dict[str, Any]]]:
    system, reason = lemmas.under(Protocol().to_mapping())
    assert system is not None, reason
    for promise in dict.fromkeys(claim.promise for claim in system.claims):
        yield promise, {"lemmas": lemmas.name, "clauses": len(system.clauses), "obligations": count(system, promise)}


def count(system: System, promise: str) -> int:
    """Each clause holds initially and is preserved by each action; each claim holds in a state or over each action."""
    claims = [claim for claim in system.claims if claim.promise == promise]
    implied = sum((claim.holds is not None) + (claim.step is not None) * len(system.actions) for claim in claims)
    return len(system.clauses) * (1 + len(system.actions)) + implied


def proved() -> dict[str, dict[str, Any]]:
    """The claims, each proved by the prover.

    Raises:
        ValueError: a promise is not proved.
    """
    results = prove("default", Protocol().to_mapping()).promises
    if unproved := [promise for promise, (verdict, _) in results.items() if verdict != "PROVED"]:
        raise ValueError(f"nbcc prove does not prove {', '.join(unproved)}")
    return claimed()


def text() -> str:
    """The content of specs/proofs.json, after a run of the prover."""
    return json.dumps({"format": 1, "protocol": "default", "promises": proved()}, indent=1) + "\n"


def accepted() -> dict[str, dict[str, Any]]:
    """The promises of specs/proofs.json."""
    promises: dict[str, dict[str, Any]] = json.loads(PATH.read_text("utf-8"))["promises"]
    return promises
