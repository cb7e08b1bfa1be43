# Needs Python 3.11 or later, make and a network; everything else is installed into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help setup test check lint format unit quick coverage catalogue manifest specs icon picture page readme bundle clients lowest firsthour windows demo live agents eval bench bench-quick bench-search search-quality fuzz law soak clean
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

$(READY): pyproject.toml requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed, this is " + sys.version.split()[0] + "; use make PYTHON=python3.x") if sys.version_info < (3, 11) else None'
	@echo "Setting up $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.txt -e '.[dev]'
	@touch $(READY)

setup: $(READY) ## Install everything into .venv

test: check unit ## Every check: format, lint, types, import rules, tests

check: lint ## Format, lint, types, import rules
	$(BIN)/mypy

lint: $(READY) ## The fast part of it: all but the types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo

# Every worker imports every test, whose assertions pytest rewrites: twice the time, unless what it made is kept.
unit quick coverage: export PYTHONDONTWRITEBYTECODE =

# More workers than cores: some tests wait for a time limit.
unit: $(READY) ## The tests
	$(BIN)/python -m pytest -n 4 --dist worksteal

# Folders and modules that start nothing and wait for nothing; --quick fails a test that does. Of the promises, those
# on a vault that is a dictionary.
QUICK := tests/features tests/index tests/operations tests/promises tests/protocol tests/tools tests/vault tests/hosts/test_jsonc.py \
	tests/agents/test_evaluation.py tests/agents/test_mending.py tests/agents/test_oracles.py tests/agents/test_policies.py \
	tests/agents/test_seen.py \
	tests/backends/files/test_birth.py tests/backends/files/test_commit.py tests/backends/files/test_in_place.py \
	tests/backends/files/test_write.py \
	tests/backends/obsidian/test_discover.py tests/backends/obsidian/test_replies.py \
	tests/doors/http/test_contracts.py tests/servers/ide/test_watcher.py \
	tests/test_architecture.py tests/test_connection.py tests/test_errors.py tests/test_patience.py tests/test_running.py \
	tests/test_scheduler.py tests/test_settings.py tests/test_specs.py tests/test_vaults.py
# What among them does: Node as a judge, commands that are really run, sizes that have to be compared; whole vaults.
NOT_QUICK := --ignore tests/vault/links/test_hostile_notes.py \
	--ignore tests/index/test_law.py --ignore tests/index/test_library.py --ignore tests/index/test_store.py \
	--deselect tests/vault/test_active.py::test_the_expression_is_javascript_that_tells_the_selection \
	--deselect tests/backends/obsidian/test_discover.py::test_no_thread_waits_for_a_pipe_that_something_else_holds_open

quick: $(READY) ## The tests that start no process, in half a minute
	$(BIN)/python -m pytest -n 2 --dist worksteal --quick $(QUICK) $(NOT_QUICK)

coverage: $(READY) ## The tests again, for the branches that they reach; fails below the floor in pyproject.toml
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -n 4 --dist worksteal --timeout 600
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

format: $(READY) ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

catalogue: $(READY) ## Generate what is derived from the tools' declarations
	$(BIN)/python -m obsidian_mcp.tools.catalogue

manifest: $(READY) ## Generate manifest.json
	$(BIN)/python -m bundle.manifest

specs: $(READY) ## Fill in the specs' generated tables
	$(BIN)/python -m bundle.tables

icon: $(READY) ## Draw the icon
	$(BIN)/python -m bundle.icon

picture: $(READY) ## Draw the README's conversation, from a session played now
	$(BIN)/python -m bundle.picture

page: $(READY) ## Draw the README's page, where Chromium is there
	$(BIN)/python -m bundle.page

readme: $(READY) ## Fill in the generated parts of docs/
	$(BIN)/python -m bundle.readme

bundle: $(READY) ## Build dist/obsidian-notekeeper-VERSION.mcpb, and check it
	$(BIN)/python -m bundle.build

clients: $(READY) ## Real clients on Node: the Inspector, two SDKs, Claude Code, Gemini CLI
	$(BIN)/python -m interop
	$(BIN)/python -m bench --quick

lowest: $(READY) ## Each door with the lowest versions of the libraries that are allowed
	$(BIN)/python -m interop.lowest

firsthour: $(READY) ## README followed in an empty home, as it is printed: the bundle, uv, pipx, make
	$(BIN)/python -m pytest --timeout 1200 tests/first_hour.py

windows: $(READY) ## The server in a Windows Python under Wine, which is installed if it may be: make windows [TESTS="-k WORD"]
	$(BIN)/python -m tests.windows $(if $(OPTIONAL),--optional) $(TESTS)

demo: $(READY) ## A session against a sample vault
	@$(BIN)/obsidian-mcp demo

live: $(READY) ## The promises against a real Obsidian: make live VAULT=NAME
	@test -n "$(VAULT)" || { echo "Say which vault: make live VAULT=NAME (a folder obsidian-mcp-scratch is made in it and removed; what the tests delete stays in the trash)"; exit 2; }
	OBSIDIAN_MCP_LIVE_VAULT="$(VAULT)" $(BIN)/python -m pytest tests/promises

agents: $(READY) ## Scripted agents do tasks and make mistakes on a thousand notes: make agents [RIVALS=yes]
	$(BIN)/python -m agents $(if $(RIVALS),--rivals)

eval: $(READY) ## The same tasks for a real model, five times each: make eval MODEL=NAME [TASKS=WORD] [TRIALS=N]
	@test -n "$(MODEL)" || { echo "Say which model: make eval MODEL=NAME (with ANTHROPIC_API_KEY set)"; exit 2; }
	$(BIN)/python -m agents.evaluation --model "$(MODEL)" $(if $(TASKS),--tasks "$(TASKS)") $(if $(TRIALS),--trials $(TRIALS))

bench: $(READY) ## Everything measured, beside others
	$(BIN)/python -m bench

bench-quick: $(READY) ## Our own bars, in about a minute
	$(BIN)/python -m bench --quick

bench-search: $(READY) ## Searches against ripgrep: make bench-search [TEXT=FOLDER of notes]
	$(BIN)/python -m bench.searching $(if $(TEXT),--text "$(TEXT)")

search-quality: $(READY) ## How often a search finds the right note, ours and others': make search-quality HELP=FOLDER SEEKSTONE=FOLDER
	$(BIN)/python -m bench.quality --help-vault "$(HELP)" --seekstone "$(SEEKSTONE)" --rivals

fuzz: export EXAMPLES = new
fuzz: $(READY) ## A million hostile lines, the laws with other examples each time, the model-based tests for longer
	$(BIN)/python -m tests.attack.wire
	$(BIN)/python -m pytest -n 2 --dist worksteal $(shell grep -rl "^from hypothesis" tests)
	OBSIDIAN_MCP_LONGER=20 $(BIN)/python -m pytest --timeout 3600 tests/attack/test_model.py

law: $(READY) ## Links in a real vault: read twice, then kept by random renames in a copy: make law VAULT=FOLDER [RENAMES=N]
	@test -d "$(VAULT)" || { echo "Say which folder of notes: make law VAULT=FOLDER (a copy is used)"; exit 2; }
	-$(BIN)/python -m tests.vault.compare "$(VAULT)"
	$(BIN)/python -m tests.attack.law "$(VAULT)" $(RENAMES)

soak: $(READY) ## 200,000 calls by four clients
	$(BIN)/python -m tests.attack.soak

clean: ## Remove what the other targets made
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage .coverage.*
