"""States as one number each, and rows run once per distinct footprint.

Every value that a component takes is numbered as it turns up; a state is the numbers side by side, each in a field of
`WIDTH` bits. What a row finds is remembered under the fields that it reads, as differences to add to a state: a step
that was seen before in another place costs a lookup and an addition. Numbers mean nothing to another `Coding`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .step import Guard, Row, Step

State = int
WIDTH = 24
"""Bits of a field; a component that takes more values than fit has filled any memory long before."""
_FIELD = (1 << WIDTH) - 1
Moves = tuple[tuple[Step, int], ...]


class Hidden(LookupError):
    """Somebody looks at a component of a state that was given to him without it."""


class Coding:
    """The values that components have taken. `first` maps component name -> first value, which has the number 0.

    `alike` are components whose values are of one kind (the writers): they share their numbers where the first values
    are equal, so that one can be put in the place of another.
    """

    def __init__(self, first: Mapping[str, Any], alike: Iterable[Sequence[str]] = ()) -> None:
        self.names = tuple(first)
        self.place = {name: position for position, name in enumerate(self.names)}
        leader: dict[str, str] = {}
        for names in alike:
            leader.update((name, names[0]) for name in names if first[name] == first[names[0]])
        tables: dict[str, tuple[list[Any], dict[Any, int]]] = {}
        self._tables = [tables.setdefault(leader.get(n, n), ([value], {value: 0})) for n, value in first.items()]

    def number(self, position: int, value: Any) -> int:
        """The number of a value of a component, a new one if it turns up for the first time."""
        values, numbers = self._tables[position]
        found = numbers.get(value)
        if found is None:
            found = numbers[value] = len(values)
            if found >= _FIELD:
                raise OverflowError(f"{self.names[position]} takes more than {_FIELD:,} values")
            values.append(value)
        return found

    def value(self, state: State, position: int) -> Any:
        """What a component holds; Hidden, if it is (see `hiding`)."""
        try:
            return self._tables[position][0][state >> position * WIDTH & _FIELD]
        except IndexError:
            raise Hidden(f"{self.names[position]} is hidden: who looks at it has to declare it") from None

    def read(self, state: State, positions: Iterable[int]) -> list[Any]:
        """What several components hold."""
        try:
            return [self._tables[p][0][state >> p * WIDTH & _FIELD] for p in positions]
        except IndexError:
            return [self.value(state, p) for p in positions]

    def mask(self, positions: Iterable[int]) -> int:
        """The bits of some components."""
        return sum(_FIELD << position * WIDTH for position in set(positions))

    def put(self, state: State, position: int, value: Any) -> State:
        """The state in which one component holds another value."""
        new, old = self.number(position, value), state >> position * WIDTH & _FIELD
        return state + (new - old << position * WIDTH)

    def hiding(self, names: Iterable[str]) -> State:
        """Bits that hide all but these components of a state that has nothing but them: who reads another fails."""
        return self.mask(range(len(self.names))) - self.mask(self.place[name] for name in names)

    def projection(self, names: Iterable[str]) -> Callable[[State], Hashable]:
        """A function of a state: equal exactly where the values of these components are."""
        return self.mask(self.place[name] for name in names).__and__

    def values(self, position: int) -> Sequence[Any]:
        """The values that a component, or one of its kind, has taken."""
        return self._tables[position][0]

    def dump(self) -> list[list[Any]]:
        """The values of every component by number, for a checkpoint."""
        return [values for values, _ in self._tables]

    def load(self, dumped: Sequence[Sequence[Any]]) -> None:
        """Take over the numbers of another coding of the same components."""
        for (values, numbers), others in zip(self._tables, dumped, strict=True):
            values[:] = others
            numbers.clear()
            numbers.update((value, number) for number, value in enumerate(values))


class ByName(Mapping[str, Any]):
    """What the components of a state hold; each is looked at when it is asked for."""

    def __init__(self, coding: Coding, state: State) -> None:
        self.coding, self.state = coding, state

    def __getitem__(self, name: str) -> Any:
        return self.coding.value(self.state, self.coding.place[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.coding.names)

    def __len__(self) -> int:
        return len(self.coding.names)


_Narrow = tuple[Guard, int, dict[State, bool]]
"""A condition that rests on few components: their bits, and by these whether it holds."""


class Compiled(NamedTuple):
    """A row with its components as positions, and per footprint what it found."""

    row: Row
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    mask: int
    found: dict[State, Moves]
    narrow: tuple[_Narrow, ...]

    @classmethod
    def of(cls, row: Row, coding: Coding) -> Compiled:
        """A row that has found nothing yet."""
        reads, writes = (tuple(coding.place[name] for name in names) for names in (row.reads, row.writes))
        few = [guard for guard in row.guards if guard.rests_on]
        narrow = tuple[_Narrow, ...]((g, coding.mask(coding.place[name] for name in g.rests_on), {}) for g in few)
        return cls(row, reads, writes, coding.mask((*reads, *writes)), {}, narrow)


_Awake = tuple[int, dict[State, Moves], tuple[tuple[int, Compiled], ...]]
"""Of one value of an own component: the bits that its rows read, what they found there, and the rows (each after a
private change)."""
_Own = tuple[int, int, dict[State, _Awake]]


class Stepper:
    """The rows of a table of actions, ready to run. Several may share one coding.

    `private` are rows, as (actor, action), that are never a step of their own: whatever number of them an actor can
    take happens together with its next other step (see `simulator.explore.reduction` for when that may be done).
    `joins` are actions that go on with what their actor has begun: where one can happen, nothing else can.
    """

    def __init__(
        self,
        coding: Coding,
        rows: Iterable[Row],
        private: frozenset[tuple[str, str]] = frozenset(),
        joins: frozenset[str] = frozenset(),
    ) -> None:
        self.coding = coding
        self.rows = tuple(Compiled.of(row, coding) for row in rows)
        self.private = private
        self.joins = joins
        # Per own component: its bits, and per value of it who is awake: the bits they read, and what they found there.
        self._own: list[_Own] = [
            (own, coding.mask((own,)), {}) for own in dict.fromkeys(compiled.reads[0] for compiled in self.rows)
        ]
        self._changes: dict[int, dict[State, dict[int, tuple[Step, ...]]]] = {own: {} for own, _, _ in self._own}

    def successors(self, state: State) -> Iterator[tuple[Step, State]]:
        """Every step that can happen now with the state after it, always in the same order."""
        if not self.joins:
            return self._awake_steps(state)
        every = list(self._awake_steps(state))
        return iter([found for found in every if found[0].action in self.joins] or every)

    def steps_of(self, own: int, state: State) -> Iterator[tuple[Step, State]]:
        """Those of one component's own rows alone: of an actor, for who knows whose turn it is."""
        return self._awake_steps(state, [each for each in self._own if each[0] == own])

    def _awake_steps(self, state: State, of: Sequence[_Own] | None = None) -> Iterator[tuple[Step, State]]:
        for own, bits, awake in of or self._own:
            mine = awake.get(state & bits)
            if mine is None:
                mine = awake[state & bits] = self._wake(own, state & bits)
            mask, found, _ = mine
            if mask:
                moves = found.get(state & mask)
                if moves is None:
                    moves = found[state & mask] = self._run(mine, state)
                for step, change in moves:
                    yield step, state + change

    def _wake(self, own: int, bits: State) -> _Awake:
        rows = tuple(
            (change, compiled)
            for change in self._private_changes(own, bits)
            for compiled in self._rows_awake(own, bits + change)
            if (compiled.row.actor, compiled.row.action) not in self.private
        )
        mask = 0
        for _, compiled in rows:
            mask |= compiled.mask
        return mask, {}, rows

    def _rows_awake(self, own: int, bits: State) -> Iterator[Compiled]:
        value = self.coding.value(bits, own)
        return (c for c in self.rows if c.reads[0] == own and all(guard.holds(value) for guard in c.row.own))

    def _private_changes(self, own: int, bits: State) -> dict[int, tuple[Step, ...]]:
        """Change of the own component -> the private steps that lead there; without any: no change, no steps."""
        if bits not in self._changes[own]:
            self._changes[own][bits] = self._walked(own, bits)
        return self._changes[own][bits]

    def _walked(self, own: int, bits: State) -> dict[int, tuple[Step, ...]]:
        changes: dict[int, tuple[Step, ...]] = {0: ()}
        queue = [0] if self.private else []
        while queue:
            change = queue.pop(0)
            for compiled in self._rows_awake(own, bits + change):
                if (compiled.row.actor, compiled.row.action) in self.private:
                    for step, further in self._row(compiled, bits + change):
                        if change + further not in changes:
                            changes[change + further] = (*changes[change], step)
                            queue.append(change + further)
        return changes

    def _run(self, mine: _Awake, state: State) -> Moves:
        moves: list[tuple[Step, int]] = []
        for change, compiled in mine[2]:
            found = self._row(compiled, state + change)
            moves += [(step, change + further) for step, further in found] if change else found
        return tuple(moves)

    def _row(self, compiled: Compiled, state: State) -> Moves:
        found = compiled.found
        footprint = state & compiled.mask
        moves = found.get(footprint)
        if moves is None:
            moves = found[footprint] = tuple(self._effects(compiled, state)) if self._may(compiled, state) else ()
        return moves

    def _may(self, compiled: Compiled, state: State) -> bool:
        """Whether the conditions hold that rest on few components."""
        for guard, mask, known in compiled.narrow:
            holds = known.get(state & mask)
            if holds is None:
                holds = known[state & mask] = guard.holds(*self.coding.read(state, compiled.reads))
            if not holds:
                return False
        return True

    def _effects(self, compiled: Compiled, state: State) -> Iterator[tuple[Step, int]]:
        row = compiled.row
        values = self.coding.read(state, compiled.reads)
        for guard in row.guards:
            if not guard.holds(*values):
                return
        for args in row.choices(*values):
            effect = row.effect(*values, **dict(args))
            after = state
            for position, value in zip(compiled.writes, effect, strict=True):
                after = self.coding.put(after, position, value)
            yield Step(row.actor, row.action, args), after - state

    def private_runs(self, state: State) -> Iterator[tuple[int, dict[int, tuple[Step, ...]]]]:
        """Per own component the private changes that could happen now, each with its steps."""
        for own, bits, _ in self._own:
            yield own, self._private_changes(own, state & bits)
