"""`import nbcc` is light; names load what they need when they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import nbcc
import nbcc.engine

HEAVY = ("pyspark", "hypothesis", "pyarrow", "obstore", "numpy")


def loaded_by(statement: str) -> set[str]:
    """Which of the heavy packages a fresh interpreter has loaded after `statement`."""
    code = f"import sys; {statement}; print(*(name for name in {HEAVY} if name in sys.modules))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_importing_nbcc_loads_nothing() -> None:
    assert loaded_by("import nbcc") == set()
    assert loaded_by("from nbcc import BadInput, Conflict") == set()


def test_the_engine_does_not_load_spark() -> None:
    assert not {"pyspark", "hypothesis"} & loaded_by("from nbcc import Table; import nbcc.engine.actions")


def test_ddl_needs_a_running_spark() -> None:
    code = "from nbcc import Table; Table.create(None, 'nowhere', 'id STRING, ts BIGINT', record_key='id')"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    refused = (
        "with the columns 'id STRING, ts BIGINT', but there is no Spark session to read DDL: give a pyarrow Schema."
    )
    assert ran.stderr.strip().endswith(refused)


@pytest.mark.parametrize("package", [nbcc, nbcc.engine])
def test_every_public_name_is_there_and_no_other(package: object) -> None:
    for name in package.__all__:  # type: ignore[attr-defined]
        assert getattr(package, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'Tabel'"):
        package.Tabel  # type: ignore[attr-defined]  # noqa: B018
