"""Writes the pages of a specification into a folder, with the pictures that they link."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nbcc.model import Protocol

from ...lockstep.findings import FOLDER
from ...trace import load
from ..drawing import svg
from ..figure import figure
from ..trace_content import content_of
from .differences import differences, left_out
from .entries import RUNS, Chapter, chapters
from .page import difference_page, page


def write(
    out: Path, name: str, protocol: Protocol, other_name: str | None = None, other: Protocol | None = None
) -> list[Path]:
    """Write ``index.html``, the specification of `protocol`. With `other`, also write ``difference.html``: what
    `other` does otherwise. Return the paths of the pages.
    """
    out.mkdir(parents=True, exist_ok=True)
    own = chapters(protocol)
    index = out / "index.html"
    index.write_text(page(f"Specification: {name}", _about(protocol), own), "utf-8")
    pictures = _linked(own)
    found = [index]
    if other is not None and other_name is not None:
        found.append(out / "difference.html")
        title = f"{name} to {other_name}"
        one, two, theirs = chapters(protocol, other), chapters(other, protocol), chapters(other)
        about = [f"What {other_name} does otherwise than {name}, rule by rule. Red: only in {name}; green: only in "
                 f"{other_name}. Equal entries are not on the page.",
                 *_not_compared(left_out(own, one), other_name),
                 *_not_compared(left_out(theirs, two), name)]  # fmt: skip
        found[-1].write_text(difference_page(title, about, differences(one, two)), "utf-8")
        pictures |= _linked(two)
    for run in sorted(pictures):
        _draw(out, run)
    return found


def _not_compared(steps: Sequence[str], unmodelled: str) -> list[str]:
    if not steps:
        return []
    return [f"Not compared, because no world that has it is modelled under {unmodelled}: {', '.join(steps)}."]


def _about(protocol: Protocol) -> list[str]:
    differs = ", ".join(f"{option} = {value}" for option, value in protocol.differences().items())
    return [
        "Computed by nbcc from its model: each guard, effect and rule below is the code that the checks run.",
        f"Options that differ from the default: {differs or 'none'}.",
    ]


def _linked(of: Sequence[Chapter]) -> set[str]:
    links = (address for chapter in of for entry in chapter.entries for _, address in entry.links)
    return {address for address in links if address.startswith(f"{RUNS}/")}


def _draw(out: Path, address: str) -> None:
    trace = load(FOLDER.parent / "traces" / Path(address).with_suffix(".json").name)
    (out / RUNS).mkdir(exist_ok=True)
    (out / address).write_text(svg(figure(content_of(trace))), "utf-8")
