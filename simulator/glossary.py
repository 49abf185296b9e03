"""The words of the field, each with its meaning."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from nbcc.model.promises import PROMISES


@cache
def meanings() -> dict[str, str]:
    """Return the meaning of each word of the glossary. A name with commas is several words with one meaning."""
    loaded = tomllib.loads((files("nbcc") / "specs" / "glossary.toml").read_text("utf-8"))
    return {name: str(text).replace("{promises}", ", ".join(PROMISES)) for name, text in loaded.items()}


def words() -> dict[str, str]:
    """Return the meaning of each single word."""
    return {word: text for name, text in meanings().items() for word in name.split(", ")}
