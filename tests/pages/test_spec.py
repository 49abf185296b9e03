"""`nbcc spec`: the pages hold every declaration of the model, and the differences of two protocols."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from nbcc.model import Model, Protocol
from nbcc.model.mechanisms import kind_of
from nbcc.model.promises import PROMISES
from nbcc.model.protocol import choices
from nbcc.simulator import specs
from nbcc.simulator.cli.main import run
from nbcc.simulator.view.spec.differences import RuleDifference, differences
from nbcc.simulator.view.spec.entries import Chapter, SpecEntry, chapters


@cache
def specification(protocol: str) -> list[Chapter]:
    return chapters(specs.protocol(protocol))


@pytest.fixture
def default() -> list[Chapter]:
    return specification("default")


def entries(of: list[Chapter]) -> dict[str, SpecEntry]:
    return {entry.address: entry for chapter in of for entry in chapter.entries}


def test_every_step_option_and_promise_has_a_permanent_address(default: list[Chapter]) -> None:
    found = entries(default)
    assert len(found) == sum(len(chapter.entries) for chapter in default)
    assert {*map("option-{}".format, choices()), *map("promise-{}".format, PROMISES)} <= found.keys()
    for name in ("demo", "failed_writer", "log_compaction", "archiving"):
        steps = {(kind_of(each.actor), each.action) for each in Model(specs.world(name), Protocol()).transitions}
        for kind, action in steps:
            assert action in found or f"{kind}-{action}" in found, (name, action)


def test_a_step_has_its_guards_effects_code_and_engine_function(default: list[Chapter]) -> None:
    step = entries(default)["compactor_publishes_instant"]
    assert ("guard", "the compactor must hold the lock") in step.lines
    assert {code.role for code in step.code} == {"guard", "effect"}
    assert all(code.text for code in step.code)
    assert ("engine: nbcc.engine.actions.run_compaction", "") in step.links
    rule = entries(default)["rule-slice_time"]
    assert [text for text, _ in rule.links] == ["engine: nbcc.engine.files.slices:slice_time"]
    assert "write.completed or inf" in rule.code[0].text


def compared(old: str, new: str) -> dict[str, RuleDifference]:
    one, other = specs.protocol(old), specs.protocol(new)
    found = differences(chapters(one, other), chapters(other, one))
    return {each.entry.address: each for _, some in found for each in some}


@pytest.mark.parametrize(
    ("old", "new", "also"),
    [
        ("default", "default", set()),
        ("default", "requested-time-slicing", {"rule-slice_time"}),
        ("default", "commit-unchecked", {"writer_takes_completion_time", "writer_is_refused"}),
    ],
)
def test_the_differences_are_the_options_and_what_they_change(old: str, new: str, also: set[str]) -> None:
    found = compared(old, new)
    one, other = (specs.protocol(name).to_mapping() for name in (old, new))
    assert {f"option-{name}" for name in one if one[name] != other[name]} == {
        address for address in found if address.startswith("option-")
    }
    assert also <= found.keys()
    assert bool(found) == (old != new)


def test_what_only_other_worlds_have_is_no_difference() -> None:
    """No world with a resizer or a Flink job is modelled under the rules of Hudi or of RFC-66."""
    for old, new in (("default", "hudi-1.2.0"), ("hudi-1.2.0", "default"), ("rfc-66-as-written", "default")):
        found = compared(old, new)
        assert not [address for address in found if address.startswith(("resizer", "flink", "compactor", "reader"))]
    there, back = compared("default", "hudi-1.2.0"), compared("hudi-1.2.0", "default")
    assert there["writer_looks_at_heartbeat"].word == "added"
    assert {address for address, each in back.items() if each.word == "left out"} == {"writer_looks_at_heartbeat"}
    assert not {address for address in compared("rfc-66-as-written", "default") if address.startswith("writer")}


def test_the_pages_have_no_dead_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["spec", "--protocol", "rfc-66-as-written", "--diff", "default", "--out", str(tmp_path)]) == 0
    pages = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert [page.name for page in pages] == ["index.html", "difference.html"]
    for page in pages:
        text = page.read_text("utf-8")
        ids = re.findall(r' id="([^"]+)"', text)
        assert len(ids) == len({*ids})
        links = [link for link in re.findall(r'href="([^"]+)"', text) if not link.startswith("https://")]
        assert {link[1:] for link in links if link.startswith("#")} <= {*ids}
        assert all((tmp_path / link).is_file() for link in links if not link.startswith("#"))
    assert "Not compared, because no world that has it is modelled under rfc-66-as-written: writer_" in text
    assert "the resizer" in text
    assert "`" not in re.sub("<pre>.*?</pre>", "", text, flags=re.DOTALL), "names in backticks become code"
    assert "<del>" in text
    assert "<ins>" in text
