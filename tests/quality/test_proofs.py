"""specs/proofs.json: the promises that the matrix shows as proved are those that the lemmas claim."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from nbcc.simulator.search.prove.lemmas import LEMMAS
from nbcc.simulator.search.prove.lemmas.missing import MISSING
from nbcc.simulator.search.prove.proof import Proof, ProofVerdict
from nbcc.simulator.search.prove.worlds import MOST, SMALL
from tools import proofs
from tools.proofs.bridge import WIDER
from tools.verdicts_page import page


def named_under(protocol: str, bullet: str) -> set[str]:
    """The promises that a bullet of the page lists for a protocol; none if it does not name the protocol."""
    found = re.search(rf"under `{protocol}`: ([A-Z, ]+)", bullet)
    return {*found[1].replace(",", " ").split()} if found else set()


def test_the_accepted_proofs_are_those_of_the_lemmas() -> None:
    """Without the prover; `make nightly` and `nbcc prove` run it."""
    assert proofs.accepted() == proofs.claimed(), "python -m tools.regenerate proofs"
    proved, in_part = (" ".join(each.split()) for each in page().split("\n- ") if each.startswith("PROVED"))
    for protocol, promises in proofs.accepted()["protocols"].items():
        whole, part = (named_under(protocol, bullet) for bullet in (proved, in_part))
        assert part == proofs.in_part()[protocol].keys()
        assert whole == promises.keys() - part


@pytest.mark.parametrize("count", [1, pytest.param(None, marks=pytest.mark.nightly)])
def test_the_count_of_obligations_is_that_of_the_prover(count: int | None) -> None:
    pytest.importorskip("z3", reason="NO Z3 HERE: pip install 'nbcc[proof]'; the obligations are NOT COUNTED")
    from nbcc.simulator.search.prove.obligations import obligations

    for lemmas in LEMMAS[:count]:
        system = lemmas.system()
        assert proofs.count(system) == len(list(obligations(system))), lemmas.name


def test_a_promise_that_is_not_proved_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    every = {name: ProofVerdict("PROVED", {}) for of_it in proofs.claimed()["protocols"].values() for name in of_it}
    monkeypatch.setattr(Proof, "promises", every | {"PART": ProofVerdict("UNDETERMINED", {})})
    monkeypatch.setattr(proofs, "prove", lambda name, options: Proof(name))
    monkeypatch.setattr(proofs, "compared", lambda lemmas: {})  # takes minutes
    monkeypatch.setattr(proofs, "same_steps", lambda lemmas: {})
    with pytest.raises(ValueError, match="nbcc prove --protocol default does not prove PART"):
        proofs.text()
    monkeypatch.setattr(Proof, "promises", every)
    assert json.loads(proofs.text())["protocols"] == proofs.claimed()["protocols"]


def files_of(cell: str, every: list[str]) -> list[str]:
    """The files that a cell names: all, "all but" some, or a list."""
    if cell == "all":
        return every
    names = cell.removeprefix("all but").replace(",", " ").split()
    assert set(names) <= set(every), cell
    return [name for name in every if (name in names) != cell.startswith("all but")]


def test_the_page_has_the_accepted_promises_and_sizes() -> None:
    text = (Path(__file__).parents[2] / "docs" / "proof.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    header = rows.index(["promise", "formula of the relation", "files"])
    shown = {row[0]: row[2] for row in rows[header + 2 :] if len(row) == 3}
    accepted = proofs.accepted()
    claims: dict[str, list[str]] = {}
    for promises in accepted["protocols"].values():
        for promise, lemmas in promises.items():
            claims[promise] = [*claims.get(promise, []), *lemmas]
    assert {promise: files_of(cell, [*accepted["lemmas"]]) for promise, cell in shown.items()} == claims
    assert f"{sum(each['obligations'] for each in accepted['lemmas'].values()):,} obligations" in text
    assert f"in {sum(map(len, SMALL.values()))} small worlds" in text
    assert f"at most {MOST} states of each" in text
    assert {row[0]: row[1] for row in rows if row[0] in WIDER} == WIDER
    assert WIDER.keys() <= {action.name for each in LEMMAS for action in each.system().actions}
    assert f"The invariant of the core has {accepted['lemmas']['core']['clauses']} clauses" in text
    listed = {name for line in text.splitlines() if line.startswith("- `") for name in re.findall("`([a-z_]+)`", line)}
    assert listed >= accepted["lemmas"].keys()


def test_the_page_says_what_the_formulas_leave_out() -> None:
    text = (Path(__file__).parents[2] / "docs" / "proof.md").read_text("utf-8")
    claims = [claim for lemmas in LEMMAS for claim in lemmas.system().claims]
    left_out = {claim.promise: claim.missing for claim in claims if claim.missing}
    assert left_out
    assert left_out.keys() == MISSING.keys(), "a phrase about a promise that no claim is about"
    for promise, phrases in left_out.items():
        assert f"| {promise} | {'; '.join(phrases)} |" in text
    section = text.split("## What the formulas leave out")[1].split("\n## ")[0]
    assert section.count("\n| ") == len(left_out) + 1
