"""Each finding with a run: Apache Hudi takes the same steps and returns the answer of the page.

Nightly tests compare older releases with the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from nbcc.model import Model
from nbcc.simulator.lockstep.crosscheck.disagreement import Disagreement
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.findings import Finding, load, names
from nbcc.simulator.lockstep.peers.process import peer
from nbcc.simulator.lockstep.replay import play
from nbcc.simulator.lockstep.schedule import Replay, no_choice
from nbcc.simulator.lockstep.systems.hudi import HudiSystem
from nbcc.simulator.lockstep.systems.registry import factory
from tools.findings import SAME, answers, query_of, words

from .readers import BUNDLES, NEWEST

RUNS = [name for name in names() if not load(name).test and load(name).protocol == "hudi-1.2.0"]
OLDER = BUNDLES[:-1]


@pytest.fixture(scope="module", autouse=True)
def _one_process_after() -> Iterator[None]:
    yield
    for version in OLDER:
        peer("hudi", version).close()


def shown(finding: Finding, version: str) -> str:
    """`SAME`, or the answer of the release if it differs from the page. Other reads are not compared."""
    trace = finding.trace
    system = HudiSystem(trace.world, peer("hudi", None if version == NEWEST else version))
    history = PlayedHistory(Model(trace.world, trace.protocol), system, trace.batches)
    try:
        schedule = Replay(trace.steps, history.resolved)
        while step := schedule.next(no_choice, history.enabled()):
            history.take(step)
        answer = words(history, partial(system.rows, query_of(history, finding)))
    except Disagreement as found:
        return str(found)
    finally:
        system.close()
    return SAME if answer == answers(finding).actual else f"{finding.read}: {answer}"


@pytest.mark.parametrize("name", RUNS)
def test_every_read_of_the_run_is_as_the_setting_says(name: str) -> None:
    outcome = play(load(name).trace, "hudi", factory("hudi"))
    assert (outcome.fits, outcome.verdict) == (True, "AGREED"), outcome.sentence


@pytest.mark.parametrize("name", RUNS)
def test_hudi_shows_what_the_page_says(name: str) -> None:
    assert shown(load(name), NEWEST) == SAME


@pytest.mark.nightly
@pytest.mark.parametrize("version", OLDER)
@pytest.mark.parametrize("name", RUNS)
def test_older_releases_show_what_the_page_says_of_them(name: str, version: str) -> None:
    finding = load(name)
    assert shown(finding, version) == finding.seen[f"Apache Hudi {version}"]
