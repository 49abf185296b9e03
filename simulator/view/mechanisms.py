"""What the mechanisms say in pictures: the sentences that explain a wrong answer, and the labels of table services."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, get_args

from ..lockstep.mechanism import FileStatus, Picture, ServiceLabel
from ..lockstep.mechanisms import chosen, rooms

RULES: Final[Mapping[tuple[str, str], Picture]] = {
    chosen(part): picture for room in rooms().values() for part, picture in room.pictures.items()
}
"""(option, value) -> the sentences of a picture."""


def _by_likelihood(status: FileStatus) -> tuple[str, ...]:
    ranks = {name: rank for room in rooms().values() for name, rank in room.explains.get(status, {}).items()}
    return tuple(sorted(ranks, key=ranks.__getitem__))


HELPS: Final[Mapping[str, tuple[str, ...]]] = {status: _by_likelihood(status) for status in get_args(FileStatus)}
"""Status of the file -> the options that can cause it, the likeliest first."""


SERVICES: Final[Mapping[str, ServiceLabel]] = {
    room.runs.kind.name: room.service for room in rooms().values() if room.runs and room.service
}
"""By kind of actor, because the timeline shows a clustering and a replace as compactions."""


def services_of(actors: Iterable[tuple[str, str]]) -> dict[str, ServiceLabel]:
    """Map the name of each table-service actor to its label. `actors` contains pairs (kind, name); actors that are not
    table services are omitted.
    """
    return {name: SERVICES[kind] for kind, name in actors if kind in SERVICES}
