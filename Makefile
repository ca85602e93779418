# Every target sets up .venv by itself: a fresh machine needs make and python3 (3.11 or newer, with venv) and nothing else.
# PYTHON=python3.12 make test   chooses the interpreter for a new .venv.

.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

PYTHON ?= python3
JOBS ?= 3
BIN := .venv/bin
# Rewritten after every successful install, so that a second `make` starts at once.
STAMP := .venv/.installed
CLIENTS := .venv/clients
# A test that waits for something that never comes fails after ten minutes and says where it waits.
NO_HANG := -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true
TYPED := src instrumentation/src

.PHONY: help setup demo test test-slow test-exhaustive clients bench lint format clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

setup: $(STAMP) ## Create .venv with both packages, editable, and everything the tests need

$(STAMP): pyproject.toml instrumentation/pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: remove .venv and run make PYTHON=python3.11")'
	@echo "Installing into .venv (once; about a minute)"
	@if command -v uv >/dev/null 2>&1; then \
	    uv pip install --quiet --python $(BIN)/python -e '.[dev]' -e 'instrumentation[otlp]'; \
	else \
	    $(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[dev]' -e 'instrumentation[otlp]'; \
	fi
	@touch $(STAMP)

demo: $(STAMP) ## Score the traces that ship with the project and print the report
	@$(BIN)/spanscore demo

test: $(STAMP) ## Run the tests (a few minutes at most)
	@$(BIN)/python -m pytest -n $(JOBS) $(NO_HANG)

test-slow: $(STAMP) clients ## Run the slow tests: wheels in a clean environment, clients of others, long-running properties
	@$(BIN)/python -m pytest -n 2 -m slow $(NO_HANG)

test-exhaustive: $(STAMP) ## Try every place where something can break (up to an hour; not part of CI)
	@$(BIN)/python -m pytest -n 2 -m exhaustive

# What cannot be had is said and left out: the tests that need it are skipped, with the reason.
clients: $(CLIENTS)/.installed ## Install the OTLP clients of others that the slow tests send with

$(CLIENTS)/.installed: $(STAMP) $(addprefix tests/clients/,requirements.txt package.json package-lock.json)
	@echo "Installing OTLP clients into $(CLIENTS)"
	@mkdir -p $(CLIENTS) && cp tests/clients/package.json tests/clients/package-lock.json $(CLIENTS)/
	@missing=; \
	if ! PATH="$$PATH:/sbin" ldconfig -p 2>/dev/null | grep -q libpython3.11.so.1.0 && test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then \
	    apt-get install -qq -y --no-install-recommends libpython3.11 >/dev/null || missing="$$missing libpython3.11"; \
	fi; \
	$(BIN)/python -m venv $(CLIENTS)/python; \
	$(CLIENTS)/python/bin/python -m pip install -qq --disable-pip-version-check -r tests/clients/requirements.txt \
	    || missing="$$missing python-packages"; \
	npm ci --prefix $(CLIENTS) --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null \
	    || missing="$$missing javascript-packages"; \
	if test -z "$$missing"; then touch $@; else echo "Tests are skipped that need what could not be installed:$$missing"; fi

bench: $(STAMP) ## Measure speed and memory; prints ratios taken in one run
	@$(BIN)/python -m benchmarks

lint: $(STAMP) ## Check formatting, style and types
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy $(TYPED)

format: $(STAMP) ## Format the code and apply safe fixes
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean: ## Remove .venv, caches and builds
	@rm -rf .venv dist instrumentation/dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
