"""Lets actors that have an instant, but no plan, appear on the timeline as pending."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..kernel.table import Instant
from ..kernel.timeline import PENDING
from ..machine.composition import Composition
from ..machine.mechanism import Kind
from ..machine.transition import Component, preset


def add_pending_actors(composition: Composition, kind: Kind, action: str) -> None:
    """Add the requested instants of the actors of a kind to the view `pending_instants`. The actors' states have the
    fields `requested` (0: no instant) and `inflight`.
    """
    composition.map_view(PENDING, preset(pending_actors, actors=Component(f"every_{kind.name}"), action=action))


def pending_actors(pending_instants: Iterable[Instant], actors: Mapping[str, Any], action: str) -> Iterator[Instant]:
    yield from pending_instants
    for own in actors.values():
        if own.requested:
            yield Instant(own.requested, action, "inflight" if own.inflight else "requested", None)
