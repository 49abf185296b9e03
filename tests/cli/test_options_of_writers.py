"""From a writer's options to the row of the matrix that applies to it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from nbcc.simulator import specs
from nbcc.simulator.cli.main import nbcc
from nbcc.simulator.options import _rules, judge, judge_writer

NON_BLOCKING = {
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.index.type": "BUCKET",
}
OPTIMISTIC = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}
STRATEGY = "hoodie.write.lock.conflict.resolution.strategy"
PREFERS = "org.apache.hudi.client.transaction.PreferWriterConflictResolutionStrategy"


@pytest.mark.parametrize(
    ("options", "row"),
    [
        (NON_BLOCKING, "hudi-1.2.0"),
        ({"hoodie.table.name": "t"}, "single-writer"),
        (OPTIMISTIC, "occ-by-start-time"),
        ({**OPTIMISTIC, STRATEGY: PREFERS}, "occ"),
        ({**OPTIMISTIC, "hoodie.write.concurrency.early.conflict.detection.enable": "true"}, "occ-early-detection"),
        ({**OPTIMISTIC, "hoodie.write.table.version": "6"}, "occ-services-first"),
        ({"hoodie.write.table.version": "6"}, "base-instant-naming"),
        ({**NON_BLOCKING, "hoodie.index.type": "BLOOM"}, None),
        ({**NON_BLOCKING, "hoodie.datasource.write.table.type": "COPY_ON_WRITE"}, None),
        ({**NON_BLOCKING, "hoodie.index.bucket.engine": "CONSISTENT_HASHING"}, None),
        ({**NON_BLOCKING, "hoodie.record.merge.mode": "CUSTOM"}, None),
        ({"hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.PartialUpdateAvroPayload"}, None),
        ({"hoodie.write.concurrency.mode": "SOME"}, None),
        ({"hoodie.table.type": "MOR"}, None),
    ],
)
def test_a_writers_row(options: dict[str, str], row: str | None) -> None:
    found = judge_writer("w", options)
    assert found.row == row
    assert found.decided
    assert bool(found.because) == (row is None)


def test_every_row_is_a_setting_and_each_is_reached_by_a_test_above() -> None:
    assert {case["row"] for case in _rules()["rows"]} <= set(specs.protocol_names())


def test_the_deciding_options_are_printed_and_unknown_ones_with_the_nearest_name() -> None:
    found = judge_writer(
        "w", {"hoodie.write.concurency.mode": "X", "hoodie.something.else": "1", "hoodie.keep.max": "9"}
    )
    assert found.decided == (("hoodie.write.concurrency.mode", "SINGLE_WRITER", False),)
    assert found.unknown == (
        ("hoodie.something.else", ""),
        ("hoodie.write.concurency.mode", "hoodie.write.concurrency.mode"),
    )


def test_a_misspelt_option_that_would_decide_is_named_although_others_begin_like_it() -> None:
    misspelt = {
        "hoodie.write.concurrency.mod": "hoodie.write.concurrency.mode",
        "hoodie.index.typ": "hoodie.index.type",
    }
    found = judge_writer("w", dict.fromkeys(misspelt, "X"))
    assert dict(found.unknown) == misspelt
    real = ("hoodie.index.bucket.engine", "hoodie.write.lock.zookeeper.url", "hoodie.bucket.index.num.buckets",
            "hoodie.write.concurrency.early.conflict.detection.strategy", "hoodie.table.cdc.enabled")  # fmt: skip
    assert not judge_writer("w", dict.fromkeys(real, "X")).unknown


def test_writers_that_disagree_have_no_row(tmp_path: Path) -> None:
    one, other = tmp_path / "a.properties", tmp_path / "b.json"
    one.write_text("".join(f"{option}={value}\n" for option, value in NON_BLOCKING.items()))
    other.write_text(json.dumps(OPTIMISTIC))
    assert judge([one, one]).row == "hudi-1.2.0"
    found = judge([one, other])
    assert found.row is None
    assert "disagree" in found.because
    run = CliRunner().invoke(nbcc, ["verdicts", "--options", str(one), str(other)], standalone_mode=False)
    assert run.return_value == 3
    assert "UNDETERMINED: the writers disagree" in run.output
    run = CliRunner().invoke(nbcc, ["verdicts", "--options", str(one), "--json"], standalone_mode=False)
    assert run.return_value == 0
    assert json.loads(run.output)["row"] == "hudi-1.2.0"
    assert json.loads(run.output)["promises"]["INCR"] == "VIOLATED"
    run = CliRunner().invoke(nbcc, ["verdicts", "--options", str(one)], standalone_mode=False)
    assert re.search(r"^  breaks .*INCR \(6 steps\)", run.output, re.MULTILINE)
    assert re.search(r"^  keeps .*ATOM", run.output, re.MULTILINE)


def test_a_file_without_options_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.properties"
    path.write_text("a=b\n")
    with pytest.raises(ValueError, match="has no option"):
        judge([path])
    path.write_text("{")
    with pytest.raises(ValueError, match="is not JSON"):
        judge([path])
