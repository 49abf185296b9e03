"""The proof of a protocol (a set of options): the result of every proof obligation, and the verdict on each promise.

A promise is PROVED if every obligation that it depends on is proved, and if its formula was compared with the promise
of the model and covers all of it; otherwise it is PROVED IN PART. If an obligation fails, z3 returns a counterexample
to induction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from nbcc.model import Protocol

from .evidence import missing, stale
from .lemmas import LEMMAS, Lemmas
from .obligations import Answer, Obligation, ObligationResult, discharge, obligations
from .reachable import BreakingRun, search
from .system import ProvedSystem


@dataclass(frozen=True)
class LemmaVerdict:
    """The results of one lemma module. `reason` explains why the module does not apply to the protocol, or is "" if it
    applies. `wanted` contains the promises that were asked for, or is empty for all promises.
    """

    lemmas: Lemmas
    results: tuple[ObligationResult, ...] = ()
    reason: str = ""
    system: ProvedSystem | None = None
    runs: tuple[BreakingRun, ...] = ()
    searched: bool = False
    wanted: frozenset[str] = frozenset()
    stale: tuple[str, ...] = ()
    """What has changed since the relation was compared with the model."""

    @property
    def clauses(self) -> int:
        return len(self.system.clauses) if self.system else 0

    @property
    def seconds(self) -> float:
        return sum(result.seconds for result in self.results)

    @property
    def promises(self) -> dict[str, Answer]:
        """Return the verdict on each promise whose obligations were checked. If the lemma module does not apply to the
        protocol, all wanted promises are UNDETERMINED.
        """
        asked = {result.obligation.clause for result in self.results if result.obligation.kind == "implied"}
        names = dict.fromkeys(claim.promise for claim in self.lemmas.system().claims)
        if self.reason:
            asked = set(self.wanted or names)
        return {name: self._verdict(name) for name in names if name in asked}

    def _verdict(self, promise: str) -> Answer:
        """Return FAILED if the clauses do not imply the promise, or if a run of the model violates the promise. Return
        UNDETERMINED if a clause on which the promise depends is not proved.
        """
        if any(run.promise == promise for run in self.runs):
            return "FAILED"
        if self.system is None:
            return "UNDETERMINED"
        rests_on = [result for result in self.results if supports(self.system, result.obligation, {promise})]
        if any(result.obligation.kind == "implied" and result.answer == "FAILED" for result in rests_on):
            return "FAILED"
        if any(result.answer != "PROVED" for result in rests_on):
            return "UNDETERMINED"
        return "PROVED IN PART" if self.missing(promise) else "PROVED"

    def missing(self, promise: str) -> tuple[str, ...]:
        """Return what the formulas of the relation leave out of the promise: one phrase for each part."""
        return (*self.stale, *missing((self.lemmas,), promise))

    def with_runs(self, protocol: Protocol, shown: frozenset[str]) -> LemmaVerdict:
        """If any obligation outside `shown` fails, search for runs that violate a promise, and add these runs to the
        result.

        `shown` contains the obligations that are already reported for earlier lemma modules.
        """
        failed = {result.obligation.name for result in self.open() if result.answer == "FAILED"}
        if not failed - shown:
            return self
        return replace(self, runs=search(self.lemmas.search, protocol, self.promises), searched=True)

    def open(self) -> Iterator[ObligationResult]:
        return (result for result in self.results if result.answer != "PROVED")


def supports(system: ProvedSystem, obligation: Obligation, promises: Collection[str]) -> bool:
    """True if at least one of the promises depends on the obligation."""
    if obligation.kind == "implied":
        return obligation.clause in promises
    return obligation.kind == "possible" or any(obligation.clause in system.support(name) for name in promises)


class ProofVerdict(NamedTuple):
    """The verdict on a promise, and the verdicts of the individual lemma modules.

    A lemma module that does not apply to the protocol is UNDETERMINED, and does not affect the verdict on the promise.
    `missing` is what a promise that is PROVED IN PART leaves out.
    """

    answer: Answer
    lemmas: dict[str, Answer]
    missing: tuple[str, ...] = ()

    @property
    def deciding(self) -> tuple[str, ...]:
        """The lemma modules that determine the overall verdict on the promise."""
        return tuple(name for name, answer in self.lemmas.items() if answer == self.answer)


@dataclass(frozen=True)
class Proof:
    """The proof of one protocol, with a part for each lemma module."""

    protocol: str
    parts: tuple[LemmaVerdict, ...] = field(default_factory=tuple)

    @property
    def promises(self) -> dict[str, ProofVerdict]:
        names = dict.fromkeys(name for part in self.parts for name in part.promises)
        return {name: self._verdict(name) for name in names}

    def _verdict(self, promise: str) -> ProofVerdict:
        parts = [part for part in self.parts if promise in part.promises]
        deciding = {part.promises[promise] for part in parts if not part.reason} or {"UNDETERMINED"}
        answer = worst(deciding)
        applies = [part for part in parts if not part.reason]
        changed = (each for part in applies for each in part.stale)
        gaps = (*changed, *missing([part.lemmas for part in applies], promise))
        each = {part.lemmas.name: part.promises[promise] for part in parts}
        return ProofVerdict(answer, each, gaps if answer == "PROVED IN PART" else ())

    @property
    def answer(self) -> Answer:
        """The overall answer: FAILED if any obligation fails, even if all promises hold."""
        answers = {result.answer for part in self.parts for result in part.results}
        return worst(answers | {verdict.answer for verdict in self.promises.values()})


def worst(answers: Collection[Answer]) -> Answer:
    gravest: tuple[Answer, ...] = ("FAILED", "UNDETERMINED", "PROVED IN PART")
    return next((answer for answer in gravest if answer in answers), "PROVED")


def prove(
    name: str, protocol: Protocol, promises: Iterable[str] = (),
    progress: Callable[[Lemmas, ObligationResult], None] = lambda _lemmas, _result: None,
) -> Proof:  # fmt: skip
    """Discharge all obligations under a protocol, or only those on which one of `promises` depends."""
    wanted = set(promises)
    parts: list[LemmaVerdict] = []
    for lemmas in LEMMAS:
        if wanted and not wanted & {claim.promise for claim in lemmas.system().claims}:
            continue
        system, reason = lemmas.under(protocol.to_mapping())
        if system is None:
            parts.append(LemmaVerdict(lemmas, reason=reason, wanted=frozenset(wanted)))
            continue
        results = []
        for obligation in obligations(system):
            if not wanted or supports(system, obligation, wanted):
                results.append(discharge(obligation))
                progress(lemmas, results[-1])
        shown = frozenset(result.obligation.name for part in parts for result in part.open())
        part = LemmaVerdict(lemmas, tuple(results), system=system, stale=stale(lemmas))
        parts.append(part.with_runs(protocol, shown))
    return Proof(name, tuple(parts))
