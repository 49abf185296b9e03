"""Words for the page of a disagreement, in the times of the page: what the model says, and what the system says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from .content import Parts

_TEXT: Final = re.compile(r"after step (\d+), (.+?): the model says (.*); the system says (.*)", re.DOTALL)
_SLICE: Final = re.compile(r"group (\d+) from (\S+): base (\S+), logs (-|[^;]+)")
_SYMBOL: Final = re.compile(r"\b([rc]\d+)(?:\.(\d+))?\b")


class DisagreementWords(NamedTuple):
    """The headline, and the two values that differ."""

    sentence: Parts
    values: list[Parts]


def words_of(because: str, ticks: Mapping[str, int]) -> DisagreementWords | None:
    """Return the words for the reason of a disagreement; None if the reason has another form. `ticks` are the times of
    the symbols in the reason, such as r1.
    """
    if (found := _TEXT.match(because)) is None:
        return None
    step, what, model, system = found.groups()
    values: list[Parts] = [["The model: ", *parts_of(model, ticks)], ["The system: ", *parts_of(system, ticks)]]
    return DisagreementWords([f"After step {step} the model and the system differ: {what}."], values)


def parts_of(text: str, ticks: Mapping[str, int]) -> Iterator[str | list[str | int]]:
    """Yield a value with its symbols replaced by times; a requested time and a log have the colour of their instant."""
    text, end = _SLICE.sub(_slice, text), 0
    for symbol in _SYMBOL.finditer(text):
        if (time := ticks.get(symbol[1])) is None:
            continue
        yield text[end : symbol.start()]
        name = f"t{time}.log.{symbol[2]}" if symbol[2] else f"t{time}"
        yield [name, time] if symbol[1].startswith("r") else name
        end = symbol.end()
    yield f"{text[end:].rstrip('.')}."


def _slice(found: re.Match[str]) -> str:
    group, barrier, base, logs = found.groups()
    place = f"before every barrier of group {group}" if barrier == "-" else f"slice {barrier} of group {group}"
    parts = [*([f"base {base}"] if base != "-" else []), *([logs] if logs != "-" else [])]
    return f"{place}: {' and '.join(parts) or 'no file'}"
