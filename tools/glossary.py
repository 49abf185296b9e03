"""The generated page docs/glossary.md: the words of the field, as nbcc uses them."""

from __future__ import annotations

from typing import Final

from nbcc.simulator.glossary import meanings

from .markdown import table

HEAD: Final = """# Glossary

Hudi's words, as nbcc uses them. `nbcc explain NAME` explains a word of this page, a promise, action, protocol, option
or world. This page is generated from `specs/glossary.toml` (`python -m tools.regenerate glossary`).

"""


def page() -> str:
    rows = [(f"**{name}**", text) for name, text in meanings().items()]
    return HEAD + "\n".join(table(("word", "meaning"), rows)) + "\n"
