.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Or each of the tests' thousand commands would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install lock demo docs quick test test-all servers stop-servers test-live env lint check fmt bench release clean
SERVERS := $(BIN)/python tests/servers/servers.py
UV := $(BIN)/uv pip

help:  ## Show this list
	@grep -hE '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# uv installs in a tenth of pip's time; pip installs it, at the version and with a hash of the lock.
# Type checkers follow a path to the package, but not the import hook of the editable install.
$(VENV)/.installed: pyproject.toml requirements-dev.lock
	$(PYTHON) -m venv $(VENV)
	sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.lock | $(BIN)/python -m pip install --quiet --require-hashes --requirement /dev/stdin
	$(UV) install --quiet --python $(BIN)/python --require-hashes --requirement requirements-dev.lock
	$(UV) install --quiet --python $(BIN)/python --no-build-isolation --no-deps --editable .
	echo "$(CURDIR)" >"$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/esrag-types.pth"
	touch $@

lock: install  ## Write requirements-dev.lock: the versions and hashes of everything that `make install` installs
	$(UV) compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --group dev pyproject.toml --output-file requirements-dev.lock

install: $(VENV)/.installed  ## Make .venv with the package and everything to develop it

demo: install  ## Ingest a small corpus and ask three questions: two are answered, one is refused
	$(BIN)/esrag models get
	PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

example-%: install  ## Ingest examples/NAME and score its questions; NAME: csv-kb, cited-specs, hierarchical, intents, two-tier
	$(BIN)/esrag models get
	PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/$*/run.sh

docs: install  ## Build the documentation as a site, build/docs/index.html; a warning is an error
	$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going --nitpicky \
		--conf-dir site --doctree-dir build/doctrees . build/docs

# Most tests wait for a process more than they compute, so there are more processes than cores.
PYTEST := $(BIN)/python -m pytest --numprocesses 4 --dist loadgroup
HEAVY := live or packaging or quality or slow
SLOWER := tests/test_forkserver.py tests/test_patterns.py
QUICK := esrag $(addprefix tests/,text chunking evidence verifying retrieving generating) \
	$(filter-out $(SLOWER),$(wildcard tests/test_*.py))

quick: install  ## Run the tests that need no server and hardly a command, within a minute
	$(PYTEST) -m "not ($(HEAVY))" $(QUICK)

test: install  ## Run all tests except the heaviest; fetches the encoder's weights the first time
	$(BIN)/esrag models get
	$(PYTEST) -m "not ($(HEAVY))"

test-all: install  ## Run every test, with search servers, wheels, a public collection and long faults; what CI runs
	$(BIN)/esrag models get
	$(PYTEST)

servers: install  ## Start a real OpenSearch (port 9200) and Elasticsearch (port 9201) for tests; needs a JDK 21 and Maven
	$(SERVERS) start opensearch --port 9200 --data .servers/opensearch
	$(SERVERS) start elasticsearch --port 9201 --data .servers/elasticsearch

stop-servers:  ## Stop them; their data stay in .servers
	$(SERVERS) stop --data .servers/opensearch
	$(SERVERS) stop --data .servers/elasticsearch

test-live: install  ## Only the tests that talk to real search servers, which they start themselves
	$(BIN)/python -m pytest -m live

SECRETS := ELASTIC_PASSWORD KIBANA_SYSTEM_PASSWORD KIBANA_SESSION_KEY KIBANA_OBJECTS_KEY APP_PASSWORD VIEWER_PASSWORD QUEUE_PASSWORD CACHE_PASSWORD

env: .env  ## Write .env with random passwords for docker-compose.yml, unless there is one

.env:
	umask 077 && { echo COMPOSE_PROFILES=elasticsearch; for name in $(SECRETS); do \
		echo "$$name=$$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"; done; } >$@

lint: install  ## Linters, types, layers and generated docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/cog --check -r README.md docs/reference/*.md

check: install  ## Linters, types, layers, generated docs, the site, the demo, then every test; what CI runs
	$(MAKE) --jobs=2 --output-sync lint docs demo
	$(MAKE) test-all

fmt: install  ## Format the code and write the generated parts of the docs
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/cog -r README.md docs/reference/*.md

bench: install  ## Run the benchmarks; each prints a table
	$(BIN)/python benchmarks/run.py

release: install  ## Build sdist, wheel, SBOM and checksums into dist, and the image if Docker runs; publishes nothing
	rm -rf dist
	PATH="$(CURDIR)/$(BIN):$$PATH" .ci/release

clean:  ## Remove what can be made again
	rm -rf $(VENV) .servers build dist *.egg-info .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
