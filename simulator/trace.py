"""A trace: one interleaving of the actors' steps, stored as a JSON file that can be sent and replayed.

Times in a trace are symbols: ``r1`` is the first requested time, and ``c1`` the completion time of the same instant. A
trace contains no clock readings, so it remains valid if a change of the code shifts the clock readings.

The file contains a JSON object with the fields of `Trace`, ``format`` and ``handle``. ``actors`` maps each actor that
takes a step to its kind, such as ``{"over1": "overwriter", "w1": "writer"}``. In ``world`` and ``protocol``, an omitted
field has its default value. ``rows`` lists the rows of each write, one object per row. ``steps`` lists the ``actor``,
``action``, ``args`` and ``observed`` of each step.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbcc.model import Protocol, Record, Step, World, extensions
from nbcc.model.answers import Several
from nbcc.model.mechanisms import kind_of, kinds
from nbcc.model.mechanisms.insert_overwrite import OVERWRITER
from nbcc.model.promises import PROMISES
from nbcc.model.validation import nearest, refuse_controls, whole_number

from .observables import Batch, records_in

FORMAT = 1
HANDLE_DIGITS = 6
FOUND_WITH = re.compile(r"--module (\S+)")
Batches = Mapping[tuple[str, int], Batch]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A run of the model: its world, its protocol, its steps, and the rows of all writes.

    ``observed`` contains one mapping per step: the changes to the timeline, file slices and reads. ``verdict`` is
    VIOLATED, DISAGREED or AGREED, ``because`` is the reason, and ``found_by`` is the command that found the trace. If
    ``cycle`` is n > 0, the last n steps form a cycle that can be repeated forever.
    """

    world: World
    protocol: Protocol
    steps: tuple[Step, ...]
    batches: Batches = field(default_factory=dict)
    observed: tuple[Mapping[str, Any], ...] = ()
    title: str = ""
    promise: str = ""
    verdict: str = ""
    because: str = ""
    found_by: str = ""
    cycle: int = 0

    @property
    def handle(self) -> str:
        """The trace's handle: the first six hex digits of a hash of its steps, rows, world and protocol."""
        mapping = self.to_mapping()
        core = {name: mapping[name] for name in ("steps", "rows", "world", "protocol")}
        core["steps"] = [{name: step[name] for name in ("actor", "action", "args")} for step in core["steps"]]
        core["world"] = {name: value for name, value in core["world"].items() if name not in {"name", "about"}}
        return hashlib.sha256(canonical(core).encode()).hexdigest()[:HANDLE_DIGITS]

    def to_mapping(self) -> dict[str, Any]:
        """Return the trace as a JSON value, without the fields ``format`` and ``handle``. Fields of the world and the
        protocol that have their default values are omitted.
        """
        observed = self.observed or ({},) * len(self.steps)
        return {
            "title": one_line(self.title),
            "actors": {actor: kind_of(actor) for actor in sorted({step.actor for step in self.steps})},
            "world": self.world.to_mapping(),
            "protocol": self.protocol.differences(),
            "rows": list(_rows(self.batches)),
            "steps": [
                {"actor": step.actor, "action": step.action, "args": plain(dict(step.args)), "observed": plain(seen)}
                for step, seen in zip(self.steps, observed, strict=True)
            ],
            "promise": self.promise,
            "verdict": self.verdict,
            "because": one_line(self.because),
            "found_by": one_line(self.found_by),
            **({"cycle": self.cycle} if self.cycle else {}),
        }


def one_line(text: str) -> str:
    """Return a text on one line, and its other control characters as escapes: `from_mapping` refuses them."""
    if text.isprintable():
        return text
    line = " ".join(text.split())  # the reason may be the stack of a failed Spark job
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in line)


def canonical(value: Any) -> str:
    """Return a value as canonical JSON text: equal values have equal texts."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def from_mapping(given: Mapping[str, Any]) -> Trace:
    """Return the trace that a JSON value describes.

    Raises ValueError if the format is not supported, a field is missing, or an actor's kind is wrong.
    """
    if not isinstance(given, Mapping):
        raise ValueError(f"a {type(given).__name__} where a trace is an object with 'world', 'protocol' and 'steps'")
    if given.get("format") != FORMAT:
        raise ValueError(f"a trace of format {given.get('format')!r}; this version reads format {FORMAT}")
    missing = [name for name in ("world", "protocol", "steps") if name not in given]
    if missing:
        raise ValueError(f"a trace without {missing[0]!r}")
    refuse_controls(given, "a trace")
    try:
        _check_kinds(given.get("actors", {}))
        trace = _made(given)
    except (TypeError, KeyError, AttributeError, IndexError) as error:
        raise ValueError(f"a trace that is not as nbcc writes it: {type(error).__name__}: {error}") from error
    if trace.promise and trace.promise not in PROMISES:
        guess = nearest(str(trace.promise), PROMISES, "nbcc list promises")
        raise ValueError(f"a trace of the promise {trace.promise!r}; {guess}")
    return trace


def _check_kinds(actors: Mapping[str, str]) -> None:
    known = kinds()
    for actor, kind in actors.items():
        if kind_of(actor) != kind:
            right = f"this version calls it {known[kind].actor(1)}" if kind in known else nearest(kind, known)
            raise ValueError(f"a trace in which the actor {actor!r} is of the kind {kind!r}; {right}")


def _made(given: Mapping[str, Any]) -> Trace:
    world = World.from_mapping(given["world"])
    steps = tuple(Step(step["actor"], step["action"], _args(step["args"])) for step in given["steps"])
    texts = {name: given.get(name, "") for name in ("title", "promise", "verdict", "because", "found_by")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise ValueError(f"a trace whose {name} is {text!r}, not a text")
    return Trace(
        world=world,
        protocol=Protocol.from_mapping(given["protocol"]),
        steps=steps,
        batches={**_without_rows(world, steps), **_batches(given.get("rows", ()))},
        observed=tuple(dict(step.get("observed", {})) for step in given["steps"]),
        cycle=whole_number(given.get("cycle", 0), "a trace: cycle", most=len(given["steps"])),
        **texts,
    )


def document(trace: Trace) -> dict[str, Any]:
    """Return the trace as the JSON object that files and answers contain."""
    return {"format": FORMAT, "handle": trace.handle, **trace.to_mapping()}


def to_json(trace: Trace) -> str:
    """Return the trace as the text of a JSON file."""
    return json.dumps(document(trace), indent=1) + "\n"


def save(trace: Trace, folder: Path) -> Path:
    """Write the trace to ``<handle>.json`` in a folder, and return the path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{trace.handle}.json"
    path.write_text(to_json(trace), encoding="utf-8")
    return path


def load(name: str | Path, folders: Sequence[Path] = ()) -> Trace:
    """Load a trace. `name` is the path of a file, or a handle or file name to search for in `folders`.

    Raises ValueError if no such trace exists in the folders, or if the file is not a trace.
    """
    path = Path(name)
    if not path.is_file():
        found = [folder / f"{name}.json" for folder in folders if (folder / f"{name}.json").is_file()]
        found = found or [each for folder in folders for each in _of_handle(str(name), folder)]
        if not found:
            searched = ", ".join(map(str, folders)) or "no folder"
            raise ValueError(f"no file {str(name)!r}, and no trace with that handle in {searched}")
        path = found[0]
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        return from_mapping(given)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {_without_module(given) or error}") from error
    except RecursionError as error:
        raise ValueError(f"{path} is nested too deeply") from error


def _without_module(given: Any) -> str:
    """Return a sentence that names an extension with which a trace was found and that is not loaded, or ''."""
    found_by = str(given.get("found_by")) if isinstance(given, Mapping) else ""
    absent = [file for file in FOUND_WITH.findall(found_by) if Path(file).stem not in extensions.loaded()]
    return f"this trace was found with --module {absent[0]}; load that file, too" if absent else ""


def _of_handle(handle: str, folder: Path) -> Iterable[Path]:
    sought = f'"handle": "{handle}"'.encode()
    files = (path for path in sorted(folder.glob("*.json")) if path.is_file())  # a folder may have this suffix, too
    return (path for path in files if sought in path.read_bytes()[:80])


def context_switches(steps: Iterable[Step]) -> int:
    """Return the number of steps whose actor differs from the previous step's actor."""
    actors = [step.actor for step in steps]
    return sum(one != other for one, other in itertools.pairwise(actors))


def _rows(batches: Batches) -> Iterable[dict[str, Any]]:
    for (actor, number), batch in sorted(batches.items()):
        yield from ({"actor": actor, "write": number, **row} for row in rows_of(batch))


def rows_of(batch: Batch) -> Iterable[dict[str, Any]]:
    """Yield the rows of one write, each as a JSON object."""
    for (group, version), records in sorted(batch.items()):
        for key, record in ((key, each) for key, entry in records.items() for each in records_in(entry)):
            yield {
                "group": group, "version": version, "key": key,
                "ordering": record.ordering, "value": record.value, "deleted": record.deleted,
                **({"sets": list(record.sets)} if record.sets else {}),
            }  # fmt: skip


def _batches(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, int], Batch]:
    batches: dict[tuple[str, int], dict[tuple[int, int], dict[str, Record | Several]]] = {}
    for row in rows:
        files = batches.setdefault((row["actor"], row["write"]), {})
        records = files.setdefault((row["group"], row["version"]), {})
        whole_number(row["ordering"], "a trace: ordering of a row")
        record = Record(row["ordering"], row["value"], row["deleted"], sets=tuple(row.get("sets", ())))
        earlier = records_in(records[row["key"]]) if row["key"] in records else ()
        records[row["key"]] = Several((*earlier, record)) if earlier else record
    return {write: dict(files) for write, files in batches.items()}


def _without_rows(world: World, steps: Iterable[Step]) -> dict[tuple[str, int], Batch]:
    """Return an empty batch for each overwriter that takes a step. A file of a trace lists rows only, so an overwrite
    without rows, which deletes the partition, would have no batch.
    """
    acting = {step.actor for step in steps}
    return {(me, 1): {file: {} for file in world.files(me, 1)} for me in acting if kind_of(me) == OVERWRITER.name}


def plain(value: Any) -> Any:
    """Return a value of the model as a JSON value: tuples become lists, and sets sorted lists."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if isinstance(value, (set, frozenset)):
        return sorted(plain(part) for part in value)
    return value


def _args(given: Mapping[str, Any]) -> tuple[tuple[str, object], ...]:
    args = tuple((name, _frozen(value)) for name, value in given.items())
    hash(args)  # a step is a key of tables: an object among its arguments is a TypeError
    return args


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
