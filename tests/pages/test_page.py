"""The page in a real browser: what it opens on, keys, switch, address, themes, printing, escaping, a long trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

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


def cells(page: Page, table: str) -> list[str]:
    return page.locator(f'[data-table="{table}"] tbody td').all_inner_texts()


def position(page: Page) -> str:
    return page.locator("#position").inner_text()


def slice_of(page: Page, file: str) -> str | None:
    found: str | None = page.locator(f'[data-file="{file}"]').evaluate("node => node.closest('.slice').dataset.slice")
    return found


def test_opening_view_shows_the_row_the_actor_the_cause_and_the_right_answer(open_page: Open, lost: str) -> None:
    page = open_page(lost)

    assert position(page) == "step 18 of 18"
    assert page.locator("h1").inner_text() == (
        "w1's update k1=B was acknowledged at step 13; every snapshot from step 18 on returns k1=A."
    )
    assert page.locator("#verdict").inner_text() == "VIOLATED"
    assert page.locator("#verdict svg").count() == 1
    assert cells(page, "must answer") == ["k1", "B", "w1"]
    assert cells(page, "reader got") == ["k1", "A", "w2"]
    assert page.locator("tr.wrong").count() == 2
    assert slice_of(page, "log 0/1.1") == "slice 0/0"
    assert page.locator("#path circle").count() == 4
    explanation = page.locator("#explanation").inner_text()
    for word in ("w1 writes k1=B", "completed earlier (t3)", "t1.log.1", "Sliced by requested time",
                 "returns k1=A from base t4; it must return k1=B", "Sliced by completion time"):  # fmt: skip
        assert word in explanation
    assert page.evaluate("document.documentElement.scrollHeight") <= 800


def test_thread_is_the_only_red(open_page: Open, lost: str) -> None:
    page = open_page(lost)
    red = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--red')")

    painted = page.evaluate(
        """() => { const rgb = document.createElement('i'); rgb.style.color = 'var(--red)'; document.body.append(rgb);
        const red = getComputedStyle(rgb).color; rgb.remove();
        return [...new Set([...document.querySelectorAll('body *')].filter((node) => {
          const style = getComputedStyle(node);
          return [style.color, style.backgroundColor, style.fill, style.stroke].includes(red);
        }).map((node) => node.closest('#path, #explanation .stop, .static') ? 'path' : node.outerHTML))]; }"""
    )

    assert red
    assert painted == ["path"]


@pytest.mark.parametrize(
    ("keys", "step"),
    [
        (["ArrowLeft"], 17),
        (["ArrowLeft", "ArrowLeft", "ArrowRight"], 17),
        (["ArrowRight"], 18),
        (["Home"], 0),
        (["Home", "ArrowLeft"], 0),
        (["Home", "End"], 18),
        (["Home", "n"], 4),
        (["Home", "n", "n"], 10),
        (["Home", "n", "n", "n", "n"], 14),
        (["Home", "n", "n", "n", "n", "n"], 18),
        (["Home", "b"], 18),
    ],
)
def test_keys(open_page: Open, lost: str, keys: list[str], step: int) -> None:
    page = open_page(lost)
    for key in keys:
        page.keyboard.press(key)

    assert position(page) == f"step {step} of 18"
    assert page.evaluate("location.hash") == f"#step={step}&rule=requested"
    assert page.locator("#steps li.now").count() == (1 if step else 0)


def test_buttons_do_what_keys_do(open_page: Open, lost: str) -> None:
    page = open_page(lost, has_touch=True)
    page.locator("[data-do=Home]").tap()
    page.locator("[data-do=ArrowRight]").tap()
    assert position(page) == "step 1 of 18"
    page.locator("[data-do=n]").tap()
    assert position(page) == "step 4 of 18"
    page.locator("[data-do=b]").tap()
    assert position(page) == "step 18 of 18"


def test_question_mark_opens_the_keys_and_escape_closes_them(open_page: Open, lost: str) -> None:
    page = open_page(lost)
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("ArrowLeft")
    assert position(page) == "step 18 of 18"
    page.keyboard.press("Escape")
    assert not page.locator("#keys").is_visible()


def test_click_on_a_step_and_on_a_promise_jumps(open_page: Open, lost: str) -> None:
    page = open_page(lost)
    page.locator("#steps li[data-step='9']").click()
    assert position(page) == "step 9 of 18"
    assert cells(page, "reader got") == ["k1", "A", "w2"]
    page.locator("[data-promise=PART]").click()
    assert position(page) == "step 13 of 18"
    assert page.locator("[data-promise=PART]").inner_text() == "✕ PART step 13"
    assert page.locator("[data-promise=SNAP]").inner_text() == "SNAP until 18"
    assert page.locator("#path circle").count() == 0


def test_switch_to_the_right_rule_moves_the_chip_and_the_tables_agree(open_page: Open, lost: str) -> None:
    page = open_page(lost)
    page.locator("[data-rule=completion]").click()

    assert slice_of(page, "log 0/1.1") == "slice 0/4"
    assert cells(page, "must answer") == cells(page, "reader got") == ["k1", "B", "w1"]
    assert page.locator("tr.wrong").count() == 0
    assert page.locator("#path circle").count() == 0
    assert page.locator("#verdict").inner_text() == "HOLDS"
    assert page.locator("h1").inner_text() == (
        "Under slicing completion the same steps keep every promise: the reader returns k1=B."
    )
    page.keyboard.press("r")
    assert page.locator("tr.wrong").count() == 2


def test_switch_to_a_rule_under_which_the_steps_cannot_happen_says_which(open_page: Open) -> None:
    page = open_page(render(content_of(traces.torn_snapshot())))
    assert page.locator("h1").inner_text() == (
        "w1's update k1=A was acknowledged at step 10; r1's snapshot at step 15 missed it but saw w2's later k1=B."
    )
    page.keyboard.press("r")

    assert page.locator(".notice").inner_text().startswith("Step 15 cannot happen under this rule: ")
    assert page.locator("#verdict").inner_text() == "NOT APPLICABLE"
    page.keyboard.press("ArrowLeft")
    assert page.locator(".notice").count() == 0


def test_address_opens_a_step_under_a_rule(open_page: Open, lost: str) -> None:
    page = open_page(lost, "#step=13&rule=completion")
    assert position(page) == "step 13 of 18"
    assert slice_of(page, "log 0/1.1") == "slice 0/4"
    page.evaluate("location.hash = '#step=9&rule=requested'")
    page.wait_for_function("document.querySelector('#position').innerText === 'step 9 of 18'")
    assert page.locator("[data-rule=requested]").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("address", ["#step=99", "#step=-1&rule=nonsense", "#step=x", "#"])
def test_an_address_that_makes_no_sense_still_opens_the_page(open_page: Open, lost: str, address: str) -> None:
    page = open_page(lost, address)
    assert page.locator("[data-rule=requested]").get_attribute("aria-pressed") == "true"
    assert page.locator("#explanation").inner_text()


def test_pointer_marks_one_instant_everywhere(open_page: Open, lost: str) -> None:
    page = open_page(lost)
    page.locator('[data-file="log 0/1.1"]').hover()

    marked = page.evaluate("[...document.querySelectorAll('.hot')].map((node) => node.dataset.i)")
    assert set(marked) == {"1"}
    for place in ("#lanes .instant.hot", "#tables tr.hot", "#steps li.hot", "#explanation .hot", "#sentence .hot"):
        assert page.locator(place).count() > 0, place


def test_resurrected_row_runs_into_the_base_that_dropped_the_delete(open_page: Open) -> None:
    page = open_page(render(content_of(traces.resurrected_row())))
    assert page.locator("h1").inner_text() == (
        "w2's delete of k1 was acknowledged at step 9; every snapshot from step 18 on returns k1=B, older by ordering "
        "(1 < 2)."
    )
    assert cells(page, "must answer") == ["k1", "no row", "2", "w2's delete"]
    assert cells(page, "reader got") == ["k1", "B", "1", "w1"]
    assert page.locator('[data-file="base 0/4"]').inner_text().split("\n") == ["no k1", "base t4"]
    assert "dropped it" in page.locator("#explanation").inner_text()


def test_an_as_of_read_that_changes_names_both_answers(open_page: Open) -> None:
    page = open_page(render(content_of(traces.unstable_as_of())))
    assert page.locator("h1").inner_text() == (
        "The read as of t4 returned k1=B until w1 published k1=A at step 12; since then it returns k1=A."
    )
    assert page.locator("#path circle").count() == 4


def test_crash_is_a_cross_and_the_plan_goes_on_in_another_lane(open_page: Open) -> None:
    page = open_page(render(content_of(traces.half_a_write())))
    assert page.locator("#lanes .instant[data-state=completed] .cross").count() == 1
    page.locator("#steps li[data-step='19']").click()
    assert page.locator("#lanes .instant[data-state=crashed] .cross").count() == 1
    assert page.locator(".group").count() == 2


def test_systems_stand_side_by_side_and_differing_cells_are_outlined(open_page: Open) -> None:
    page = open_page(render(content_of(traces.three_systems())))
    names = page.locator("#tables caption").all_inner_texts()
    assert [name.split()[0] for name in names] == ["must", "reader", "model", "engine", "hudi"]
    outlined = page.evaluate("[...document.querySelectorAll('tr.wrong')].map((r) => r.closest('table').dataset.table)")
    assert outlined == ["must answer", "reader got", "model", "engine"]
    page.keyboard.press("ArrowLeft")
    assert cells(page, "hudi") == ["not observed"]


@pytest.mark.parametrize(("scheme", "other"), [("light", "dark"), ("dark", "light")])
def test_both_themes(open_page: Open, lost: str, scheme: str, other: str) -> None:
    page = open_page(lost, color_scheme=scheme)
    paper = "getComputedStyle(document.body).backgroundColor"
    colours = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}

    assert page.evaluate(paper) == colours[scheme]
    page.keyboard.press("t")
    assert page.evaluate(paper) == colours[other]
    page.locator("#theme").click()
    assert page.evaluate(paper) == colours[scheme]


def test_without_scripts_the_breaking_frame_is_a_picture_and_text(open_page: Open, lost: str) -> None:
    page = open_page(lost, java_script_enabled=False)
    shown = page.locator("body").inner_text()

    assert page.locator(".static svg").is_visible()
    assert not page.locator("#lanes").is_visible()
    assert "w1's update k1=B was acknowledged at step 13" in shown
    assert "Sliced by requested time" in shown
    assert page.locator(".static svg path[fill='#d0112b']").count() == 4  # the numbered stops


def test_print_shows_the_breaking_frame_on_white(open_page: Open, lost: str) -> None:
    page = open_page(lost, "#step=3", color_scheme="dark")
    page.emulate_media(media="print")

    assert page.locator(".static svg").is_visible()
    assert not page.locator("#lanes").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_names_are_never_markup(open_page: Open) -> None:
    page = open_page(render(content_of(traces.hostile_names())))
    assert page.title().startswith("VIOLATED")
    assert page.locator("img").count() == 0
    assert cells(page, "must answer")[0] == "<script>alert(1)</script>"
    assert cells(page, "reader got")[1] == "&amp;"
    assert page.locator("#path circle").count() == 4


def test_a_phone_has_no_sideways_scroll(open_page: Open, lost: str) -> None:
    page = open_page(lost, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("[data-do=ArrowLeft]").tap()
    assert position(page) == "step 17 of 18"


@pytest.mark.parametrize("width", [420, 1400])
def test_no_number_of_steps_takes_two_lines_and_a_page_of_one_rule_shows_no_switch(
    open_page: Open, width: int
) -> None:
    of = traces.trace_of("w1*6 w2*3 c1*6 w2*3", {"slicing": "requested"}, "SNAP", actors={"writer": 2, "compactor": 1})
    page = open_page(render(content_of(of)), viewport={"width": width, "height": 900})
    numbers = "[...document.querySelectorAll('#steps li > :first-child')]"
    assert max(page.evaluate(f"{numbers}.map((each) => each.getBoundingClientRect().height)")) <= 22
    assert "10–14" in page.locator("#steps").inner_text()
    assert page.locator("#switch-label").is_visible()
    agreed = open_page(render(content_of(traces.trace_of("w1*6", {}))), viewport={"width": width, "height": 900})
    assert not agreed.locator("#switch-label").is_visible()
    theme, box = agreed.locator("#theme").bounding_box(), agreed.locator(".answers").bounding_box()
    assert theme is not None
    assert box is not None
    assert theme["x"] + theme["width"] > box["x"] + box["width"] - 50



@pytest.fixture(scope="module")
def long() -> str:
    return render(content_of(traces.long_trace(2000)))


def test_a_trace_of_2000_steps_stays_small_and_fluid(open_page: Open, long: str, capsys: Any) -> None:
    page = open_page(long)
    page.keyboard.press("Home")
    millis = page.evaluate(
        """async () => { const times = [];
        for (let count = 0; count < 60; count++) {
          const before = performance.now();
          document.dispatchEvent(new KeyboardEvent('keydown', { key: count < 30 ? 'n' : 'ArrowRight' }));
          document.body.getBoundingClientRect();
          times.push(performance.now() - before);
          await new Promise(requestAnimationFrame);
        } return times.sort((a, b) => a - b); }"""
    )
    with capsys.disabled():
        size = len(long.encode()) // 1000
        print(f"\n2,000 steps: {size} kB, a step in {millis[30]:.0f} ms (median), {millis[-1]:.0f} ms (worst)")

    assert len(long.encode()) <= 300_000
    assert position(page).endswith("of 2000")
    assert page.locator("#lanes *").count() < 1500
    page.keyboard.press("End")
    assert position(page) == "step 2000 of 2000"
    assert page.locator("#steps li.now").is_visible()


def test_long_runs_of_one_actor_fold_and_unfold(open_page: Open, long: str) -> None:
    page = open_page(long)
    fold = page.locator("#steps li.fold")
    before = fold.count()
    assert before > 0
    assert " more step" in fold.first.inner_text()
    fold.first.click()
    assert fold.count() == before - 1
