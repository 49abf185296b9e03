"""What a stranger asks of the opening view: everything in sight, every file named, a listing seen as what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nbcc.model import Protocol
from nbcc.simulator.view.page import render
from nbcc.simulator.view.trace_content import content_of

from . import traces

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
Open = Callable[..., "Page"]


@pytest.fixture(scope="module")
def lost() -> str:
    return render(content_of(traces.lost_row()))


def test_eighteen_steps_are_all_in_sight_and_a_folded_step_is_named_in_its_line(open_page: Open, lost: str) -> None:
    page = open_page(lost)
    steps = page.locator("#steps")
    assert steps.evaluate("list => list.scrollHeight <= list.clientHeight")
    assert steps.locator("li").first.inner_text().split("\n")[-1] == "requests an instant: t1"
    fold = steps.locator("li.fold").last
    assert fold.inner_text().split("\n")[-1] == "starts its plan, 3 more steps"
    page.keyboard.press("ArrowLeft")
    assert fold.inner_text().split("\n")[-1] == "takes its completion time (step 17)"
    assert steps.locator("li.now").count() == 1


def test_chips_name_their_file_and_what_the_rule_holds_against_them(open_page: Open, lost: str) -> None:
    page = open_page(lost)
    chip = page.locator('[data-file="log 0/1.1"]').inner_text().split("\n")
    assert chip[-2:] == ["t1.log.1", "requested t1 < barrier t4: skipped"]
    hue = "node => getComputedStyle(node).backgroundColor"
    assert page.locator('[data-file="base 0/4"] .row-of').evaluate(hue) == "rgb(230, 159, 0)", "w2's, as its log"
    assert page.locator("#promises button").first.inner_text() == "✕ PART step 13"


def test_a_readers_listing_is_an_interval(open_page: Open) -> None:
    page = open_page(render(content_of(traces.torn_snapshot())))
    assert page.locator("#lanes .listing").count() == 1
    assert page.locator("#lanes .saw").text_content() == "sawk1=Bmissedk1=A"
    page.locator("#steps li[data-step='9']").click()
    assert page.locator("#lanes .listing.open").count() == 1


@pytest.mark.parametrize("name", ["lost_row", "resurrected_row", "torn_snapshot", "unstable_as_of"])
def test_opening_views_need_no_scroll(open_page: Open, name: str) -> None:
    page = open_page(render(content_of(getattr(traces, name)())))
    assert page.evaluate("document.documentElement.scrollHeight") <= 800
    cut = "[...document.querySelectorAll('td, div.file')].filter((n) => n.scrollWidth > n.clientWidth + 1).length"
    assert page.locator("#path circle").count() == 4
    assert page.evaluate(cut) == 0, "text that is cut off"


def test_a_run_that_agreed_breaks_nothing_at_its_last_step(open_page: Open, lost: str) -> None:
    kept = replace(traces.lost_row(), protocol=Protocol(), verdict="AGREED")
    assert open_page(render(content_of(kept))).locator("#steps em").count() == 0
    assert open_page(lost).locator("#steps em").all_inner_texts() == ["✕ SNAP breaks"]
