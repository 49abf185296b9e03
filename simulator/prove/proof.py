"""The proof of a protocol: every obligation of every file of lemmas, and the verdict of each promise.

A promise is PROVED if every obligation on which it rests is proved. A failed obligation has a counterexample to
induction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .lemmas import LEMMAS, Lemmas
from .obligations import Answer, Result, discharge, obligations


@dataclass(frozen=True)
class Part:
    """The results of one file of lemmas. `reason`: why it does not describe the protocol; "" if it does."""

    lemmas: Lemmas
    results: tuple[Result, ...] = ()
    reason: str = ""
    clauses: int = 0

    @property
    def seconds(self) -> float:
        return sum(result.seconds for result in self.results)

    @property
    def promises(self) -> dict[str, Answer]:
        """The promises that these lemmas imply, each with its verdict."""
        system = self.lemmas.system()
        return {claim.promise: self._verdict(claim.promise) for claim in system.claims}

    def _verdict(self, promise: str) -> Answer:
        if self.reason:
            return "UNDETERMINED"
        answers = {result.answer for result in self.results if _supports(result, promise)}
        return next((answer for answer in ("FAILED", "UNDETERMINED") if answer in answers), "PROVED")

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
    protocol: str, options: Mapping[str, Any], promises: Iterable[str] = (),
    progress: Callable[[Lemmas, Result], None] = lambda _lemmas, _result: None,
) -> Proof:  # fmt: skip
    """Discharge every obligation under a protocol; with `promises`, of the lemmas that imply one of them."""
    wanted = set(promises)
    parts = []
    for lemmas in LEMMAS:
        if wanted and not wanted & {claim.promise for claim in lemmas.system().claims}:
            continue
        system, reason = lemmas.under(options)
        if system is None:
            parts.append(Part(lemmas, reason=reason))
            continue
        results = []
        for obligation in obligations(system):
            if wanted and obligation.kind == "implied" and obligation.clause not in wanted:
                continue
            results.append(discharge(obligation))
            progress(lemmas, results[-1])
        parts.append(Part(lemmas, tuple(results), clauses=len(system.clauses)))
    return Proof(protocol, tuple(parts))
