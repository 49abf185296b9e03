"""What a protocol or an option states about Apache Hudi names a test that ran Hudi, or says that it was only read."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nbcc.simulator import specs
from nbcc.simulator.lockstep.explain import explain
from nbcc.simulator.specs import ProtocolFile
from tools.known_bugs import bugs, from_mapping

ROOT = Path(__file__).parents[2]
FILES = [specs.protocol_file(name) for name in specs.protocol_names()]
RULES: dict[str, Any] = tomllib.loads((ROOT / "specs" / "hudi_options.toml").read_text("utf-8"))
HUDI = re.compile(r"\bHudi\b")  # hudi-rs is another program
DRIVES_HUDI = {"ask", "process", "asked", "factory", "peer", "hudis", "hudi", "by_bundle", "tables"}
"""Names by which a test of tests/interop asks Hudi's process: a fixture, or a function that returns the process."""


def lacks_evidence(file: ProtocolFile) -> bool:
    return bool(HUDI.search(file.used_by)) and not file.evidence


def unfit(test: str) -> str:
    """Return why a test is not evidence about Hudi; '' if it is."""
    path, _, name = test.partition("::")
    if not (path.startswith("tests/interop/") and (ROOT / path).is_file()):
        return f"{path} is not a file of tests/interop"
    parsed = ast.parse((ROOT / path).read_text("utf-8"))
    found = [each for each in parsed.body if isinstance(each, ast.FunctionDef) and each.name == name]
    if not found:
        return f"{path} has no test {name}"
    names = {node.id for node in ast.walk(found[0]) if isinstance(node, ast.Name)}
    arguments = {argument.arg for argument in found[0].args.args}
    return "" if DRIVES_HUDI & (names | arguments) else f"{name} does not run Hudi"


def named_tests() -> Iterator[str]:
    for file in FILES:
        yield from file.seen_on_hudi
    yield from (bug.seen_on_hudi for bug in bugs() if bug.seen_on_hudi)
    for kind in ("outside", "notes"):
        for case in RULES[kind]:
            yield from case.get("seen_on_hudi", ())


def named_on_pages() -> Iterator[str]:
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        yield from re.findall(r"tests/interop/\w+\.py::\w+", page.read_text("utf-8"))


def test_a_protocol_that_names_hudi_has_evidence() -> None:
    assert [file.name for file in FILES if lacks_evidence(file)] == []
    unseen = ProtocolFile(name="x", about="", source="", used_by="every writer of Hudi", hudi_options={},
                          protocol=specs.protocol("default"))  # fmt: skip
    assert lacks_evidence(unseen)


@pytest.mark.parametrize("test", sorted({*named_tests(), *named_on_pages()}))
def test_a_named_test_exists_and_runs_hudi(test: str) -> None:
    assert unfit(test) == ""


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("tests/quality/test_hudi_evidence.py::test_a_protocol_that_names_hudi_has_evidence", "is not a file of"),
        ("tests/interop/test_gone.py::test_x", "is not a file of"),
        ("tests/interop/test_hudi.py::test_gone", "has no test"),
        ("tests/interop/test_hudi_rules.py::test_every_kept_history_is_of_a_rule", "does not run Hudi"),
    ],
)
def test_what_is_no_evidence(test: str, why: str) -> None:
    assert why in unfit(test)


@pytest.mark.parametrize("given", [{"on_hudi": "not run"}, {"on_hudi": "not run: x", "seen_on_hudi": "t"}])
def test_what_a_report_says_of_hudi_has_a_test_or_was_not_run(given: dict[str, str]) -> None:
    report = {"title": "x", "url": "u", "promises": [], "reason": "r", "of_users": True}
    with pytest.raises(ValueError, match="names a test in seen_on_hudi, or begins 'not run: '"):
        from_mapping({**report, **given})
    assert from_mapping({**report, "on_hudi": "not run: why"})


def test_rows_for_options_of_hudi_were_seen_on_hudi_and_extend_its_protocol() -> None:
    for case in RULES["rows"]:
        assert specs.protocol_file(case["row"]).seen_on_hudi, case["row"]
        assert "hudi-1.2.0" in specs.ancestors(case["row"])


@pytest.mark.parametrize("file", [file for file in FILES if file.evidence], ids=lambda file: file.name)
def test_the_evidence_is_printed(file: ProtocolFile) -> None:
    [explanation] = [each for each in explain(file.name) if each.kind == "protocol"]
    assert {*file.evidence} <= {*explanation.more}
    assert f"used by: {file.used_by}" in explanation.more
