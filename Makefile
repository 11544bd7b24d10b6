# The commands that people and CI both run. Needed: make and Python 3.11 or later.

VENV := .venv
PY := $(VENV)/bin/python
# Which pinned requirements the environment holds: those for running, or those for development too.
RUN := $(VENV)/.run-installed
DEV := $(VENV)/.dev-installed
# The official TypeScript SDK, for the tests that drive the server with it.
NODE := $(VENV)/.node-installed
NODE_SDK := @anthropic-ai/sdk@1.14.0
# One worker a core; a file's tests move to an idle worker.
WORKERS := -n auto --dist worksteal

# Without bytecode every process compiles the SDK anew (seconds); a foreign path could shadow ours.
unexport PYTHONDONTWRITEBYTECODE
unexport PYTHONPATH

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

.PHONY: setup
setup: $(DEV) $(NODE) ## make .venv with everything in it

.PHONY: demo
demo: $(RUN) ## two agent sessions that share a memory, kept in ./memory
	@$(PY) -m memoranda demo

.PHONY: test
test: $(DEV) $(NODE) ## the test suite; ARGS="tests/spec -k view" runs a part
	@$(PY) -m pytest $(WORKERS) $(ARGS)

.PHONY: check-full
check-full: lint cover full mutation ## all that a release needs; takes its time

.PHONY: full
full: $(DEV) $(NODE) ## the tests that take minutes: long crash, race and attack runs
	@$(PY) -m pytest --full -m full $(ARGS)

.PHONY: cover
cover: $(DEV) $(NODE) ## the suite with branch coverage of the core, which has to be whole
	@rm -f .coverage .coverage.*
	@$(PY) -m pytest $(WORKERS) --cov --cov-report= $(ARGS)
	@echo "Branches covered, all rooms (pyproject.toml says which are the core):" \
		"$$($(PY) -m coverage report --omit=none --format=total) %"
	@$(PY) -m coverage report --fail-under=100

.PHONY: mutation
mutation: $(DEV) ## change the pure modules in every way and see that a test fails each time
	@$(PY) -m tests.house.mutation

.PHONY: azurite
azurite: ## an emulator of Azure Blob Storage for the tests, with npm; without it they are skipped
	@npm install --prefix $(VENV)/azurite --no-audit --no-fund --ignore-scripts azurite@3.35.0

.PHONY: bench
bench: $(DEV) ## ours, the SDK's own tool and bare system calls, interleaved; prints ratios
	@$(PY) -m bench $(ARGS)

.PHONY: lint
lint: $(DEV) ## format, lint, types under two checkers, import rules
	@command -v node >/dev/null || { echo "pyright needs Node.js: install nodejs" >&2; exit 1; }
	@$(PY) -m ruff format --check --quiet
	@$(PY) -m ruff check --quiet
	@$(VENV)/bin/lint-imports --no-logo
	@$(PY) -m mypy
	@$(VENV)/bin/pyright --pythonpath $(PY)

.PHONY: format
format: $(DEV) ## lay out the code and mend what ruff can mend
	@$(PY) -m ruff check --fix --quiet
	@$(PY) -m ruff format --quiet

# The pins name no index: whose registry serves them is the machine's setting, the hashes are ours.
COMPILE := $(VENV)/bin/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-annotate --no-header

# What a server runs with, in a container for example.
SERVED := backup bucket cli git postgres sealed server

.PHONY: requirements
requirements: $(DEV) ## pin again what pyproject.toml asks for; ARGS=--upgrade takes newer releases
	$(COMPILE) --extra anthropic --extra cli --group build -o requirements/run.txt $(ARGS)
	$(COMPILE) --all-extras --group build --group docs -c requirements/run.txt -o requirements/dev.txt $(ARGS)
	$(COMPILE) $(SERVED:%=--extra %) --group build -c requirements/dev.txt -o requirements/serve.txt

.PHONY: docs
docs: $(DEV) ## the docs as a site, in site/; a warning is an error
	@$(PY) -m sphinx -q -W --keep-going -b html -d build/doctrees docs site

.PHONY: clean
clean: ## remove all that make made, but never a memory
	rm -rf $(VENV) build dist site mutants htmlcov .coverage .coverage.* \
		.hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

# ---------------------------------------------------------------- the environment

$(PY):
	@for python in python3 python3.13 python3.12 python3.11; do \
		if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
		then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
		echo "Memoranda needs Python 3.11 or later with its venv module: install python3.11 and" >&2; \
		echo "python3.11-venv (or what your system calls them), then run make again." >&2; exit 1; \
	fi; \
	echo "Making $(VENV) with $$($$found --version)"; rm -rf $(VENV); $$found -m venv $(VENV)

$(RUN): requirements/run.txt pyproject.toml | $(PY)
	@echo "Installing what Memoranda runs with"
	@$(PY) -m pip install --quiet --require-hashes -r requirements/run.txt
	@$(PY) -m pip install --quiet --no-deps --no-build-isolation --no-index -e .
	@touch $@

$(DEV): requirements/dev.txt $(RUN)
	@echo "Installing the tools for development"
	@$(PY) -m pip install --quiet --require-hashes -r requirements/dev.txt
	@touch $@

$(NODE): Makefile | $(PY)
	@if ! command -v npm >/dev/null; then \
		echo "No npm here: the tests with the TypeScript SDK are skipped. Install nodejs and npm." >&2; \
	elif npm install --prefix $(VENV)/node --no-package-lock --no-audit --no-fund --silent \
		$(NODE_SDK); then touch $@; \
	else echo "npm can't get $(NODE_SDK): the tests with it are skipped." >&2; fi
