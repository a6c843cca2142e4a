# The two commands of the README do all their own set-up; `make check` is also what CI runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
# the encoder's packages are large: they are set up where tests require them
ifneq (,$(findstring bge,$(HARNESS_REQUIRE)))
DEV := $(VENV)/.bge
else
DEV := $(VENV)/.dev
endif
SLA_MS ?= 100

.DEFAULT_GOAL := help
.PHONY: help tune test check lint types imports lock clean

help: ## List the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

tune: $(CORE) ## Tune the built-in catalogue against SLA_MS (100); ends with the report's path
	$(BIN)/harness tune --sla-ms $(SLA_MS)

test: $(DEV) ## Run all tests
	$(BIN)/python -m pytest

check: lint types imports test ## Everything that CI checks

lint: $(DEV) ## Style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV) ## Types, strictly
	$(BIN)/mypy

imports: $(DEV) ## Import arrows
	$(BIN)/lint-imports

LOCK = printf 'hatchling\neditables\n' | $(BIN)/uv pip compile --quiet --upgrade --universal \
  --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header \
  pyproject.toml -

lock: $(DEV) ## Lock the newest dependencies that pyproject.toml allows
	$(BIN)/python -m pip install --quiet uv
	$(LOCK) --output-file requirements.lock
	$(LOCK) --extra test --extra dev --output-file requirements-dev.lock
	$(LOCK) --extra test --extra dev --extra bge --extra test-bge --extra bloom --extra hnswlib --output-file requirements-bge.lock

clean: ## Remove what the other targets made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# one install a lock file: a change of either makes the next target set up again
$(CORE): requirements.lock pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@ $(CORE)

$(VENV)/.bge: requirements-bge.lock pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-bge.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/.dev $(CORE)

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "harness needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
