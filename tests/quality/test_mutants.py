"""Each mutant is seen by the check; without it the same histories agree. The harness has mutants, too."""

from __future__ import annotations

import inspect
import os
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from operator import attrgetter
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from nbcc.model.promises import PROMISES
from nbcc.simulator import mutants
from nbcc.simulator.crosscheck.check import CheckOptions, run
from nbcc.simulator.crosscheck.mutated import options_of
from nbcc.simulator.systems.registry import factory
from tests.builders import by_day

ALL = {name: mutants.load(name) for name in mutants.names()}
VARIANTS = sorted(name for name, mutant in ALL.items() if mutant.detector == "check")
HARNESS = sorted(name for name, mutant in ALL.items() if mutant.detector == "test")
OLDEST = {
    "compaction-drops-log",
    "incremental-by-requested-time",
    "log-by-requested-time",
    "plan-takes-inflight-log",
    "planner-lists-after-unlock",
    "snapshot-with-uncompleted-write",
    "time-outside-lock",
}  # by day these are seen with five seeds and the others with two; in `make nightly` all are seen with every seed
NIGHTLY = os.environ.get("NBCC_BUDGET") == "nightly"
SEEDS = range(20)
MORE = SEEDS if NIGHTLY else range(5)
FEWER = SEEDS if NIGHTLY else range(2)
MOST = 50  # histories until a variant must be seen, each drawn for itself
RARE = {"restore-plan-takes-no-number": 200, "decision-left-unpublished": 200, "archive-reads-its-last-two-files": 200}
"""Mutants that few histories reach. An archive of three files: an archiver must run three times (seen after 19 to 174
histories in seeds 0 to 3). A restore's plan: locks can be lost at three steps before its decision. A decision
that is left unpublished: an actor must crash between its decision and its publication (seen after 12 to 50 histories in
seeds 0 to 5)."""
AT_NIGHT = {"archive-reads-its-last-two-files"}
"""Mutants that only `make nightly` checks, because it takes long to see them."""
ROOT = Path(__file__).parents[2]


def alone() -> CheckOptions:
    """The engine without other readers: they would only slow the search down."""
    return CheckOptions(factory("engine"), readers=())


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly if name in AT_NIGHT else ()) for name in VARIANTS]
)
def test_a_broken_variant_is_seen_in_every_seed(name: str) -> None:
    setting = options_of(ALL[name], alone())
    with mutants.applied(ALL[name]):
        for seed in MORE if name in OLDEST else FEWER:
            report = run(setting, examples=RARE.get(name, MOST), seed=seed, shrinks=False)
            assert report.disagreement is not None, (
                f"{name} was not seen with seed {seed} in {report.histories} histories"
            )


@pytest.mark.parametrize("seed", [pytest.param(n, marks=pytest.mark.nightly if n else ()) for n in SEEDS])
def test_the_unbroken_engine_agrees_in_the_same_histories(seed: int) -> None:
    report = run(alone(), examples=MOST, seed=seed, shrinks=False)
    assert report.disagreement is None, report.text


@pytest.mark.parametrize("name", sorted(name for name, mutant in ALL.items() if mutant.replace))
def test_a_replacement_takes_the_arguments_of_what_it_replaces(name: str) -> None:
    """One that cannot be called at all is seen by any check, and shows nothing."""

    def there() -> Any:
        module, _, path = ALL[name].replace.partition(":")
        return attrgetter(path)(resolve_name(module))

    original = there()
    given = inspect.signature(original).parameters.values() if callable(original) else ()
    words = {each.name: None for each in given if each.kind is each.KEYWORD_ONLY}
    with mutants.applied(ALL[name]):
        assert callable(there()) == callable(original)
        if callable(original):
            inspect.signature(there()).bind(*(None for each in given if each.name not in words), **words)


def test_at_least_six_variants_of_which_three_in_the_engine() -> None:
    assert len(VARIANTS) >= 7
    assert sum(ALL[name].target == "engine" for name in VARIANTS) >= 4
    assert {ALL[name].breaks for name in VARIANTS} - {"the mapping"} <= set(PROMISES)


def test_the_listing_after_the_unlock_is_seen_by_footprints_alone() -> None:
    with mutants.applied(ALL["planner-lists-after-unlock"]):
        report = run(alone(), examples=MOST, seed=0)
    assert report.disagreement is not None
    assert "segments that are not atomic" in report.disagreement.because
    assert "comes after lock.release" in report.disagreement.because


@pytest.mark.parametrize("name", by_day.one_of(6, HARNESS))
def test_a_mutant_of_the_harness_turns_its_test_red(name: str) -> None:
    named = ALL[name].test
    assert (ROOT / named.partition("::")[0]).is_file()
    assert _passes(named), f"{named} is red without any mutant"
    with mutants.applied(ALL[name]):
        assert not _passes(named), f"{named} is green under {name}"


def _passes(test: str) -> bool:
    """Run a test in this process, where the mutant is."""
    said = StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = pytest.main(
            [str(ROOT / test), "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", f"--rootdir={ROOT}"]
        )
    assert code in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}, said.getvalue()
    return code == pytest.ExitCode.OK


def test_a_mutant_file_that_is_wrong_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"no mutant is called 'nothing'; .*nbcc list mutants"):
        mutants.load("nothing")
