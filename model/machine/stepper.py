"""The stepper computes the possible steps of each state. A transition is evaluated once for each combination of the
values that it reads.

Each transition has a cache, which maps the values that the transition reads to the resulting steps. A cached step
stores the difference between the encoded successor and the encoded state. A cache hit costs one lookup and one
addition, and calls no function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .bound import BoundGuard, BoundTransition
from .state import Coding, State
from .transition import Step

Moves = tuple[tuple[Step, int], ...]
"""Steps, each with the number that it adds to the state."""


class CompiledGuard(NamedTuple):
    """A condition that refers to components (state variables) by their positions in a state. `memo` caches the result
    of the condition for each combination of component values.

    `memo` is None if the condition reads every component that its transition reads, because the transition's cache is
    then sufficient.
    """

    guard: BoundGuard
    positions: tuple[int, ...]
    mask: int
    memo: dict[State, bool] | None


class Compiled(NamedTuple):
    """A transition that refers to components (state variables) by their positions in a state. `memo` caches the
    possible steps for each combination of component values.

    `own` is the index of the actor's component in a state. `mask` is the bit mask of the components that the transition
    reads or writes.
    """

    transition: BoundTransition
    own: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    mask: int
    memo: dict[State, Moves]
    guards: tuple[CompiledGuard, ...]
    argument_reads: tuple[int, ...]
    effect_reads: tuple[int, ...]

    @classmethod
    def of(cls, row: BoundTransition, coding: Coding) -> Compiled:
        """Compile a transition."""

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


_Candidates = tuple[int, dict[State, Moves], tuple[tuple[int, Compiled], ...]]
"""For one value of an actor's component: the bits that the candidates read, the memo of their steps, the candidates.

A candidate is a transition whose actor guards hold, with the private change that precedes it."""
_Own = tuple[int, int, dict[State, _Candidates]]
"""The position of an actor's component, its mask, and the candidates by its bits."""


class Stepper:
    """Computes the steps of all transitions of a model. Several steppers may share one `Coding` (encoding of states).

    `private` lists the transitions, as pairs (actor, action), that other actors cannot observe. Private steps are
    combined with the next visible step of the same actor, which is sound under the conditions that
    `simulator.search.explore.reduction` checks. `continuations` lists actions that continue a client call. If any of
    these actions is enabled, all other actions are disabled.
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
        """Yield every step that is possible in `state` together with its successor state, in a fixed order."""
        if not self.continuations:
            return self._steps(state)
        every = list(self._steps(state))
        return iter([each for each in every if each[0].action in self.continuations] or every)

    def steps_of(self, own: int, state: State) -> Iterator[tuple[Step, State]]:
        """Yield the steps of one actor, together with their successor states. `own` is the index of the actor's
        component in a state.
        """
        return self._steps(state, [each for each in self._own if each[0] == own])

    @property
    def own(self) -> list[int]:
        """The positions of all components of actors in a state, in the order of their steps."""
        return [own for own, _, _ in self._own]

    def bits_of(self, actor: int, state: State) -> int:
        """Return the bits of a state on which the steps of an actor depend. `actor` is an index of `own`. The result is
        0 if the actor's component alone rules out every step.
        """
        own, bits, by_value = self._own[actor]
        if state & bits not in by_value:
            by_value[state & bits] = self._candidates(own, state & bits)
        return by_value[state & bits][0]

    def moves_of(self, actor: int, state: State) -> Moves:
        """Return the steps of an actor, which the caller keeps. `bits_of` knows the value of the actor's component."""
        _, bits, by_value = self._own[actor]
        return self._run(by_value[state & bits], state)

    def _steps(self, state: State, of: Sequence[_Own] | None = None) -> Iterator[tuple[Step, State]]:
        for own, bits, by_value in of or self._own:
            candidates = by_value.get(state & bits)
            if candidates is None:
                candidates = by_value[state & bits] = self._candidates(own, state & bits)
            mask, memo, _ = candidates
            if mask:
                moves = memo.get(state & mask)
                if moves is None:
                    moves = memo[state & mask] = self._run(candidates, state)
                for step, change in moves:
                    yield step, state + change

    def _candidates(self, own: int, bits: State) -> _Candidates:
        rows = tuple(
            (change, compiled)
            for change in self._private_changes(own, bits)
            for compiled in self._locally_enabled(own, bits + change)
            if (compiled.transition.actor, compiled.transition.action) not in self.private
        )
        mask = 0
        for _, compiled in rows:
            mask |= compiled.mask
        return mask, {}, rows

    def _locally_enabled(self, own: int, bits: State) -> Iterator[Compiled]:
        value = self.coding.value(bits, own)
        return (c for c in self.rows if c.own == own and all(guard.holds(value) for guard in c.transition.actor_guards))

    def _private_changes(self, own: int, bits: State) -> dict[int, tuple[Step, ...]]:
        if bits not in self._changes[own]:
            self._changes[own][bits] = self._reach_privately(own, bits)
        return self._changes[own][bits]

    def _reach_privately(self, own: int, bits: State) -> dict[int, tuple[Step, ...]]:
        changes: dict[int, tuple[Step, ...]] = {0: ()}
        queue = [0] if self.private else []
        while queue:
            change = queue.pop(0)
            for compiled in self._locally_enabled(own, bits + change):
                if (compiled.transition.actor, compiled.transition.action) in self.private:
                    for step, further in self._row(compiled, bits + change):
                        if change + further not in changes:
                            changes[change + further] = (*changes[change], step)
                            queue.append(change + further)
        return changes

    def _run(self, candidates: _Candidates, state: State) -> Moves:
        moves: list[tuple[Step, int]] = []
        for change, compiled in candidates[2]:
            steps = self._row(compiled, state + change)
            moves += [(step, change + further) for step, further in steps] if change else steps
        return tuple(moves)

    def _row(self, compiled: Compiled, state: State) -> Moves:
        footprint = state & compiled.mask
        moves = compiled.memo.get(footprint)
        if moves is None:
            moves = compiled.memo[footprint] = self.moves(compiled, state)
        return moves

    def moves(self, compiled: Compiled, state: State) -> Moves:
        """Return the steps of a transition in a state, computed without the cache."""
        try:
            return tuple(self._effects(compiled, state)) if self._may(compiled, state) else ()
        except Exception as error:  # an author of a mechanism must know whose guard or effect failed
            error.add_note(f"in {compiled.transition.action} of {compiled.transition.actor}")
            raise

    def _may(self, compiled: Compiled, state: State) -> bool:
        read = self.coding.read
        for guard, positions, mask, memo in compiled.guards:
            if memo is None:
                holds = bool(guard.holds(*read(state, positions)))
            else:
                footprint = state & mask
                result = memo.get(footprint)
                holds = memo[footprint] = bool(guard.holds(*read(state, positions))) if result is None else result
            if not holds:
                return False
        return True

    def _effects(self, compiled: Compiled, state: State) -> Iterator[tuple[Step, int]]:
        coding, row = self.coding, compiled.transition
        values = coding.read(state, compiled.effect_reads)
        for args in row.arguments.call(*coding.read(state, compiled.argument_reads)):
            after = state
            for name, value in row.effect.call(*values, **dict(args)).items():
                after = coding.put(after, coding.place[name], value)
            yield Step(row.actor, row.action, args), after - state

    def private_runs(self, state: State) -> Iterator[dict[int, tuple[Step, ...]]]:
        """For each actor, yield the changes that its private steps can make in `state`, each with these steps."""
        for own, bits, _ in self._own:
            yield self._private_changes(own, state & bits)
