"""Plain technical English, as a test: words of the old dialect are rejected in names, texts and pages.

The list holds what a program can detect. Personification, fronted genitives and sentences without an actor are found by
reading.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.sources import ROOT, sources, tracked

WORDS = re.compile(
    r"(?<![\w-])(whoever|whomever|whatever|somebody|nobody|anybody|anew|beside|thereby|hereof|for ever|in the midst"
    r"|as good as|tells?|told|telling|owes?|owed|mends?|mended)(?![\w-])",
    re.IGNORECASE,
)
NEGATED = re.compile(
    r"(?<!there )\b(?:is|are|was|were|be) (?:(?-i:none)\b|no (?!longer\b|more\b|earlier\b|later\b|less\b)\w+)",
    re.IGNORECASE,
)
"""A negated noun: "that is no name", "an ordering column that is none"."""
NAMES = {"whoever", "whatever", "somebody", "nobody", "anybody", "anew", "beside", "told", "tells", "telling", "said",
         "hearts", "museum", "rung", "rungs", "ladder", "taker", "takers", "culprit", "lingering"}  # fmt: skip
"""Parts of identifiers (between underscores) that the list of names in CONTRIBUTING replaces."""
CODE = ("model", "engine", "simulator", "nbcc", "pyspark_nbcc", "benchmarks", "tools", "examples", "tests")
PAGES = {".md", ".toml", ".js", ".css", ".html"}


def in_code(text: str) -> Iterator[str]:
    """Words in strings, docstrings and comments, and parts of names."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type in (tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1)):
            found = (*WORDS.finditer(token.string), *NEGATED.finditer(" ".join(token.string.split())))
            yield from (f"line {line}: {word[0]!r}" for word in found)
        elif token.type == tokenize.NAME:
            parts = NAMES.intersection(re.findall(r"[A-Z]?[a-z0-9]+", token.string.replace("_", " ")))
            yield from (f"line {line}: the name {token.string}" for _ in parts)


def in_page(text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), start=1):
        yield from (f"line {number}: {word[0]!r}" for word in WORDS.finditer(line))


def code() -> list[Path]:
    return [path for path in sources(*CODE) if path != Path(__file__)]  # this file lists the words


def pages() -> list[Path]:
    return [path for path in tracked() if path.suffix in PAGES and path.relative_to(ROOT).parts[0] != "tests"]


def test_code_is_in_plain_english() -> None:
    assert [f"{p.relative_to(ROOT)}: {word}" for p in code() for word in in_code(p.read_text("utf-8"))] == []


def test_pages_are_in_plain_english() -> None:
    assert [f"{p.relative_to(ROOT)}: {word}" for p in pages() for word in in_page(p.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    "text",
    [
        '"""Whoever writes."""\n',
        "x = f'{y} is told'\n",
        "x = 1  # beside it\n",
        "told = 1\n",
        "def nobody_knows(): ...\n",
        "x = 'that is no name in Avro'\n",
    ],
)
def test_each_kind_of_text_is_read(text: str) -> None:
    assert list(in_code(text))


def test_negations_of_other_words_are_allowed() -> None:
    text = "x = 'there is no file; there are none; it is no longer there; it is not a name'  # it is None\n"
    assert not list(in_code(text))


def test_besides_and_compound_words_are_allowed() -> None:
    assert not list(in_page("Besides, a storyteller recommends a tell-tale name."))
