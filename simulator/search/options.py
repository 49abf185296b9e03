"""Finds the verdict-matrix row that describes writers with the `hoodie.*` options in given files."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from nbcc.engine.config.properties import decode_properties

from .. import specs

_MISSPELT = 0.93
"""The similarity above which a name with the prefix of known ones is a misspelling of an option."""
_DECIDES = 0.85
"""The similarity above which an unknown name could be a misspelling of an option that decides the row."""


class DecidingOption(NamedTuple):
    """A Hudi option that determined the verdict-matrix row. `given` is False if the option has Hudi's default value
    because the writer does not set it.
    """

    option: str
    value: str
    given: bool


@dataclass(frozen=True, slots=True)
class OptionsFile:
    """A writer, described by a file that contains its Hudi options.

    `row` is the verdict-matrix row that describes the writer; if it is None, `because` is the reason. `unknown` maps
    each option that Hudi does not have to the most similar existing option, or ''. `notes` states what Hudi makes of
    options, with the evidence. `lock` is how the writer excludes others, if its mode needs that.
    """

    file: str
    row: str | None
    because: str
    decided: tuple[DecidingOption, ...]
    unknown: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()
    lock: WriterLock | None = None


class WriterLock(NamedTuple):
    """A lock that a writer takes: the class of its provider, and the options that name its place."""

    provider: str
    place: tuple[tuple[str, str], ...]
    excludes_processes: bool


@dataclass(frozen=True, slots=True)
class MatchedRow:
    """The row of the verdict matrix that applies to a table, given the options of all its writers. If no row applies to
    all writers, `row` is None and `because` is the reason.
    """

    row: str | None
    because: str
    writers: tuple[OptionsFile, ...]

    def to_mapping(self) -> dict[str, Any]:
        """Return the row and the reasons in the JSON format of ``verdicts --options``, without the field ``format``."""
        return {
            "row": self.row,
            "because": self.because,
            "writers": [
                {
                    "file": writer.file,
                    "row": writer.row,
                    "because": writer.because,
                    "decided_by": [decision._asdict() for decision in writer.decided],
                    "unknown": [{"option": option, "nearest": near} for option, near in writer.unknown],
                    "notes": list(writer.notes),
                }
                for writer in self.writers
            ],
        }


def judge(paths: Iterable[str | Path]) -> MatchedRow:
    """Return the verdict-matrix row for writers with the given option files (Java properties or JSON objects).

    Raises ValueError if a file is neither a JSON object nor Java properties. Raises FileNotFoundError if a file does
    not exist.
    """
    writers = tuple(judge_writer(str(path), read(Path(path))) for path in paths)
    outside = next((writer for writer in writers if writer.row is None), None)
    if outside is not None:
        return MatchedRow(None, f"{outside.file}: {outside.because}", writers)
    assigned = list(dict.fromkeys(writer.row for writer in writers))
    if len(assigned) > 1:
        each = ", ".join(f"{writer.file} is {writer.row}" for writer in writers)
        return MatchedRow(None, f"the writers disagree, and no row mixes them: {each}", writers)
    if because := _not_excluded(writers):
        return MatchedRow(None, because, writers)
    return MatchedRow(assigned[0], "", writers) if assigned else MatchedRow(None, "there is no writer", writers)


def _not_excluded(writers: Sequence[OptionsFile]) -> str:
    """Return why the writers do not exclude each other although their mode needs that; '' if they may."""
    locked = [(writer.file, writer.lock) for writer in writers if writer.lock is not None]
    for file, lock in locked[1:] and locked:
        if not lock.excludes_processes:
            count = f"there are {len(locked)} files"
            return f"{file}: {lock.provider} excludes only writers of its own process, and {count}"
    for (one, first), (other, second) in pairwise(locked):
        if first.provider != second.provider:
            return f"{one} and {other} do not exclude each other: {first.provider} and {second.provider}"
        if first.place != second.place:
            return f"{one} and {other} do not exclude each other: their locks are in different places"
    return ""


def judge_writer(file: str, given: Mapping[str, str]) -> OptionsFile:
    """Return the row of the verdict matrix that applies to a writer with the given options."""
    rules = _rules()
    aliases: Mapping[str, str] = rules["aliases"]
    # Hudi prefers the name of today to an older one.
    named = {aliases[option]: value for option, value in given.items() if option in aliases}
    named |= {option: value for option, value in given.items() if option not in aliases}
    unknown = tuple((option, _nearest(option)) for option in sorted(given) if not _is_known(option))
    for option, near in unknown:
        if near in _deciding() and _resembles(option, near):
            because = f"{option} is not an option of Hudi, and the row depends on {near}: correct the name"
            return OptionsFile(file, None, because, _decisions([aliases.get(near, near)], named), unknown)
    for option, values in rules["values"].items():
        if option in named and named[option].upper() not in map(str.upper, values):
            because = f"{option} = {named[option]} is not a value of Hudi, which has {', '.join(values)}"
            return OptionsFile(file, None, because, _decisions([option], named), unknown)
    for case in rules["outside"]:
        unless = case.get("unless", {})
        if _applies(case["when"], named) and not (unless and _applies(unless, named)):
            evidence = specs.hudi_evidence(case.get("seen_on_hudi", ()))
            deciding = _decisions([*case["when"], *unless], named)
            return OptionsFile(file, None, case["because"], deciding, unknown, evidence)
    case = next(case for case in rules["rows"] if _applies(case["when"], named))
    lock = _lock(named)
    decided = [*case["when"], *((rules["locks"]["provider"],) if lock else ())]
    return OptionsFile(file, case["row"], "", _decisions(decided, named), unknown, tuple(_notes(named, lock)), lock)


def _lock(named: Mapping[str, str]) -> WriterLock | None:
    locks = _rules()["locks"]
    if _value("hoodie.write.concurrency.mode", named).upper() not in locks["modes"]:
        return None
    provider = _value(locks["provider"], named)
    place = tuple((option, named[option]) for option in locks["places"] if option in named)
    return WriterLock(provider, place, provider not in locks["within_a_process"])


def _notes(named: Mapping[str, str], lock: WriterLock | None) -> Iterator[str]:
    for case in _rules()["notes"]:
        if _applies(case["when"], named):
            yield case["note"]
            yield from specs.hudi_evidence(case["seen_on_hudi"])
    if lock is not None and not lock.excludes_processes:
        yield f"{lock.provider} excludes only writers of its own process: the row assumes that there is one"


def read(path: Path) -> dict[str, str]:
    """Return all options in a file (a JSON object or Java properties) that start with ``hoodie.``, and those that could
    be misspellings of an option that decides the row.
    """
    data = path.read_bytes()
    if data.lstrip().startswith(b"{"):
        try:
            values = json.loads(data)
        except ValueError as broken:
            raise ValueError(f"{path} is not JSON: {broken}") from None
    else:
        values = decode_properties(data)
    found = {str(option): _text(value) for option, value in values.items() if _is_hudis(str(option))}
    if not any(option.startswith("hoodie.") for option in found):
        raise ValueError(f"{path} has no option that begins with 'hoodie.'")
    return found


def _is_hudis(option: str) -> bool:
    return option.startswith("hoodie.") or _nearest(option) in _deciding()


def _deciding() -> frozenset[str]:
    """The options by which rows are chosen, and their older names."""
    rules = _rules()
    return frozenset((*rules["defaults"], *rules["aliases"], *rules["locks"]["places"]))


def _resembles(option: str, known: str) -> bool:
    return SequenceMatcher(None, option.lower(), known).ratio() >= _DECIDES


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def _rules() -> dict[str, Any]:
    return tomllib.loads((files("nbcc") / "specs" / "hudi_options.toml").read_text("utf-8"))


def _value(option: str, named: Mapping[str, str]) -> str:
    return named.get(option, str(_rules()["defaults"].get(option, "")))


def _applies(when: Mapping[str, list[str]], named: Mapping[str, str]) -> bool:
    return all(_value(option, named).upper() in map(str.upper, values) for option, values in when.items())


def _decisions(when: Iterable[str], named: Mapping[str, str]) -> tuple[DecidingOption, ...]:
    return tuple(DecidingOption(option, _value(option, named), option in named) for option in when)


def known_options() -> list[str]:
    """Return the names of the options of Apache Hudi that decide a row, or that the matrix ignores."""
    rules = _rules()
    return [*rules["defaults"], *rules["aliases"], *rules["locks"]["places"], *rules["known"]["names"]]


def _is_known(option: str) -> bool:
    """Return whether the name or the prefix of the option is on the list of Hudi's options. An option with a known
    prefix counts as unknown if its name resembles another option.
    """
    if option in known_options():
        return True
    nearly = get_close_matches(option, [*_rules()["defaults"], *_rules()["aliases"]], 1, _MISSPELT)
    return not nearly and option.startswith(tuple(_rules()["known"]["prefixes"]))


def _nearest(option: str) -> str:
    return next(iter(get_close_matches(option.lower(), known_options(), 1, 0.8)), "")
