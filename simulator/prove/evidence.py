"""What the proof of a promise leaves out: what its claims declare, and what the comparison of these claims with the
promise of the model did not show.

The results of the comparison (`claims.py`) are in specs/proofs.json; a test repeats it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from .lemmas import Lemmas


@cache
def compared() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return the results of the comparison by file of lemmas and promise: the steps that were judged, and by option
    those that break the promise of the model and no claim (`weaker`).
    """
    path = resources.files("nbcc") / "specs" / "proofs.json"
    found: Mapping[str, Any] = json.loads(path.read_text("utf-8")).get("compared", {})
    return found


def missing(files: Sequence[Lemmas], promise: str) -> tuple[str, ...]:
    """Return what the claims of files of lemmas leave out of a promise, or were not seen to cover."""
    claims = (claim for lemmas in files for claim in lemmas.system().claims if claim.promise == promise)
    declared = (gap for claim in claims for gap in claim.missing)
    return tuple(dict.fromkeys((*declared, *_not_shown([lemmas.name for lemmas in files], promise))))


def _not_shown(files: Sequence[str], promise: str) -> Iterator[str]:
    seen = {name: compared().get(name, {}).get(promise, {}) for name in files}
    if never := [name for name, each in seen.items() if not each.get("steps")]:
        yield f"the formula was never compared with the promise of the model ({', '.join(never)})"
    for name, each in seen.items():
        for option in each.get("weaker", {}):
            yield f"under {option} the formula holds in steps that break the promise of the model ({name})"
    if not any(each.get(promise, {}).get("broken") for each in compared().values()):
        yield "no protocol that a relation describes breaks the promise, so that the comparison shows little"
