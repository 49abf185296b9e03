"""Transitions run once per distinct footprint.

A transition remembers its steps under the fields that it reads, as differences to add to a state. A step that was found
before with the same footprint costs one lookup and one addition, and calls no function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .bound import BoundGuard, BoundTransition
from .state import Coding, State
from .transition import Step

Moves = tuple[tuple[Step, int], ...]
"""Steps, each with the difference that it adds to the state."""


class CompiledGuard(NamedTuple):
    """A condition with its components as positions; `known` remembers by their bits whether it holds.

    `known` is None if the condition reads as much as its transition, whose own memo then makes another one useless.
    """

    guard: BoundGuard
    positions: tuple[int, ...]
    mask: int
    known: dict[State, bool] | None


class Compiled(NamedTuple):
    """A transition with its components as positions; `found` remembers by their bits the steps that are possible."""

    transition: BoundTransition
    own: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    mask: int
    found: dict[State, Moves]
    guards: tuple[CompiledGuard, ...]
    argument_reads: tuple[int, ...]
    effect_reads: tuple[int, ...]

    @classmethod
    def of(cls, row: BoundTransition, coding: Coding) -> Compiled:
        """A transition that has found nothing yet."""

        def positions(names: Iterable[str]) -> tuple[int, ...]:
            return tuple(coding.place[name] for name in names)

        reads, writes = positions(row.reads), positions(row.writes)
        mask = coding.mask((*reads, *writes))
        guards = []
        for guard in row.guards:
            bits = coding.mask(positions(guard.reads))
            guards.append(CompiledGuard(guard, positions(guard.reads), bits, None if bits == mask else {}))
        more = positions(row.arguments.reads), positions(row.effect.reads)
        return cls(row, coding.place[row.component], reads, writes, mask, {}, tuple(guards), *more)


_Awake = tuple[int, dict[State, Moves], tuple[tuple[int, Compiled], ...]]
"""For one value of an actor's component: the bits that its enabled transitions read, the steps found by these bits, and
the transitions (each with the private change that precedes it)."""
_Own = tuple[int, int, dict[State, _Awake]]


class Stepper:
    """All transitions of a model, ready to run. Several steppers may share one coding.

    `private`: transitions, as (actor, action), that are never a step of their own. Any number of them that an actor can
    take happens together with its next other step (`simulator.explore.reduction` says when that is sound).
    `joins`: actions that continue an operation of their actor. If one of them is possible, no other action is.
    """

    def __init__(
        self,
        coding: Coding,
        rows: Iterable[BoundTransition],
        private: frozenset[tuple[str, str]] = frozenset(),
        continuations: frozenset[str] = frozenset(),
    ) -> None:
        self.coding = coding
        self.rows = tuple(Compiled.of(row, coding) for row in rows)
        self.private = private
        self.continuations = continuations
        self._own: list[_Own] = [
            (own, coding.mask((own,)), {}) for own in dict.fromkeys(compiled.own for compiled in self.rows)
        ]
        self._changes: dict[int, dict[State, dict[int, tuple[Step, ...]]]] = {own: {} for own, _, _ in self._own}

    def successors(self, state: State) -> Iterator[tuple[Step, State]]:
        """Every step that can happen now with the state after it, always in the same order."""
        if not self.continuations:
            return self._awake_steps(state)
        every = list(self._awake_steps(state))
        return iter([found for found in every if found[0].action in self.continuations] or every)

    def steps_of(self, own: int, state: State) -> Iterator[tuple[Step, State]]:
        """The steps of one actor, whose component has the position `own`."""
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
            if (compiled.transition.actor, compiled.transition.action) not in self.private
        )
        mask = 0
        for _, compiled in rows:
            mask |= compiled.mask
        return mask, {}, rows

    def _rows_awake(self, own: int, bits: State) -> Iterator[Compiled]:
        value = self.coding.value(bits, own)
        return (c for c in self.rows if c.own == own and all(guard.holds(value) for guard in c.transition.actor_guards))

    def _private_changes(self, own: int, bits: State) -> dict[int, tuple[Step, ...]]:
        """Changes of the own component, each with the private steps that lead to it; always the empty one."""
        if bits not in self._changes[own]:
            self._changes[own][bits] = self._walked(own, bits)
        return self._changes[own][bits]

    def _walked(self, own: int, bits: State) -> dict[int, tuple[Step, ...]]:
        changes: dict[int, tuple[Step, ...]] = {0: ()}
        queue = [0] if self.private else []
        while queue:
            change = queue.pop(0)
            for compiled in self._rows_awake(own, bits + change):
                if (compiled.transition.actor, compiled.transition.action) in self.private:
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
            moves = found[footprint] = self.moves(compiled, state)
        return moves

    def moves(self, compiled: Compiled, state: State) -> Moves:
        """The steps of a transition in a state, computed and not looked up."""
        return tuple(self._effects(compiled, state)) if self._may(compiled, state) else ()

    def _may(self, compiled: Compiled, state: State) -> bool:
        """Whether every condition holds that reads more than the actor's own component."""
        read = self.coding.read
        for guard, positions, mask, known in compiled.guards:
            if known is None:
                holds = bool(guard.holds(*read(state, positions)))
            else:
                footprint = state & mask
                found = known.get(footprint)
                holds = known[footprint] = bool(guard.holds(*read(state, positions))) if found is None else found
            if not holds:
                return False
        return True

    def _effects(self, compiled: Compiled, state: State) -> Iterator[tuple[Step, int]]:
        """The steps of a transition whose conditions hold."""
        coding, row = self.coding, compiled.transition
        values = coding.read(state, compiled.effect_reads)
        for args in row.arguments.call(*coding.read(state, compiled.argument_reads)):
            after = state
            for name, value in row.effect.call(*values, **dict(args)).items():
                after = coding.put(after, coding.place[name], value)
            yield Step(row.actor, row.action, args), after - state

    def private_runs(self, state: State) -> Iterator[tuple[int, dict[int, tuple[Step, ...]]]]:
        """Each actor's component (its position) with the private changes that are possible now and their steps."""
        for own, bits, _ in self._own:
            yield own, self._private_changes(own, state & bits)
