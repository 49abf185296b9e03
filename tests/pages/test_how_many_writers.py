"""The page on many writers: its tables are those of the recorded figures, and so are the figures in its sentences."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from tools.regenerate import stale
from tools.writers.page import COMMITS, FIGURES, PAGE, PICTURES, VALIDATION, files, most_jobs

TEXT = " ".join(PAGE.read_text("utf-8").split())
RECORDED: dict[str, Any] = json.loads(FIGURES.read_text("utf-8"))
RUN: dict[str, Any] = json.loads(COMMITS.read_text("utf-8"))
BENCH: dict[str, Any] = RUN["stores"]


def test_the_tables_are_those_of_the_figures() -> None:
    """The bytes of a picture depend on the release of matplotlib."""
    made = files(measure=False)
    assert {path.name for path in made.keys() - {PAGE}} == {path.name for path in PICTURES.glob("*.svg")}
    assert stale({PAGE: made[PAGE]}) == [], "python -m tools.regenerate writers"


def compared(seconds: str, one: int, other: int) -> float:
    """Return the price with one interval of compactions divided by that with another one."""
    price: dict[int, float] = {minutes: writes + reads for minutes, writes, reads in RECORDED["compaction"][seconds]}
    return price[one] / price[other]


def skewed(store: str, milliseconds: int) -> float:
    rates: dict[int, float] = {skew: rate for skew, rate, _ in RECORDED["skew"][store]}
    return rates[milliseconds]


def within_five_minutes_and_an_hour(seconds: str) -> float:
    points = RECORDED["compaction"][seconds]
    prices: list[float] = [writes + reads for minutes, writes, reads in points if 5 <= minutes <= 60]
    return max(prices) / min(prices)


def error(mode: str, writers: int, figure: str) -> float:
    [row] = (row for row in VALIDATED if (row["mode"], row["writers"]) == (mode, writers))
    return float(row[figure]["error"])


def errors() -> dict[tuple[str, int], float]:
    """Return the error of each predicted rate of commits, of writers whose data files are ready."""
    guessed = {(row["mode"], row["writers"]): row["commits_a_second"] for row in RECORDED["commits"]
               if row["phase"] == "commit"}  # fmt: skip
    measured = {(row["mode"], row["writers"]): row["commits_a_second"] for row in BENCH["rows"]
                if row["phase"] == "commit"}  # fmt: skip
    return {each: abs(guessed[each] / rate - 1) for each, rate in measured.items()}


SHARED = "shared partitions"
VALIDATED = json.loads(VALIDATION.read_text("utf-8"))["rows"]
CLAIMS = RECORDED["claims"]


def logs_per_slice(mode: str) -> float:
    return float(CLAIMS[f"two pipelines, {mode}"]["logs_per_slice"])


@pytest.mark.parametrize(
    ("sentence", "is_true"),
    [
        ("On S3 OCC falls behind between 16 and 32 jobs, NBCC between 32 and 64",
         [most_jobs(RECORDED[SHARED][mode]) for mode in ("occ", "nbcc")] == [16, 32]),
        ("(`s3-fast`) both keep up with twice as many",
         all(most_jobs(RECORDED["own partitions, s3-fast"][mode]) == 2 * most_jobs(RECORDED[SHARED][mode])
             for mode in ("occ", "nbcc"))),
        ("most commits that 64 jobs without pause reach", RECORDED["skew"]["s3"][0][0] == 0),
        ("On S3 a smaller skew gains little more than a third", 1.33 < skewed("s3", 0) / skewed("s3", 200) < 1.37),
        ("`s3-fast` allows twice as many commits", round(skewed("s3-fast", 10) / skewed("s3-fast", 200), 1) == 2.0),
        ("in milliseconds 4.5 times as many", round(skewed("s3-express", 10) / skewed("s3-express", 200), 1) == 4.5),
        ("Each predicted rate is within a quarter of the measured one", 0.2 < max(errors().values()) < 0.25),
        ("all but three are within 16 %: those of four and more writers that request without the lock and complete",
         [each for each, by in errors().items() if by > 0.16] == [("lock, put_if_absent", n) for n in (4, 8, 16)]),
        ("answers each request after 20 ms", BENCH["latency"] == 0.02),
        ("A row is of two runs of six seconds", (BENCH["rounds"], BENCH["seconds"]) == (2, 6.0)),
        ("The machine ran nothing else", RUN["machine"]["load"] < RUN["machine"]["cores"]),
        ("The skew is 5 ms", BENCH["skew_ms"] == 5),
        ("A lease lasts 5 seconds here", BENCH["lease"] == 5),
        ("the price changes by 4 % at most between 5 minutes and an hour",
         max(map(within_five_minutes_and_an_hour, ("600", "3600"))) < 1.045),
        ("an hour between compactions costs a third more than 5 minutes", 1.3 < compared("60", 60, 5) < 1.36),
        ("the encryption and the backfill never commit",
         all(CLAIMS["three writers, occ"][kind][0] == 0 for kind in ("encryption", "backfill"))),
        ("poll a lease send millions an hour", CLAIMS["thousand jobs, nbcc"]["lock requests"] > 2_000_000),
        ("a slice has about twice as many log files",
         1.9 < logs_per_slice("nbcc") / logs_per_slice("single") < 2.1),
        ("the abort rate of eight optimistic writers, which is predicted 22 % too low",
         round(error("occ", 8, "aborted"), 2) == -0.22),
        ("Eight writers commit about a tenth less than predicted",
         all(0.07 < error(mode, 8, "throughput") < 0.13 for mode in ("nbcc", "occ"))),
        ("one writer commit 96 % of their batches", round(CLAIMS["thousand jobs, single"]["committed"]) == 96),
    ],
)  # fmt: skip
def test_a_sentence_says_what_the_figures_say(sentence: str, is_true: bool) -> None:
    assert sentence in TEXT
    assert is_true


def test_the_cheapest_interval_grows_with_the_time_between_reads() -> None:
    cheapest = [min(points, key=lambda point: point[1] + point[2])[0] for points in RECORDED["compaction"].values()]
    assert all(one < other for one, other in pairwise(cheapest))
