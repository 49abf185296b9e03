"""Labels of table services in pictures, and whether a service's requested time starts new file slices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ..lockstep.mechanism import ServiceLabel
from ..lockstep.mechanisms import rooms

SERVICES: Final[Mapping[str, ServiceLabel]] = {
    room.runs.kind.name: room.service for room in rooms().values() if room.runs and room.service
}
"""By kind of actor, because the timeline shows a clustering and a replace as compactions."""


def services_of(actors: Iterable[tuple[str, str]]) -> dict[str, ServiceLabel]:
    """Map the name of each table-service actor to its label. `actors` contains pairs (kind, name); actors that are not
    table services are omitted.
    """
    return {name: SERVICES[kind] for kind, name in actors if kind in SERVICES}
