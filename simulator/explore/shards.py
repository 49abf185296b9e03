"""Shards: disjoint parts of a search's states, each searched by a separate process without communication.

A system may declare one component (state variable) as its shard key. The value of the shard key is set once and then
never changes. In the built-in model, the shard key is the first published instant. The few states whose shard key is
not set yet form the prefix, which every process searches. Every state with a shard key belongs to exactly one shard,
and no run leaves a shard. If a promise has several shortest counterexamples, sharded and unsharded searches may report
different ones.

The search of each shard verifies that no visited state belongs to another shard.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

from .progress import Ends
from .search import Bounds, Progress, Search
from .space import Space
from .watch import Watchers


class Shard(NamedTuple):
    """A part of a search: the states whose shard key is in `keys`.

    `exchangeable` contains the classes of exchangeable actors, detected by the search of the prefix. If it is None, the
    shard's own search detects them.
    """

    keys: tuple[Hashable, ...]
    exchangeable: tuple[tuple[str, ...], ...] | None = None

    def split(self, count: int) -> list[Shard]:
        """Split a shard into at most `count` shards of similar size.

        Keys that were found earlier usually have more states. To balance the shards, keys are assigned to shards 1, 2,
        3, 3, 2, 1, and so on.
        """
        turns = [*range(count), *reversed(range(count))]
        owners = [turns[place % len(turns)] for place in range(len(self.keys))]
        shards = [
            tuple(key for key, owner in zip(self.keys, owners, strict=True) if owner == number)
            for number in range(count)
        ]
        return [self._replace(keys=keys) for keys in shards if keys]


PREFIX = Shard(())
"""The states in which the shard key is still open, and the first states of each shard."""


class ShardKeys:
    """Maps a state to its shard key, or to None if the state has no shard key yet."""

    def __init__(self, system: Any) -> None:
        component, self.key_of = system.shard_key
        self.coding, self.place = system.coding, system.coding.place[component]
        self.bits = self.coding.mask((self.place,))
        self._known: dict[Any, Hashable] = {}

    def __call__(self, state: Any) -> Hashable:
        own = state & self.bits
        if own not in self._known:
            self._known[own] = self.key_of(self.coding.value(own, self.place))
        return self._known[own]

    def escaped(self, states: Sequence[Any], keys: Iterable[Hashable]) -> set[Hashable]:
        """Return the shard keys that occur in the given states but not in `keys`."""
        return {self(own) for own in set(map(self.bits.__and__, states))}.difference(keys)


class PrefixSearch(Search):
    """Searches the prefix: all states whose shard key is not set yet. States in which the shard key has just been set
    are checked too, but their successors are left to the searches of the shards.
    """

    def __init__(self, space: Space, watchers: Watchers, bounds: Bounds, progress: Progress | None = None) -> None:
        self.keys = ShardKeys(space.system)
        prefix = copy(space)
        prefix.successors = self._within(space.successors)
        super().__init__(prefix, watchers, bounds, progress)
        self.ends = _PrefixEnds(prefix, watchers, self.keys)

    def _within(self, successors: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
        return lambda state: successors(state) if self.keys(state) is None else iter(())

    def shards(self) -> Shard:
        """Return all shard keys that the search found, as one shard in order of discovery. `Shard.split` divides this
        shard.
        """
        return Shard(tuple(self.first_states()), tuple(map(tuple, self.space.exchangeable)))

    def first_states(self) -> Mapping[Hashable, Mapping[int, list[Any]]]:
        """Return the states in which the shard key has just been set, grouped by shard key and then by depth."""
        levels = array("q")
        first: dict[Hashable, dict[int, list[Any]]] = {}
        for state, parent in zip(self.states, self.parents, strict=True):
            levels.append(1 if parent < 0 else levels[parent] + 1)
            key = self.keys(state)
            if key is not None:
                first.setdefault(key, {}).setdefault(levels[-1], []).append(state)
        return first


class _PrefixEnds(Ends):
    """Collects the final states that have no shard key."""

    def __init__(self, space: Space, watchers: Watchers, keys: ShardKeys) -> None:
        super().__init__(space, watchers)
        self.keys = keys

    def see(self, number: int, state: Any) -> None:
        if self.keys(state) is None:
            super().see(number, state)


class ShardSearch(Search):
    """Searches all states of one shard. States in which the shard key has just been set are not counted and checked
    again, because `PrefixSearch` has done so.
    """

    def __init__(
        self, space: Space, watchers: Watchers, bounds: Bounds, progress: Progress | None, keys: Sequence[Hashable]
    ) -> None:
        self.prefix, self.keys = PrefixSearch(space, Watchers(space.system, ()), bounds), keys
        self.prefix.run()
        super().__init__(space, watchers, bounds, progress)
        del self.states[:], self.parents[:]
        self.numbers.clear()
        first_states = self.prefix.first_states()
        for key in keys:
            for level, states in first_states[key].items():
                self.coming.setdefault(level, []).extend(states)
        first = [state for states in self.coming.values() for state in states]
        self.at = self.generated = self.level_end = 0
        self.depth, self.known = min(self.coming) - 1, len(first)
        self.stands_for = -sum(map(space.stands_for, first))

    @property
    def distinct(self) -> int:
        return len(self.states) - self.known

    def run(self) -> str | None:
        stopped = super().run()
        if escaped := self.prefix.keys.escaped(self.states, self.keys):
            raise AssertionError(f"states of the shards {self.keys} lead to the shards {escaped}")
        return stopped

    def chain(self, number: int) -> list[Any]:
        own = super().chain(number)
        return [*self.prefix.chain(self.prefix.numbers[own[0]]), *own[1:]]


def begin(space: Space, watchers: Watchers, bounds: Bounds, progress: Progress | None, shard: Shard | None) -> Search:
    """Return a search of one shard, of the states without a shard key (`shard` is PREFIX), or of all states (`shard` is
    None).
    """
    if shard is None:
        return Search(space, watchers, bounds, progress)
    if shard == PREFIX:
        return PrefixSearch(space, watchers, bounds, progress)
    return ShardSearch(space, watchers, bounds, progress, shard.keys)
