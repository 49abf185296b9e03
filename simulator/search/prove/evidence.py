"""What the proof of a promise leaves out: what its claims declare, and what the comparison of these claims with the
promise of the model did not show.

The results of the comparison (`tools/proofs`) are in specs/proofs.json, with the fingerprints of what was compared.
They show nothing about a relation or a model that has changed since.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from . import fingerprint
from .lemmas import Lemmas


@cache
def _document() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((resources.files("nbcc") / "specs" / "proofs.json").read_text("utf-8"))
    return found


def compared() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return the results of the comparison by file of lemmas and promise: the steps that were judged, and by option
    those that break the promise of the model and no claim (`weaker`).
    """
    found: Mapping[str, Mapping[str, Mapping[str, Any]]] = _document()["compared"]
    return found


def relations() -> Mapping[str, Mapping[str, Any]]:
    """Return by file of lemmas how many states and steps of its relation were compared, and the fingerprints."""
    found: Mapping[str, Mapping[str, Any]] = _document()["relations"]
    return found


def stale(lemmas: Lemmas) -> tuple[str, ...]:
    """Return a sentence for each side of the comparison of a file of lemmas that has changed since: it shows nothing
    about what is proved now.
    """
    seen = relations().get(lemmas.name, {})
    return tuple(
        f"the {side} has changed since the two were compared ({lemmas.name}): python -m tools.regenerate proofs"
        for side, now in fingerprints(lemmas).items() if seen.get(side) != now
    )  # fmt: skip


def fingerprints(lemmas: Lemmas) -> dict[str, str]:
    """Return the fingerprints of the two sides that are compared: the relation of a file of lemmas, and the model."""
    return {"relation": fingerprint.of_relation(lemmas.system()), "model": fingerprint.of_model(lemmas)}


def missing(files: Sequence[Lemmas], promise: str) -> tuple[str, ...]:
    """Return what the claims of files of lemmas leave out of a promise, or were not seen to cover."""
    claims = (claim for lemmas in files for claim in lemmas.system().claims if claim.promise == promise)
    declared = (gap for claim in claims for gap in claim.missing)
    lacking = (gap for first in files[:1] for gap in first.lacks if all(gap in lemmas.lacks for lemmas in files))
    return tuple(dict.fromkeys((*declared, *lacking, *_not_shown([lemmas.name for lemmas in files], promise))))


def _not_shown(files: Sequence[str], promise: str) -> Iterator[str]:
    seen = {name: compared().get(name, {}).get(promise, {}) for name in files}
    if never := [name for name, each in seen.items() if not each.get("steps")]:
        yield f"the formula was never compared with the promise of the model ({', '.join(never)})"
    for name, each in seen.items():
        for option in each.get("weaker", {}):
            yield f"under {option} the formula holds in steps that break the promise of the model ({name})"
    if not any(each.get(promise, {}).get("broken") for each in compared().values()):
        yield "no protocol that a relation describes breaks the promise, so that the comparison shows little"
