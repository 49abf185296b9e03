"""RFC-66 in each of its forms: its example, where the forms differ, where they do not, the pages that say so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.assembly import rules_of
from nbcc.model.kernel.slicing import writes_by_slice
from nbcc.model.kernel.table import GroupPlan, Plan, Table, Write
from nbcc.model.mechanisms.bulk_insert.rules import loaded
from nbcc.model.promises import PROMISES
from nbcc.model.promises.view import View
from nbcc.simulator import specs
from nbcc.simulator.search.explore import explore
from tools.rfc_readings import ANSWERS, compare

FINDINGS = Path(__file__).parents[2] / "specs" / "findings"
PAGES = [page for page in sorted(FINDINGS.glob("rfc-66-*.md")) if "corner-cases" not in page.name]
FORMS = {
    "prose": Protocol(),
    "slicing pseudocode": Protocol(barriers="base_files"),
    "sorting rules": Protocol(merge_order="requested"),
    "temporally follows": Protocol(slicing="temporal"),
    "time travel pseudocode": Protocol(as_of_bound="before"),
    "incremental pseudocode, one interval": Protocol(window_merge="slice_of_files"),
    "incremental pseudocode": Protocol(window_merge="slice_of_files_from"),
}
DIFFER = {
    ("slicing pseudocode", "slices"): 12,
    ("slicing pseudocode", "as of"): 12,
    ("sorting rules", "as of"): 12,
    ("sorting rules", "windows"): 12,
    ("temporally follows", "slices"): 13,
    ("temporally follows", "as of"): 13,
    ("time travel pseudocode", "as of"): 6,
    ("incremental pseudocode, one interval", "windows"): 18,
    ("incremental pseudocode", "windows"): 12,
}
"""Form and kind of answer -> the length of the shortest run on which it is not what the promise says; else none."""


def _write(requested: int, completed: int, actor: str) -> Write:
    return Write(requested, completed, actor, 1, ((0, 1),))


# The RFC's example; its "very first commit" is what a compaction of an earlier log would have written.
EXAMPLE = Table(
    (_write(5, 7, "w0"), _write(21, 40, "w1"), _write(30, 50, "w2"), _write(35, 90, "w3")),
    (
        Plan(10, "c1", True, (GroupPlan(0, None, ((5, 1),)),)),
        Plan(60, "c1", True, (GroupPlan(0, 10, ((21, 1), (30, 1))),)),
    ),
    (20, 80),
)


def slices_of(form: Protocol) -> dict[int | None, list[str]]:
    found = writes_by_slice(rules_of(form), EXAMPLE, 0).items()
    return {barrier: [write.actor for write in writes] for barrier, writes in found if barrier is not None}


@pytest.mark.parametrize("form", ["prose", "slicing pseudocode", "sorting rules"])
def test_the_example_is_sliced_as_the_text_says(form: str) -> None:
    assert slices_of(FORMS[form]) == {60: ["w3"], 10: ["w1", "w2"]}


def test_the_rules_do_not_place_the_log_of_the_example() -> None:
    assert slices_of(FORMS["temporally follows"]) == {60: [], 10: ["w1", "w2"]}
    assert slices_of(Protocol(slicing="requested")) == {60: [], 10: ["w1", "w2", "w3"]}


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("form", list(FORMS)[1:])
def test_a_form_differs_from_the_promise_first_here(form: str, answer: str) -> None:
    found = compare(specs.world("demo"), FORMS["prose"], FORMS[form], ANSWERS[answer])
    steps = len(found.difference.steps) if found.difference else None
    assert steps == DIFFER.get((form, answer))
    assert found.difference or found.states == 415, "every state was looked at"


def test_forms_of_slicing_and_reading_agree_with_each_other_where_the_text_is_silent() -> None:
    """The corner cases: no barrier equals a completion; a group that begins with a base file; no compaction."""
    model = Model(specs.world("demo"))
    assert explore(model, [PROMISES["MONO"]]).promises["MONO"].steps is None
    loads = World(actors={"bulk_inserter": 1, "writer": 1, "compactor": 1})
    based = compare(loads, FORMS["prose"], FORMS["slicing pseudocode"], ANSWERS["as of"], where=begins_with_a_base_file)
    assert based.difference is None
    assert compare(loads, FORMS["prose"], FORMS["slicing pseudocode"], ANSWERS["as of"]).difference is not None
    alone = World(actors={"writer": 2})
    for form in ("slicing pseudocode", "temporally follows", "incremental pseudocode"):
        for answer in ANSWERS.values():
            assert compare(alone, FORMS["prose"], FORMS[form], answer).difference is None


def begins_with_a_base_file(view: View) -> bool:
    """Whether the first write to complete in the only file group put a base file."""
    return bool(view.done) and 0 in loaded(min(view.done.values(), key=lambda write: write.completed or 0))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_finding_is_what_its_command_finds(page: Path) -> None:
    text = page.read_text("utf-8")
    for part in ("Text", "Property", "Run", "Expected", "Actual", "Why minimal", "Command", "Remedy"):
        assert f"**{part}.**" in text, part
    [(world, protocol, promise)] = re.findall(r"`nbcc explore (\S+) --protocol (\S+) --promise (\w+)`", text)
    stated = re.search(r"\*\*Run\.\*\* (\d+) steps", text)
    assert stated is not None
    model = specs.system(world, protocol)
    found = explore(model, [PROMISES[promise]], until_all_broken=True)
    assert found.promises[promise].steps == int(stated[1])


def test_links_of_the_findings_lead_somewhere() -> None:
    for page in FINDINGS.glob("rfc-66-*.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).resolve().exists(), target
