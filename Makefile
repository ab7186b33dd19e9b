# Requires Python 3.11 or newer, and make. `make` alone lists the targets.
#
#   make run PORT=8600              use another port
#   make run ADDRESS=0.0.0.0        accept connections from other computers
#   make test PYTEST_ARGS="-k axes" run some of the tests
#   make fuzz MINUTES=60            try new hostile inputs for an hour
#   make fuzz SEED=294682           repeat a failed round
#   make mutants MODULES="layers/norm.py layers/axes.py"
#   make mutants MODULES=measuring SAMPLE=150   try 150 mutants of each module
#   make lock LOCK_ARGS=--upgrade   newer versions of all packages that requirements.txt does not pin

PYTHON ?= python3
PORT ?= 8501
ADDRESS ?= localhost
PYTEST_ARGS ?=
MINUTES ?= 0
SEED ?=
MODULES ?= layers analysis/forward.py analysis/steps.py
SAMPLE ?=
DOCKER ?= docker
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
TORCH_LINKS ?= $(TORCH_INDEX)/torch/
LOCK_ARGS ?=
RECORD ?=
BUNDLES_ARGS ?=

# What needs another framework or a build, and what needs the app
BEYOND := $(addprefix --ignore=tests/,code/programs/test_frameworks.py scripts/test_bundles.py lessons/test_toy_page.py export/test_wheel.py)
APPS := $(addprefix --ignore=tests/,lessons/explore lessons/home/test_parts.py cli/test_app.py export/test_pictures.py \
  $(foreach page,compare gradients numerics questions step_by_step train_and_eval,lessons/$(page)/test_app.py))
QUICK := $(addprefix tests/,texts layers analysis code scene figures parts lessons scripts)
CORE := $(QUICK) $(addprefix tests/,api measuring export cli claims) $(BEYOND)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
APP := $(VENV)/app.stamp
DEV := $(VENV)/dev.stamp
ALIVE := $(shell $(BIN)/python -c 'import pip; print("yes")' 2>/dev/null)

# Without bytecode, each of the many processes of a test run would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run docs test quick core made test-oldest test-newest practice training translations claims test-device attack soak fuzz mutants check format screenshots bundles plotlyjs lock docker address clean distclean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(APP) ## start the app and print its address
	@$(BIN)/python -m streamlit run app.py --server.port $(PORT) --server.address $(ADDRESS)

quick: $(DEV) ## run the tests of what this branch changes, on fewer examples and without a browser
	@HYPOTHESIS_PROFILE=quick $(BIN)/python -m tools.changed -q -n 2 -m "not browser" $(filter-out %test_wheel.py,$(BEYOND)) \
	  --ignore=tests/measuring/test_check_other_libraries.py $(PYTEST_ARGS)

core: $(DEV) ## run the tests of the core on fewer examples: no browser, no server, no other framework
	@HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -q -n 2 -m "not browser" $(QUICK) $(BEYOND) $(APPS) $(PYTEST_ARGS)

test: $(DEV) ## run every test
	@$(BIN)/python -m tools.browser
	@$(BIN)/python -m tools.proxy
	@$(BIN)/python -m tools.plotlyjs || true
	@$(BIN)/python -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

test-oldest: ## run the core tests with the lowest versions that pyproject.toml allows, in .venv-oldest
test-newest: ## run the core tests with the newest version of every package, in .venv-newest
test-oldest test-newest: test-%:
	@$(PYTHON) -m tools.versions $* $(VENV)-$* $(RECORD) -n 2 $(CORE) $(PYTEST_ARGS)

practice: $(DEV) ## ask torch again for the answer of every exercise
	@$(BIN)/python -m tools.make_practice --check

training: $(DEV) ## train some networks of the recorded training again, and compare them with the record
	@$(BIN)/python -m tools.record_training --check

translations: $(DEV) ## update the translations from the code, and print what is left to do
	@$(BIN)/python -m tools.translations

claims: $(DEV) ## list the general sentences of the texts, with the predicates that try to refute them
	@$(BIN)/python -m tools.claims

test-device: $(DEV) ## judge right and wrong functions on the accelerator of this computer, if it has one, and print a table
	@$(BIN)/python -m bench.device

attack: $(DEV) ## attack the app with many visitors and hostile input, and print what it withstands
	@$(BIN)/python -m bench.attack

soak: $(DEV) ## let students come and go for MINUTES, an hour without it, and compare the memory of the server
	@$(BIN)/python -m bench.soak $(if $(filter-out 0,$(MINUTES)),--minutes $(MINUTES))

fuzz: $(DEV) ## try 100,000 hostile inputs, and random clicks with new seeds, for MINUTES
	@$(BIN)/python -m tools.browser
	@$(BIN)/python -m tools.fuzz $(MINUTES) $(SEED)

mutants: $(DEV) ## change one thing at a time in MODULES, and print the changes that no test notices
	@$(BIN)/python -m tools.mutants $(MODULES) $(if $(SAMPLE),--sample $(SAMPLE))

check: $(DEV) ## check format, lint, types, imports, the Dockerfile, and known vulnerabilities of this environment and of the image
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m tools.typescript
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml examples/*.yml
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[0-9]*.yml
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.citation-file-format --default-filetype yaml CITATION.cff
	@$(BIN)/hadolint Dockerfile
	@$(BIN)/python -m tools.audit

format: $(DEV) ## format, and fix what ruff can fix
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

screenshots: $(DEV) ## take the pictures in docs/images, and that of links, again
	@$(BIN)/python -m tools.browser
	@$(BIN)/python -m tools.screenshots docs/images
	@$(BIN)/python -m tools.embedding_pictures docs/images
	@$(BIN)/python -m tools.preview

docs: $(DEV) ## build the documentation as a site in build/docs, with warnings as errors
	@$(BIN)/python -m sphinx -q -W --keep-going docs build/docs
	@echo "build/docs/index.html: open it, or serve the directory"

made: $(DEV) ## make again all that is made from the code: types, translations, tables, reference, bundles
	@set -e; for tool in keywords payload_types translations link_tables reference bundles; do $(BIN)/python -m tools.$$tool; done

bundles: $(DEV) ## bundle the browser's code with npm's esbuild; BUNDLES_ARGS=--readable for a debugger
	@$(BIN)/python -m tools.bundles $(BUNDLES_ARGS)

plotlyjs: ## fetch the small plotly.js, which makes pages and files about 1 MB lighter
	@$(PYTHON) -m tools.plotlyjs

# torch is left out: it has an index of its own, whose wheels need no CUDA.
lock: $(DEV) ## pin every package of the image, with hashes, in requirements.lock
	@$(BIN)/uv pip compile requirements.txt --quiet --generate-hashes --python-version 3.11 --python-platform linux \
	  --find-links $(TORCH_LINKS) --no-emit-package torch --custom-compile-command "make lock" $(LOCK_ARGS) -o requirements.lock

docker: ## build the image normviz
	$(DOCKER) build -t normviz .
	@echo "Start it with: $(DOCKER) run --rm -p $(PORT):8501 normviz"

address: ## write the repository's address, a setting in pyproject.toml, where it is needed
	@$(PYTHON) -m tools.address

clean: ## remove caches and build products
	@rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis test-results mutants
	@find . -path './$(VENV)*' -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove .venv, .venv-oldest, .venv-newest and node_modules too
	@rm -rf $(VENV) $(VENV)-oldest $(VENV)-newest node_modules

# Create the environment again if its Python no longer runs, for example after an upgrade.
FORCE:
$(VENV)/pyvenv.cfg: $(if $(ALIVE),,FORCE)
	@$(PYTHON) -c 'import sys; sys.exit("normviz needs Python 3.11 or newer, this is %d.%d: make PYTHON=python3.x" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@echo "Creating $(VENV) ..."
	@$(PYTHON) -m venv --clear $(VENV)

# Only torch comes from the CPU index, so a slow or unreachable index costs only a few seconds; the rest comes from the default index.
$(APP): requirements.txt $(VENV)/pyvenv.cfg
	@echo "Installing the app (torch is large: a few minutes the first time) ..."
	@$(PIP) install --no-deps --timeout 15 --retries 1 --index-url $(TORCH_INDEX) "$$(grep '^torch==' requirements.txt)" \
	  || echo "$(TORCH_INDEX) does not have torch; installing it from the default index."
	@$(PIP) install -r requirements.txt
	@touch $@

$(DEV): pyproject.toml $(APP)
	@echo "Installing the developer tools ..."
	@$(PIP) install "pip>=25.1" # the first one with --group
	@$(PIP) install -r requirements.txt -e '.[app,images,notebook,practice]' --group dev
	@touch $@
