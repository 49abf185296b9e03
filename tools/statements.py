"""The generated page docs/statements.md: what RFC-66, RFC-22 and the blog state, and the commands that show it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from nbcc.model.validation import refuse_unknown

from .markdown import table

HEAD: Final = """# Statements of the documents

What RFC-66, RFC-22 and the blog state, and the commands that show it. A run that breaks a promise shows why a statement
is needed, or that the document has a defect. A test runs every command and compares what it prints.

This page is generated from specs/statements.toml (`python -m tools.regenerate statements`).

"""
SHOWN: Final = ("yes", "in part", "no")
FIELDS: Final = ("seed", "text", "note", "shown", "shows")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a document. `shows` are pairs of a command and a text that it prints."""

    seed: str
    text: str
    note: str
    shown: str
    shows: tuple[tuple[str, str], ...]


def statements() -> tuple[Statement, ...]:
    """Return the statements in the order of the file.

    Raises:
        ValueError: an unknown field or value, or a statement that is shown by no command.
    """
    text = (files("nbcc") / "specs" / "statements.toml").read_text(encoding="utf-8")
    found = []
    for given in tomllib.loads(text)["statement"]:
        where = f"statement {given.get('text')!r}"
        refuse_unknown(given, FIELDS, where)
        shows = tuple((command, prints) for command, prints in given.get("shows", ()))
        each = Statement(given["seed"], given["text"], given.get("note", ""), given.get("shown", "yes"), shows)
        if each.shown not in SHOWN or (each.shown == "no") == bool(shows):
            raise ValueError(f"{where}: shown is one of {', '.join(SHOWN)}, and no means that it has no command")
        found.append(each)
    return tuple(found)


def page() -> str:
    every = statements()
    counts = ", ".join(f"{sum(each.shown == shown for each in every)} {shown}" for shown in SHOWN)
    head = ("", "document", "statement", "shown", "command: what it prints")
    return HEAD + "\n".join([*table(head, _rows(every)), "", f"Shown: {counts}."]) + "\n"


def _rows(every: tuple[Statement, ...]) -> Iterator[tuple[str, ...]]:
    for number, each in enumerate(every, start=1):
        commands = "<br>".join(f"`{command}`: {prints}" for command, prints in each.shows)
        text = f"{each.text} {each.note}".strip()
        yield str(number), each.seed, text, each.shown, commands or "\u2013"
