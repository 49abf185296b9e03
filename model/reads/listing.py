"""What a listing of the timeline shows: all that is there throughout, and any part of what comes or goes while it runs.

Instants come as they are published. They go when an archiver removes them, or a restore that has undone them: its plan
comes first, and whoever sees the plan sees nothing of what it undoes.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, combinations
from typing import Any, Protocol

from ..kernel.table import Plan
from ..machine.transition import Args
from ..mechanisms.log_compaction.rules import WRITES
from ..mechanisms.restores.rules import Restore, is_gone

Restores = tuple[Restore, ...]


class Lister(Protocol):
    """Who lists: `there` and `plans` are the requested times of the completed instants and of the plans that were there
    when it began, `restores` the number of restores that were planned."""

    @property
    def there(self) -> tuple[int, ...]: ...
    @property
    def plans(self) -> tuple[int, ...]: ...
    @property
    def restores(self) -> int: ...


def ever_published(published: tuple[Any, ...], restores: Restores) -> tuple[Any, ...]:
    """The completed instants, those that were undone as well."""
    return (*published, *chain.from_iterable(each.entries for each in restores)) if restores else published


def present(published: tuple[Any, ...], restores: Restores) -> tuple[int, ...]:
    """The requested times of the completed instants that are on storage, in sight or not."""
    return tuple(e.requested for e in ever_published(published, restores) if not is_gone(restores, e.requested))


def parts(own: Lister, published: tuple[Any, ...], removed: frozenset[int], restores: Restores) -> Iterable[Args]:
    """Every part of what has come or gone since the listing began, by requested time; plans of restores among them."""
    throughout = _throughout(own, published, restores)
    entries = [e.requested for e in ever_published(published, restores) if e.requested not in removed]
    some = [
        (*plans, *part)
        for plans in _subsets([each.requested for each in restores[own.restores :]])
        for out_of_sight in (hidden(own, plans, restores),)
        for part in _subsets([each for each in entries if each not in out_of_sight and each not in throughout])
    ]
    return ((("seen", part),) for part in some)


def shown(
    own: Lister, published: tuple[Any, ...], seen: tuple[int, ...], removed: frozenset[int], restores: Restores
) -> tuple[Any, ...]:
    """The completed instants in sight of a listing that ends now and has shown the part `seen`."""
    throughout = _throughout(own, published, restores)
    listed = (throughout | {*seen}) - removed - hidden(own, seen, restores)
    return tuple(entry for entry in ever_published(published, restores) if entry.requested in listed)


def _throughout(own: Lister, published: tuple[Any, ...], restores: Restores) -> set[int]:
    """The completed instants that were there when it began and still are."""
    return {*own.there} & {*present(published, restores)} if restores else {*own.there}


def plans_shown(own: Lister, seen: tuple[int, ...], restores: Restores) -> tuple[int, ...]:
    """The plans in sight of it; one that goes while a listing runs is not."""
    out_of_sight = hidden(own, seen, restores)
    return tuple(plan for plan in own.plans if plan not in out_of_sight and not is_gone(restores, plan))


def hidden(own: Lister, seen: tuple[int, ...], restores: Restores) -> set[int]:
    """What the restores whose plans it sees have undone."""
    return {undone for each in known(own, seen, restores) for undone in each.undone}


def known(own: Lister, seen: tuple[int, ...], restores: Restores) -> Restores:
    """The restores whose plans it sees."""
    return (*restores[: own.restores], *(each for each in restores[own.restores :] if each.requested in seen))


def newest(entries: Iterable[Any], restores: Restores) -> int:
    """The time of a read that sees these: nothing completes any more at or before a restore's request."""
    return max((*(e.completed for e in entries), *(each.requested for each in restores)), default=0)


def misses(before: tuple[int, ...], now: tuple[int, ...], out_of_sight: set[int]) -> bool:
    """Whether a listing misses what the one before has shown, and sees no restore that has undone it."""
    return not {*before} <= {*now} | out_of_sight


def writes_of(entries: Iterable[Any], time: int) -> tuple[int, ...]:
    """The requested times of those completed by `time` that a restore could undo."""
    return tuple(e.requested for e in entries if isinstance(e, WRITES) and (e.completed or 0) <= time)


def all_plans(plans: tuple[Plan, ...], restores: Restores) -> tuple[Plan, ...]:
    """The plans that there are, those that were undone as well."""
    return (*plans, *chain.from_iterable(each.plans for each in restores)) if restores else plans


def _subsets(all_of: list[int]) -> Iterable[tuple[int, ...]]:
    return chain.from_iterable(combinations(all_of, n) for n in range(len(all_of) + 1))
