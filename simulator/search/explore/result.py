"""The result of a search, as Python values and as the JSON that `nbcc explore --json` prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .verdict import Verdict, worst


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseResult:
    """The result of a search for one promise (a property that was checked).

    `trace` is the shortest counterexample, and `steps` is its length. `because` describes the violation, or the reason
    why the verdict is UNDETERMINED or NOT_APPLICABLE. If `cycle` is not 0, the last `cycle` steps of the counterexample
    repeat forever.
    """

    name: str
    verdict: Verdict
    because: str | None = None
    trace: tuple[Any, ...] | None = None
    cycle: int = 0

    @property
    def steps(self) -> int | None:
        return None if self.trace is None else len(self.trace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The coverage of a search: the actions, guards and promises that were exercised.

    `actions` counts, for each action, the different values of the components (state variables) it reads for which the
    action was possible. `never_false` contains the pairs (action, guard) whose guard was never the only reason why the
    action was impossible. `untested` contains the promises that were only vacuously true in all visited states.
    """

    actions: dict[str, int]
    never_false: tuple[tuple[str, str], ...]
    untested: tuple[str, ...]

    @property
    def never_taken(self) -> tuple[str, ...]:
        """The actions that were not possible in any visited state."""
        return tuple(name for name, times in self.actions.items() if not times)

    def to_json(self) -> dict[str, Any]:
        """Return the coverage as the JSON object that `explore --json` prints."""
        never = [{"action": action, "condition": reason} for action, reason in self.never_false]
        return {"actions": self.actions, "never_false": never, "untested": list(self.untested)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The statistics and verdicts of a search.

    `distinct` counts distinct states, `generated` counts the initial state and all generated successors, and `depth`
    counts levels; TLC counts likewise. `stopped` is the reason why the search did not visit all states, or None.
    `deadlock` is a run that ends in a state without successors, in which some actor has not finished its operation.
    `ends` counts the states without successors. `ends_at_limit` counts states without successors in which at least one
    actor is stopped only by a limit of the world.
    """

    distinct: int
    generated: int
    depth: int
    seconds: float
    stopped: str | None = None
    promises: dict[str, PromiseResult] = field(default_factory=dict)
    deadlock: tuple[Any, ...] | None = None
    ends: int = 0
    ends_at_limit: int = 0
    canary: bool | None = None
    """Whether the canary was found violated; None: there was none."""
    reductions: tuple[str, ...] = ()
    """The reductions in words. With reductions `distinct` counts canonical states, `stands_for` those of the system."""
    stands_for: int | None = None
    coverage: Coverage | None = None
    reads: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    """The options of the protocol and the rules of reading that the search has used, if they were recorded."""

    @property
    def verdict(self) -> Verdict:
        return worst(promise.verdict for promise in self.promises.values())

    @property
    def bound(self) -> str:
        """A phrase that describes the extent of the search."""
        part = f"stopped: {self.stopped}; " if self.stopped else ""
        whole = f" that stand for {self.stands_for:,}" if self.stands_for else ""
        return f"{part}{self.distinct:,} states{whole}, {self.generated:,} generated, depth {self.depth}"

    def to_json(self, world: str, protocol: str) -> dict[str, Any]:
        """Return the JSON object that `explore --json` prints. A trace is a list of steps with actor, action and
        arguments.
        """
        return {
            "format": 1,
            "world": world,
            "protocol": protocol,
            "distinct": self.distinct,
            "generated": self.generated,
            "depth": self.depth,
            "seconds": round(self.seconds, 3),
            "states_per_second": round(self.generated / self.seconds) if self.seconds > 0 else None,
            "stopped": self.stopped,
            "deadlock": _steps(self.deadlock),
            "ends": self.ends,
            "ends_at_limit": self.ends_at_limit,
            "reductions": list(self.reductions),
            "stands_for": self.stands_for,
            "coverage": self.coverage.to_json() if self.coverage else None,
            "promises": {
                name: {
                    "verdict": str(found.verdict),
                    "bound": self.bound,
                    "steps": found.steps,
                    "trace": _steps(found.trace),
                    "because": found.because,
                    **({"cycle": found.cycle} if found.cycle else {}),
                }
                for name, found in self.promises.items()
            },
        }


def _steps(trace: tuple[Any, ...] | None) -> list[dict[str, Any]] | None:
    if trace is None:
        return None
    return [{"actor": step.actor, "action": step.action, "args": dict(step.args)} for step in trace]
