"""What lockstep must know of each mechanism: one file for each mechanism of the model, under the same name. A module
of the kernel or a variant has a file here, too, if it declares a `MECHANISM`.

Each file ends in `LOCKSTEP = Lockstep(...)`. The files are found by scanning this folder, so no list of them exists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from nbcc.model import extensions
from nbcc.model.machine.mechanism import Mechanism
from nbcc.model.machine.options import Limits, Options, names_of, overrides
from nbcc.model.mechanisms import every

from ..mechanism import FAULT, OWN, Feature, Lockstep, MappingRow, impossible


@cache
def rooms() -> Mapping[str, Lockstep]:
    """Return what lockstep knows of each mechanism, by the name of the mechanism's module."""
    own = {name: import_module(f"{__name__}.{name}").LOCKSTEP for _, name, _ in iter_modules(__path__)}
    return {**own, **dict(extensions.declared("LOCKSTEP", Lockstep))}


@cache
def features() -> Mapping[str, Feature]:
    """Return the features of Hudi that the mechanisms describe, by name in alphabetical order."""
    found = [_with_names(each, module) for module, room in rooms().items() for each in room.features]
    return {each.name: each for each in sorted(found, key=lambda each: each.name)}


def _with_names(feature: Feature, module: str) -> Feature:
    mechanisms = [every()[name] for name in (module, *feature.includes)]
    options = [name for each in mechanisms if each.options for name in names_of(each.options)]
    limits = [f"world.{name}" for each in mechanisms if each.limits for name in names_of(each.limits)]
    return replace(
        feature,
        model=tuple(action.name for each in mechanisms for action in each.actions)
        if feature.model == OWN else feature.model,
        options=(*options, *limits) if feature.options == OWN else feature.options,
    )  # fmt: skip


def traceless() -> Iterator[str]:
    """Yield the options that leave no trace in the times, plans and file names of a table."""
    for name, room in rooms().items():
        if room.traceless and (options := every()[name].options):
            yield from (option for option in names_of(options) if option not in room.traced)


def mapping_rows() -> Iterator[MappingRow]:
    """Yield the mapping row of each action of the model, with its step on Apache Hudi."""
    for name, room in rooms().items():
        yield from (_with_hudi(row, room.hudi_cannot) for row in (*(room.runs.rows() if room.runs else ()), *room.rows))
        if room.refines is not None:
            own = {action.name for action in every()[name].actions}
            for other in rooms().values():
                refined, reason = room.refines(other.runs) if other.runs else (), room.hudi_cannot or other.hudi_cannot
                yield from (_with_hudi(row, reason) for row in refined if row.action in own)


    for _, mechanism in without_lockstep():
        for action in mechanism.actions:
            yield MappingRow(action.name, FAULT, hudi=impossible("it is an action of an extension"))


def without_lockstep() -> Iterator[tuple[str, Mechanism]]:
    """Yield the mechanisms of extensions that define no `LOCKSTEP`. Only the model can take their actions."""
    for name, mechanism in extensions.declared("MECHANISM", Mechanism):
        if name not in rooms():
            yield name, mechanism


def _with_hudi(row: MappingRow, reason: str) -> MappingRow:
    return replace(row, hudi=row.hudi or impossible(reason))


def chosen(part: Options | Limits) -> tuple[str, Any]:
    """Return the name and the value of the one option or limit that differs from its default.

    Raises ValueError unless exactly one differs.
    """
    differs = overrides(part)
    if len(differs) != 1:
        raise ValueError(f"{part} must set one value that is not the default; it sets {len(differs)}")
    return next(iter(differs.items()))
