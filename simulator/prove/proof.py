"""The proof of a protocol: every obligation of every file of lemmas, and the verdict of each promise.

A promise is PROVED if every obligation on which it rests is proved. A failed obligation has a counterexample to
induction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from nbcc.model import Protocol

from .lemmas import LEMMAS, Lemmas
from .obligations import Answer, Result, discharge, obligations
from .reachable import Run, search
from .system import System


@dataclass(frozen=True)
class Part:
    """The results of one file of lemmas. `reason`: why it does not describe the protocol; "" if it does."""

    lemmas: Lemmas
    results: tuple[Result, ...] = ()
    reason: str = ""
    system: System | None = None
    runs: tuple[Run, ...] = ()
    searched: bool = False

    @property
    def clauses(self) -> int:
        return len(self.system.clauses) if self.system else 0

    @property
    def seconds(self) -> float:
        return sum(result.seconds for result in self.results)

    @property
    def promises(self) -> dict[str, Answer]:
        """The promises whose obligations were discharged, each with its verdict; all promises if none could be."""
        asked = {result.obligation.clause for result in self.results if result.obligation.kind == "implied"}
        names = dict.fromkeys(claim.promise for claim in self.lemmas.system().claims)
        return {name: self._verdict(name) for name in names if name in asked or self.reason}

    def _verdict(self, promise: str) -> Answer:
        """FAILED: the clauses do not imply it, or a reachable run breaks it. UNDETERMINED: a clause is not proved."""
        if any(run.promise == promise for run in self.runs):
            return "FAILED"
        if self.reason:
            return "UNDETERMINED"
        answers = {(result.obligation.kind == "implied", result.answer)
                   for result in self.results if _supports(result, promise)}  # fmt: skip
        if (True, "FAILED") in answers:
            return "FAILED"
        return "PROVED" if {answer for _, answer in answers} <= {"PROVED"} else "UNDETERMINED"

    def with_runs(self, protocol: Protocol, shown: frozenset[str]) -> Part:
        """With the runs of the model that break a promise; `shown`: failed obligations of earlier files."""
        failed = {result.obligation.name for result in self.open() if result.answer == "FAILED"}
        if not failed - shown:
            return self
        return replace(self, runs=search(self.lemmas.search, protocol, self.promises), searched=True)

    def open(self) -> Iterator[Result]:
        """The obligations that are not proved."""
        return (result for result in self.results if result.answer != "PROVED")


def _supports(result: Result, promise: str) -> bool:
    """Every clause supports every promise of its file; another promise does not."""
    return result.obligation.kind != "implied" or result.obligation.clause == promise


@dataclass(frozen=True)
class Proof:
    """All parts, for one protocol."""

    protocol: str
    parts: tuple[Part, ...] = field(default_factory=tuple)

    @property
    def promises(self) -> dict[str, tuple[Answer, str]]:
        """Promise -> its verdict and the file of lemmas that decides it."""
        return {name: (answer, part.lemmas.name) for part in self.parts for name, answer in part.promises.items()}

    @property
    def answer(self) -> Answer:
        answers = {result.answer for part in self.parts for result in part.results}
        if "FAILED" in answers:
            return "FAILED"
        return "UNDETERMINED" if "UNDETERMINED" in answers or any(part.reason for part in self.parts) else "PROVED"


def prove(
    name: str, protocol: Protocol, promises: Iterable[str] = (),
    progress: Callable[[Lemmas, Result], None] = lambda _lemmas, _result: None,
) -> Proof:  # fmt: skip
    """Discharge every obligation under a protocol; with `promises`, of the lemmas that imply one of them."""
    wanted = set(promises)
    parts: list[Part] = []
    for lemmas in LEMMAS:
        if wanted and not wanted & {claim.promise for claim in lemmas.system().claims}:
            continue
        system, reason = lemmas.under(protocol.to_mapping())
        if system is None:
            parts.append(Part(lemmas, reason=reason))
            continue
        results = []
        for obligation in obligations(system):
            if wanted and obligation.kind == "implied" and obligation.clause not in wanted:
                continue
            results.append(discharge(obligation))
            progress(lemmas, results[-1])
        shown = frozenset(result.obligation.name for part in parts for result in part.open())
        parts.append(Part(lemmas, tuple(results), system=system).with_runs(protocol, shown))
    return Proof(name, tuple(parts))
