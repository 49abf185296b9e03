"""Published bugs of table formats (specs/bugs.toml), each with the mutant that represents it or the reason for none."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from nbcc.model.validation import refuse_unknown
from nbcc.simulator.verdicts.kills import Kill, mutants_of

FATES: Final = ("mutant", "waits", "reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """A published report, with exactly one of three fates.

    `mutant` represents it; or it `waits` for a mechanism; or `reason` says why the model cannot express it.
    """

    title: str
    url: str
    promises: tuple[str, ...]
    mutant: str = ""
    waits: str = ""
    reason: str = ""

    @property
    def fate(self) -> str:
        """The name of the fate that it has."""
        return next(name for name in FATES if getattr(self, name))


def bugs() -> tuple[Bug, ...]:
    """Every report, the most serious ones first."""
    text = (files("nbcc") / "specs" / "bugs.toml").read_text(encoding="utf-8")
    return tuple(from_mapping(each) for each in tomllib.loads(text)["bug"])


def from_mapping(given: Mapping[str, Any]) -> Bug:
    """A report from its table.

    Raises:
        ValueError: a field is unknown, or there is not exactly one fate.
    """
    refuse_unknown(given, ("title", "url", "promises", *FATES), "specs/bugs.toml [[bug]]")
    if len([name for name in FATES if given.get(name)]) != 1:
        raise ValueError(f"specs/bugs.toml: {given.get('title')!r} needs one of {', '.join(FATES)}, and no more")
    return Bug(**{**given, "promises": tuple(given["promises"])})


def section(found: Sequence[Kill]) -> Iterator[str]:
    """The section of specs/kills.md about published bugs."""
    killed = mutants_of(found)
    known = bugs()
    count = {fate: sum(bug.fate == fate for bug in known) for fate in FATES}
    yield from (
        "## Published bugs",
        "",
        f"{len(known)} reports, from [bugs.toml](bugs.toml): {count['mutant']} have a mutant that is killed,",
        f"{count['waits']} wait for a mechanism, {count['reason']} cannot be expressed in the model.",
        "",
        "| report | promises | here |",
        "|---|---|---|",
    )
    for bug in known:
        if bug.mutant and bug.mutant not in killed:
            here = f"`{bug.mutant}`, a mutant of the engine (above)"
        elif bug.mutant:
            first = min(killed[bug.mutant], key=lambda kill: (kill.promise not in bug.promises, kill.steps))
            here = f"`{bug.mutant}`: {first.promise} in {first.steps} steps"
        else:
            here = f"waits for: {bug.waits}" if bug.waits else bug.reason
        yield f"| [{bug.title}]({bug.url}) | {', '.join(bug.promises)} | {here} |"
