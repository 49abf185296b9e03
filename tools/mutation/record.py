"""What became of the generated mutants: as data, as a page, and what is known of those that live."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from nbcc.model.promises import PROMISES
from nbcc.simulator.verdicts.bound import bound_of, sentence

from .cases import Case, cases
from .hunt import Fate

Known = Mapping[str, tuple[str, str]]
"""Mutant -> redundant or gap, and the reason in words."""


@dataclass(frozen=True, slots=True)
class Record:
    """`mutants`: name -> operator and fate. They were held against the first `searched` of `cases` cases, those that
    lived so long; `checked`: and then played against the engine."""

    mutants: Mapping[str, tuple[str, Fate]]
    cases: int
    searched: int = 0
    checked: bool = False

    @property
    def alive(self) -> tuple[str, ...]:
        """Those that nothing saw."""
        return tuple(name for name, (_, fate) in self.mutants.items() if not fate.by)

    @property
    def same_runs(self) -> tuple[str, ...]:
        """Those of them that never gave another value: each search is, step by step, the search of the model."""
        return tuple(name for name in self.alive if not self.mutants[name][1].differs)

    @property
    def same_steps(self) -> tuple[str, ...]:
        """Those that gave another value somewhere, and have the same states and steps everywhere."""
        fates = {name: self.mutants[name][1] for name in self.alive}
        return tuple(name for name, fate in fates.items() if fate.differs and not fate.moves)

    @property
    def moving(self) -> tuple[str, ...]:
        """Those that have other states or steps in some search, of which no figure and no promise speaks."""
        return tuple(name for name in self.alive if self.mutants[name][1].moves)

    @property
    def complete(self) -> bool:
        """Whether those that live were held against every case; else they are on their way, and may be seen yet."""
        return self.searched == self.cases

    def unexplained(self) -> Iterator[str]:
        """Survivors with other steps that specs/survivors.toml does not know, and those that it knows and are none."""
        known, lasting = survivors(), self.moving if self.complete else ()
        yield from (f"lives, and nobody says why: {name}" for name in lasting if name not in known)
        yield from (f"specs/survivors.toml: not among the living: {name}" for name in known if name not in self.alive)

    def differences(self, other: Record) -> Iterator[str]:
        """Mutants that are new, gone, or whose life has changed."""
        for name in sorted(self.mutants.keys() | other.mutants.keys()):
            mine, theirs = self.mutants.get(name), other.mutants.get(name)
            if mine is None or theirs is None:
                yield f"{'gone' if mine is None else 'new'}: {name}"
            elif bool(mine[1].by) != bool(theirs[1].by):
                yield f"{'killed' if mine[1].by else 'alive'} now: {name}"

    def summary(self) -> str:
        """One sentence."""
        count, alive = len(self.mutants), len(self.alive)
        told = f"{count} mutants, held against {self.searched} of {self.cases} searches"
        return f"{told}: {count - alive} killed, {alive} {'live' if self.complete else 'on their way'}"


def survivors() -> Known:
    """What specs/survivors.toml knows; ValueError for an entry that says both or neither."""
    found = {}
    for entry in tomllib.loads(path_of("survivors.toml").read_text("utf-8")).get("survivor", ()):
        said = [word for word in ("redundant", "gap") if entry.get(word)]
        if len(said) != 1:
            raise ValueError(f"specs/survivors.toml: {entry.get('mutant')!r} needs redundant or gap, and not both")
        found[entry["mutant"]] = (said[0], str(entry[said[0]]))
    return found


def load() -> Record:
    """What was written down."""
    given = json.loads(path_of("generated-mutants.json").read_text("utf-8"))
    rows = {name: (row.pop("operator"), Fate(**row)) for name, row in given["mutants"].items()}
    return Record(rows, given["cases"], given["searched"], given["checked"])


def write(found: Record) -> None:
    """Write the data and the page."""
    rows = {name: {"operator": operator, **_told(fate)} for name, (operator, fate) in sorted(found.mutants.items())}
    told = {"format": 2, "cases": found.cases, "searched": found.searched, "checked": found.checked, "mutants": rows}
    text = json.dumps(told, indent=1, ensure_ascii=False)
    path_of("generated-mutants.json").write_text(text + "\n", encoding="utf-8")
    path_of("generated-mutants.md").write_text(page(found), encoding="utf-8")


def _told(fate: Fate) -> dict[str, Any]:
    if fate.by:
        return {"by": fate.by, "how": fate.how}
    return {"differs": fate.differs, "moves": fate.moves}


def path_of(name: str) -> Path:
    """A file of specs."""
    return Path(str(files("nbcc") / "specs" / name))


HEAD: Final = """# Generated mutants

Generated by `python -m tools.mutation --write`. Of the model's actions and rules every comparison is flipped,
every conjunct, negation and filter dropped, requested and completed times swapped, every guard dropped, every part of
an effect skipped: one at a time. What sees a mutant first: a promise, a deadlock or an error in the small worlds of
[verdicts.toml](verdicts.toml); another number of states there; another verdict or size under a weaker choice of the
protocol, in another world or under a protocol of specs, or in one of the [worlds](drawn-worlds.json) that were drawn at
random, some with actors that were asked for, a few made by hand, and kept because something showed there; a check
against the engine.

What lives is held against every search below, and is one of three kinds. A mutant that in none of them gives another
value anywhere is proven equivalent there: each search is, step by step, the search of the model. One that gives other
values, and in no search another state or step or verdict, is proven so by those searches. The others change something
that no figure tells: what should look is said, or why nothing can.
"""


KINDS: Final[tuple[tuple[str, Callable[[Record], tuple[str, ...]]], ...]] = (
    ("Other steps, and nothing tells", lambda found: found.moving),
    ("Other values, the same steps", lambda found: found.same_steps),
    ("The same in every search", lambda found: found.same_runs),
)


def page(found: Record) -> str:
    """The page."""
    lines = [HEAD, found.summary() + ".", "", *_table(found), "", "## What kills", "", *_killers(found), ""]
    if not found.complete:
        lines += ["## Where those that live are", "", *_on_their_way(found), ""]
    known = survivors()
    for title, kind in KINDS:
        # As long as the hunt goes on only those are named of which something is said.
        names = [name for name in kind(found) if found.complete or name in known]
        lines += [f"## {title}", "", *_explained(found, names, known), ""]
    return "\n".join([*lines, *_searched(found)])


def _on_their_way(found: Record) -> Iterator[str]:
    yield f"{found.cases - found.searched} searches are left, in which more will be seen. So far:"
    yield from ("", *(f"- {title.lower()}: {len(kind(found))}" for title, kind in KINDS))


def _explained(found: Record, names: Sequence[str], known: Known) -> Iterator[str]:
    for name in names:
        fate = found.mutants[name][1]
        told = f" differs in {fate.differs}, other steps in {fate.moves};" if fate.moves else ""
        told = told or (f" differs in {fate.differs};" if fate.differs else "")
        said = f" {known[name][0]}: {known[name][1]}" if name in known else ""
        yield (f"- `{name}`" + (f":{told}{said}" if told or said else "")).removesuffix(";")


def _searched(found: Record) -> Iterator[str]:
    """The worlds and their bounds, each with the choices under which it was searched."""
    searched = cases()[: found.searched]
    yield from ("## The searches", "")
    for world in dict.fromkeys(case.world for case in searched):
        mine = [case for case in searched if case.world == world]
        plain = any(not case.kind or case == Case(world) for case in mine)
        choices = [case.protocol or f"{case.field}={case.value}" for case in mine if case.field or case.protocol]
        said = ", ".join(["the default", *choices] if plain else choices)
        name = f"{world}, " if isinstance(world, str) else ""
        yield f"- {name}{sentence(bound_of(mine[0].given))}: {said}"
    yield ""


def _table(found: Record) -> Iterator[str]:
    yield from ("| change | mutants | killed |", "|---|---|---|")
    for operator, count in sorted(Counter(operator for operator, _ in found.mutants.values()).items()):
        killed = sum(bool(fate.by) for each, fate in found.mutants.values() if each == operator)
        yield f"| {operator} | {count} | {killed} |"


def _killers(found: Record) -> Iterator[str]:
    counts: Counter[str] = Counter(fate.by for _, fate in found.mutants.values() if fate.by)
    order: list[Any] = [*(name for name in PROMISES if name in counts), *sorted(counts.keys() - PROMISES.keys())]
    yield from ("| seen first by | mutants |", "|---|---|", *(f"| {name} | {counts[name]} |" for name in order))
