"""The matrix, `nbcc explain`, the page and the table of anomalies state the same steps for the same cell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nbcc.simulator import specs
from nbcc.simulator.lockstep.explain import explain, pinned
from nbcc.simulator.search.verdicts import load
from tools.verdicts_page import page

ROOT = Path(__file__).parents[2]
MATRIX = load("quick")["protocols"]
PAGE = page().splitlines()
MATRIX_LINE = "breaks, shortest in the matrix (specs/verdicts.md): "
COUNTED = re.compile(r"([A-Z]+) in (\d+) steps")
CELL = re.compile(r"([A-Z]+) (\d+)")


def cells(protocol: str) -> dict[str, int]:
    row = MATRIX[protocol]["promises"]
    return {promise: cell["steps"] for promise, cell in row.items() if cell["verdict"] == "VIOLATED"}


def counted(line: str) -> dict[str, int]:
    return {promise: int(steps) for promise, steps in COUNTED.findall(line)}


@pytest.mark.parametrize("protocol", specs.protocol_names())
def test_explain_states_the_cells_of_the_matrix_and_of_the_pinned_world(protocol: str) -> None:
    [explanation] = [each for each in explain(protocol) if each.kind == "protocol"]
    [anywhere] = [line for line in explanation.more if "(specs/verdicts.md)" in line]
    assert counted(anywhere) == cells(protocol)
    assert anywhere.startswith(MATRIX_LINE) == bool(cells(protocol))
    undetermined = [name for name, cell in MATRIX[protocol]["promises"].items() if cell["verdict"] == "UNDETERMINED"]
    assert anywhere.partition("; undetermined: ")[2] == ", ".join(undetermined)
    in_world = [line for line in explanation.more if line.startswith("in the pinned world ")]
    assert len(in_world) == (protocol in pinned())
    for line in in_world:
        assert counted(line) == pinned()[protocol]["violated"]
        for promise, steps in counted(line).items():
            assert promise in undetermined or cells(protocol)[promise] <= steps


@pytest.mark.parametrize("promise", MATRIX["default"]["promises"])
def test_explain_of_a_promise_lists_the_protocols_of_the_matrix(promise: str) -> None:
    [explanation] = [each for each in explain(promise) if each.kind == "promise"]
    named = next((line for line in explanation.more if line.startswith("broken by ")), "").removeprefix("broken by ")
    assert {*filter(None, named.split(", "))} == {protocol for protocol in MATRIX if promise in cells(protocol)}


@pytest.mark.parametrize("protocol", MATRIX)
def test_the_page_states_the_cells_of_the_matrix(protocol: str) -> None:
    [line] = [line for line in PAGE if line.startswith(f"| `{protocol}`")]
    breaks = line.split("|")[3].partition(";")[0]
    assert {promise: int(steps) for promise, steps in CELL.findall(breaks)} == cells(protocol)


@pytest.mark.parametrize("protocol", MATRIX)
def test_an_anomaly_is_possible_if_and_only_if_its_promise_is_broken(protocol: str) -> None:
    """ATOM forbids dirty reads, TRAVEL repeated reads that differ, and ISO the anomalies of optimistic writers. The
    numbers may differ, because anomalies are searched in worlds of their own.
    """
    anomalies, broken = MATRIX[protocol]["anomalies"], cells(protocol)
    assert "dirty read" not in anomalies or "ATOM" in broken
    assert not {"non-repeatable read", "phantom read"} & {*anomalies} or "TRAVEL" in broken
    if MATRIX[protocol]["promises"]["ISO"]["verdict"] != "NOT_APPLICABLE" and protocol != "default":
        assert bool({"lost update", "write skew"} & {*anomalies}) == ("ISO" in broken)


def test_the_page_about_proofs_states_the_steps_of_the_pinned_world() -> None:
    """A row of its table: a rule (`protocol`), and promises, the last of which has the steps of all before it."""
    rows = re.findall(r"^\| [^|]*\(`([a-z0-9.-]+)`\) \| ([A-Z0-9, ]+) \|", (ROOT / "docs/proof.md").read_text(), re.M)
    assert len(rows) > 5
    for protocol, stated in rows:
        for promises, steps in re.findall(r"((?:[A-Z]+, )*[A-Z]+) (\d+)", stated):
            for promise in promises.split(", "):
                assert pinned()[protocol]["violated"][promise] == int(steps), f"{protocol}: {promise}"


@pytest.mark.parametrize("protocol", load("quick")["protocols"])
def test_what_the_quick_matrix_breaks_the_full_one_breaks_in_no_more_steps(protocol: str) -> None:
    """The worlds of the quick matrix are among those of the full one."""
    quick, full = (load(depth)["protocols"][protocol]["promises"] for depth in ("quick", "full"))
    for promise, cell in quick.items():
        if cell["verdict"] == "VIOLATED":
            assert full[promise]["verdict"] == "VIOLATED", promise
            assert full[promise]["steps"] <= cell["steps"], promise
