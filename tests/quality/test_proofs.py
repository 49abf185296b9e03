"""specs/proofs.json: the promises that the matrix shows as proved are those that the lemmas claim."""

from __future__ import annotations

import json

import pytest

from nbcc.simulator.prove.proof import Proof, Verdict
from tools import proofs
from tools.verdicts_page import page


def test_the_accepted_proofs_are_those_of_the_lemmas() -> None:
    """Without the prover; `make nightly` and `nbcc prove` run it."""
    assert proofs.accepted() == proofs.claimed(), "python -m tools.regenerate proofs"
    named = page().partition("under `default`: ")[2].partition(" ([")[0].replace("\n", " ").split()
    assert {name.strip(",") for name in named} == proofs.accepted()["promises"].keys()


def test_the_count_of_obligations_is_that_of_the_prover() -> None:
    pytest.importorskip("z3", reason="NO Z3 HERE: pip install 'nbcc[proof]'; the obligations are NOT COUNTED")
    from nbcc.simulator.prove.obligations import obligations

    for lemmas in proofs.LEMMAS:
        system = lemmas.system()
        assert proofs.count(system) == len(list(obligations(system))), lemmas.name


def test_a_promise_that_is_not_proved_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = {"SNAP": Verdict("PROVED", {}), "PART": Verdict("UNDETERMINED", {})}
    monkeypatch.setattr(Proof, "promises", verdicts)
    monkeypatch.setattr(proofs, "prove", lambda name, options: Proof(name))
    with pytest.raises(ValueError, match="nbcc prove does not prove PART"):
        proofs.text()
    monkeypatch.setattr(Proof, "promises", {"SNAP": Verdict("PROVED", {})})
    assert json.loads(proofs.text())["promises"] == proofs.claimed()["promises"]
