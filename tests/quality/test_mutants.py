"""Each mutant is seen by the check; without it the same histories agree. The harness has mutants, too."""

from __future__ import annotations

import inspect
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from operator import attrgetter
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from nbcc.model.promises import PROMISES
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.search import mutants
from tests.builders import by_day
from tools.mutated import options_of

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
SEEDS = range(20)
MORE, FEWER = range(by_day.amount(5, 20)), range(by_day.amount(2, 20))
MOST = 50  # histories in which the unbroken engine agrees
ROOT = Path(__file__).parents[2]


def alone() -> CheckOptions:
    """The engine without other readers: they would only slow the search down."""
    return CheckOptions(factory("engine"), readers=())


@pytest.mark.parametrize("name", VARIANTS)
def test_a_broken_variant_is_seen_in_every_seed(name: str) -> None:
    setting = options_of(ALL[name], alone())
    with mutants.applied(ALL[name]):
        for seed in MORE if name in OLDEST else FEWER:
            report = run(setting, examples=ALL[name].histories, seed=seed, shrinks=False)
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


@pytest.mark.parametrize("name", by_day.one_of(12, HARNESS))
def test_a_mutant_of_the_harness_turns_its_test_red(name: str) -> None:
    named = ALL[name].test
    assert (ROOT / named.partition("::")[0]).is_file()
    if by_day.NIGHTLY:  # by day the test itself shows this, in the same run
        assert _passes(named), f"{named} is red without any mutant"
    with mutants.applied(ALL[name]):
        assert not _passes(named), f"{named} is green under {name}"


def _passes(test: str) -> bool:
    """Run a test in this process, where the mutant is."""
    output = StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        code = pytest.main(
            [str(ROOT / test), "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", f"--rootdir={ROOT}"]
        )
    if code == pytest.ExitCode.NO_TESTS_COLLECTED and not by_day.NIGHTLY:
        pytest.skip(f"{test} runs at night")
    assert code in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}, output.getvalue()
    return code == pytest.ExitCode.OK


def test_a_mutant_file_that_is_wrong_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"no mutant is called 'nothing'; .*nbcc list mutants"):
        mutants.load("nothing")
