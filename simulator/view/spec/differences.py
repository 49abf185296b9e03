"""The differences of two specifications, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import ndiff

from .entries import Chapter, SpecEntry

Marked = tuple[tuple[str, str], ...]
"""Pairs of "ins", "del" or "" (both protocols) and a text."""


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """An entry that two protocols do not share: how it differs, in words, and the changed lines and code."""

    entry: SpecEntry
    word: str
    lines: Marked
    code: Marked


def differences(old: Sequence[Chapter], new: Sequence[Chapter]) -> list[tuple[Chapter, list[RuleDifference]]]:
    """Return the chapters in which two specifications differ, each with its differences. Both specifications should be
    of the same worlds.
    """
    before = {chapter.address: chapter for chapter in old}
    after = {chapter.address: chapter for chapter in new}
    both = {**after, **{address: chapter for address, chapter in before.items() if address not in after}}
    found = ((chapter, [*_of_chapter(before.get(address), after.get(address))]) for address, chapter in both.items())
    return [(chapter, some) for chapter, some in found if some]


def left_out(whole: Sequence[Chapter], compared: Sequence[Chapter]) -> list[str]:
    """Return what a specification of fewer worlds does not have: the titles of whole chapters, or of single entries."""
    known = {chapter.address: {entry.address for entry in chapter.entries} for chapter in compared}
    return [
        title
        for chapter in whole
        for title in (
            [entry.title for entry in chapter.entries if entry.address not in known[chapter.address]]
            if chapter.address in known
            else [chapter.title.lower()]
        )
    ]


def _of_chapter(old: Chapter | None, new: Chapter | None) -> Iterator[RuleDifference]:
    before, after = ({each.address: each for each in chapter.entries} if chapter else {} for chapter in (old, new))
    for address in dict.fromkeys((*after, *before)):
        one, other = before.get(address), after.get(address)
        if one is None or other is None:
            entry, word, tag = (other, "added", "ins") if other else (one, "left out", "del")
            assert entry is not None, "an address of one of the two"
            yield RuleDifference(entry, word, tuple((tag, text) for text in _texts(entry)), ())
        elif one != other:
            lines = tuple(_changed(_texts(one), _texts(other)))
            code = tuple(_marked(_code(one), _code(other)))
            yield RuleDifference(other, "changed", lines, code if any(tag for tag, _ in code) else ())


def _texts(entry: SpecEntry) -> list[str]:
    return [f"{word}: {text}" for word, text in entry.lines if word not in DERIVED]


DERIVED = ("others", "weaker form")
"""Lines that follow from the value of an option."""


def _code(entry: SpecEntry) -> list[str]:
    return [line for code in entry.code for line in (f"# {code.place}", *code.text.splitlines())]


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    return ((tag, text) for tag, text in _marked(old, new) if tag)


def _marked(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    tags = {"+ ": "ins", "- ": "del", "  ": ""}
    return ((tags[line[:2]], line[2:]) for line in ndiff(old, new) if line[:2] in tags)
