"""Texts cite what a reader can open: an RFC, an issue, or a page of this repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nbcc.model.promises import PROMISES
from nbcc.model.promises.isolation import ANOMALIES
from nbcc.model.promises.writers import CANARY
from nbcc.simulator import specs
from nbcc.simulator.lockstep.explain import LINKS
from nbcc.simulator.lockstep.mechanisms import features
from nbcc.simulator.search import mutants
from tests.builders.sources import ROOT, tracked

ABSENT = re.compile(
    r"\bdesign(\.md)?,? (section|§|fault)|\bdesign\.md\b|\(design[:,]|\bdesign §|\bdesign of nbcc\b|\bhudi-format(,| §)"
)
"""A citation of a document that is not in the repository."""
TEXTS = {".py", ".md", ".toml", ".txt", ".html", ".svg", ".ipynb"}
CONTRACT = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
FORMAT = (ROOT / "docs" / "hudi-format.md").read_text(encoding="utf-8")
CITED = re.compile(r"docs/contract\.md, (?P<words>[A-Z][A-Za-z]*)")
SOURCES = {
    **{promise.name: promise.source for promise in (*PROMISES.values(), *ANOMALIES.values(), CANARY)},
    **{f"mechanism {name}": feature.source for name, feature in features().items()},
    **{f"mutant {name}": mutants.load(name).source for name in mutants.names()},
    **{f"protocol {name}": specs.protocol_file(name).source for name in specs.protocol_names()},
}


def test_no_text_cites_a_document_that_is_not_here() -> None:
    here = Path(__file__)
    cited = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in tracked()
        if path.suffix in TEXTS and path != here
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if ABSENT.search(line)
    ]
    assert cited == []


@pytest.mark.parametrize(
    "text",
    [
        "design, section 4",
        "(design: CLEAN)",
        "design.md §4, SNAP",
        "design §4",
        "design, fault set F0",
        "hudi-format §4",
        "hudi-format, section 4",
    ],
)
def test_such_a_citation_is_seen(text: str) -> None:
    assert ABSENT.search(f"source = {text}")


@pytest.mark.parametrize("text", ["by design", "the design of log compaction", "the blog on NBCC, 'Older Design'"])
def test_the_word_alone_is_no_citation(text: str) -> None:
    assert not ABSENT.search(text)


@pytest.mark.parametrize("name", SOURCES)
def test_what_a_source_names_of_the_contract_is_there(name: str) -> None:
    """A promise stands there in bold, a part of the page as its heading."""
    for cited in CITED.finditer(SOURCES[name]):
        words = cited["words"]
        assert f"**{words}.**" in CONTRACT or f"## {words}\n" in CONTRACT, f"{name}: docs/contract.md has no {words}"


@pytest.mark.parametrize("name", SOURCES)
def test_what_a_source_names_of_the_format_is_a_heading(name: str) -> None:
    for heading in re.findall(r"docs/hudi-format\.md, ([A-Z][a-z ]*)", SOURCES[name]):
        assert re.search(rf"^##+ {heading}$", FORMAT, re.MULTILINE), f"{name}: docs/hudi-format.md has no {heading}"


@pytest.mark.parametrize("name", SOURCES)
def test_every_rfc_that_a_source_names_has_an_address(name: str) -> None:
    assert {*re.findall(r"RFC-\d+", SOURCES[name])} <= {*LINKS}
