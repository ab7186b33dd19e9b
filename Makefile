# Needs Python 3.11 or newer and make. `make` alone lists the targets.
#
#   make run PORT=8600              another port
#   make run ADDRESS=0.0.0.0        let the whole classroom in
#   make test PYTEST_ARGS="-k axes" some of the tests
#   make fuzz MINUTES=60            new hostile inputs for an hour
#   make fuzz SEED=294682           a round that failed, again

PYTHON ?= python3
PORT ?= 8501
ADDRESS ?= localhost
PYTEST_ARGS ?=
MINUTES ?= 0
SEED ?=
DOCKER ?= docker
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
APP := $(VENV)/app.stamp
DEV := $(VENV)/dev.stamp
ALIVE := $(shell $(BIN)/python -c 'import pip; print("yes")' 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help run test fuzz check format screenshots docker clean distclean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(APP) ## start the app and print its address
	@$(BIN)/python -m streamlit run app.py --server.port $(PORT) --server.address $(ADDRESS)

test: $(DEV) ## run every test
	@$(BIN)/python -m tools.browser
	@$(BIN)/python -m tools.proxy
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile $(PYTEST_ARGS)

fuzz: $(DEV) ## 100,000 hostile inputs and a monkey with new seeds, for MINUTES
	@$(BIN)/python -m tools.browser
	@$(BIN)/python -m tools.fuzz $(MINUTES) $(SEED)

check: $(DEV) ## check format, lint, types, imports and known vulnerabilities
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m tools.javascript_types
	@$(BIN)/python -m tools.audit

format: $(DEV) ## format, and mend what ruff can
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

screenshots: $(DEV) ## make the pictures in docs/images anew
	@$(BIN)/python -m tools.browser
	@$(BIN)/python -m tools.screenshots docs/images
	@$(BIN)/python -m tools.embedding_pictures docs/images

docker: ## build the image normviz
	$(DOCKER) build -t normviz .
	@echo "Start it with: $(DOCKER) run --rm -p $(PORT):8501 normviz"

clean: ## remove caches and build products
	@rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis test-results
	@find . -path ./$(VENV) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove .venv too
	@rm -rf $(VENV)

# Made anew when its Python does not run (removed, or upgraded away).
FORCE:
$(VENV)/pyvenv.cfg: $(if $(ALIVE),,FORCE)
	@$(PYTHON) -c 'import sys; sys.exit("normviz needs Python 3.11 or newer, this is %d.%d: make PYTHON=python3.x" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@echo "Making $(VENV) ..."
	@$(PYTHON) -m venv --clear $(VENV)

# The CPU index is asked for torch alone, so that a slow or closed one costs seconds; the default index serves the rest.
$(APP): requirements.txt $(VENV)/pyvenv.cfg
	@echo "Installing the app (torch is large: a few minutes the first time) ..."
	@$(PIP) install --no-deps --timeout 15 --retries 1 --index-url $(TORCH_INDEX) "$$(grep '^torch==' requirements.txt)" \
	  || echo "$(TORCH_INDEX) did not serve torch; taking it from the default index."
	@$(PIP) install -r requirements.txt
	@touch $@

$(DEV): pyproject.toml $(APP)
	@echo "Installing the developer tools ..."
	@$(PIP) install -r requirements.txt -e '.[dev]'
	@touch $@
