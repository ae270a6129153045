# `make` or `make help` lists what there is.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := UV_NO_PROGRESS=1 $(BIN)/uv
UV_VERSION := 0.13.8
STAMP := $(VENV)/.warren-setup
PYTEST_ARGS ?=
SUDO := $(if $(filter-out 0,$(shell id -u)),sudo)
# The markers are in tests/support/real_things.py.
FAST := smoke or not (kafka or spark or browser or containers or servers or heavy)
# Many tests wait for servers.
WORKERS ?= 4
PYTEST = WARREN_TEST_TIER=$@ $(BIN)/pytest -n $(WORKERS) --no-loadscope-reorder
PROMETHEUS := deploy/prometheus
# The generators stand beside what they write, in no wheel.
GENERATORS := PYTHONPATH=docs
GENERATE := $(GENERATORS) $(BIN)/python -m warren_docs
# Hundreds of processes are started here: none compiles again what another one has compiled.
export PYTHONDONTWRITEBYTECODE :=

# The same bytes from the same files, whenever and by whom.
PACK := tar --sort=name --mtime=@$${SOURCE_DATE_EPOCH:-0} --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -cf -

.PHONY: help setup run test test-heavy test-fast browser alertmanager prometheus cloudevents helm kubernetes site check budgets format bench plots docs release clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## Virtual environment, locked dependencies and the servers' jars (needs Python 3.11+, Java 17+)
	@$(BIN)/python -m warren_local.jars

$(STAMP): uv.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "warren: Python is missing: install Python 3.11 or newer (or set PYTHON=…)" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "warren: $(PYTHON) is $$($(PYTHON) -V 2>&1): install Python 3.11 or newer (or set PYTHON=…)" >&2; exit 2; }
	@command -v java >/dev/null || { echo "warren: Java is missing: install a Java 17 (or newer) runtime, for example openjdk-17-jre-headless" >&2; exit 2; }
	@[ -x $(BIN)/uv ] && $(BIN)/uv --version | grep -qF ' $(UV_VERSION) ' || { \
	  echo "Creating $(VENV)"; \
	  $(PYTHON) -m venv $(VENV) || { echo "warren: $(PYTHON) -m venv failed: install the venv module (Debian: python3-venv)" >&2; exit 2; }; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION); }
	@echo "Installing the locked dependencies"
	@$(UV) sync --locked --all-extras --quiet --compile-bytecode
	@touch $@

run: setup ## Start everything with a demo workload; BOOTSTRAP=host:9092 monitors that cluster instead
	@exec $(BIN)/warren up $(if $(BOOTSTRAP),--bootstrap $(BOOTSTRAP)) $(if $(HOME_BOOTSTRAP),--home-bootstrap $(HOME_BOOTSTRAP)) $(RUN_ARGS)

test: setup ## Run each contract once against the real thing, and all of the core: 7 to 14 minutes
	@$(PYTEST) -m 'not heavy' $(PYTEST_ARGS)

test-heavy: setup ## Run what `make test` leaves out: Spark's matrices, kills, clusters, every page in every look
	@$(PYTEST) -m heavy $(PYTEST_ARGS)

test-fast: setup ## Run the tests that start no real thing, and one smoke test of each real thing
	@$(PYTEST) -m '$(FAST)' $(PYTEST_ARGS)

browser: ## Install Chromium, in which `make test` looks at the pages (Debian, Ubuntu)
	@command -v chromium >/dev/null || { \
	  command -v apt-get >/dev/null || { echo "warren: install Chromium, or name one in WARREN_TEST_BROWSER" >&2; exit 2; }; \
	  $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; }

alertmanager: ## Install Alertmanager, to which `make test` sends alerts (Debian, Ubuntu)
	@command -v prometheus-alertmanager >/dev/null || command -v alertmanager >/dev/null || { \
	  command -v apt-get >/dev/null || { echo "warren: install Alertmanager, or name one in WARREN_TEST_ALERTMANAGER" >&2; exit 2; }; \
	  $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends prometheus-alertmanager >/dev/null; }

prometheus: ## Install Prometheus: promtool for `make check`, a server that `make test` has scrape Warren (Debian, Ubuntu)
	@command -v promtool >/dev/null && command -v prometheus >/dev/null || { \
	  command -v apt-get >/dev/null || { echo "warren: install Prometheus, or name one in WARREN_TEST_PROMETHEUS" >&2; exit 2; }; \
	  $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends prometheus >/dev/null; }

cloudevents: ## Install npm's cloudevents, with which `make test` reads change events (needs Node 20+)
	@cmp -s tests/support/cloudevents/package-lock.json .warren/cloudevents/package-lock.json \
	  && node -e 'require("$(CURDIR)/.warren/cloudevents/node_modules/cloudevents")' 2>/dev/null || { \
	  command -v npm >/dev/null || { echo "warren: install Node 20 or newer, with npm" >&2; exit 2; }; \
	  mkdir -p .warren/cloudevents; cp tests/support/cloudevents/package*.json .warren/cloudevents/; \
	  npm ci --prefix .warren/cloudevents --ignore-scripts --no-audit --no-fund --silent; }

helm: ## Install Helm, with which `make test` renders the chart (needs Go, or a helm that is there)
	@command -v helm >/dev/null || [ -x .warren/bin/helm ] || { \
	  command -v go >/dev/null || { echo "warren: install Helm 3, or Go, with which it is built" >&2; exit 2; }; \
	  GOBIN=$(CURDIR)/.warren/bin go install helm.sh/helm/v3/cmd/helm@v3.22.0; }

check: setup ## Lint, format, types, lock, generated docs; alert rules where promtool is
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@MYPYPATH=benchmarks $(BIN)/mypy benchmarks/*.py
	@$(GENERATORS) $(BIN)/lint-imports --no-logo
	@$(UV) lock --check --offline --quiet || $(UV) lock --check
	@$(GENERATE) --check
	@$(GENERATE).budgets
	@$(MAKE) --no-print-directory site
	@if command -v promtool >/dev/null; then \
	  promtool check config $(PROMETHEUS)/prometheus.yml && promtool check rules $(PROMETHEUS)/warren-rules.yml && \
	  promtool test rules $(PROMETHEUS)/warren-rules-test.yml; \
	else echo "no promtool: the alert rules were not tested (\`make prometheus\` installs it)"; fi

budgets: setup ## Lower the budgets in pyproject.toml to what stands
	@$(GENERATE).budgets --lower

format: setup ## Format the code and fix what ruff can fix
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: setup ## Run every benchmark; each prints one line of JSON
	@for file in benchmarks/[a-z]*.py; do echo "# $$file"; $(BIN)/python $$file || exit 1; done

plots: setup ## Measure what each rule is worth, into docs/evaluation.md: 7 minutes
	@$(BIN)/python benchmarks/detection.py --ablate --write --kinds developed reported --report --repeats 10

docs: setup ## Generate pages of docs/ from the code
	@$(GENERATE)

site: setup ## Build the docs as a site into .warren/site/html; a link that leads nowhere is an error
	@rm -rf .warren/site && mkdir -p .warren/site/pages && cp docs/zensical.toml .warren/site/
	@git ls-files '*.md' '*.yml' 'docs/*.png' 'deploy/grafana/*.json' 'deploy/helm/*' | xargs cp --parents -t .warren/site/pages
	@{ printf '# Warren\n\n> What programs that read may read: https://llmstxt.org\n\n## Pages\n\n'; \
	  for page in $$(grep -o '[a-zA-Z/-]*\.md' docs/zensical.toml); do \
	    printf -- '- [%s](%s.html)\n' "$$(sed -n 's/^# //p;T;q' $$page)" "$$(echo $${page%.md} | sed 's/README$$/index/')"; done; } > .warren/site/pages/llms.txt
	@$(BIN)/zensical build --strict --config-file .warren/site/zensical.toml >.warren/site/log 2>&1 || { cat .warren/site/log; exit 1; }

kubernetes: setup helm ## Install, upgrade and roll back the chart where KUBECONFIG points, in a namespace of its own
	@WARREN_TEST_KUBECONFIG=$${KUBECONFIG:?warren: set KUBECONFIG to the cluster that takes the chart} $(PYTEST) -n 0 tests/deploy/test_kubernetes.py

release: site ## Build what a release has into dist/: wheel, sdist, bill of materials, OpenAPI, schemas, docs, chart, checksums
	@rm -rf dist
	@$(UV) build --quiet --no-build-isolation --out-dir dist
	@rm -f dist/.gitignore
	@$(UV) export --quiet --locked --all-extras --no-dev --format cyclonedx1.5 --preview-features sbom-export --output-file dist/warren-kafka.cdx.json >/dev/null
	@$(GENERATORS) $(BIN)/python -m warren_docs.published dist
	@cp deploy/prometheus/warren-rules.yml dist/
	@$(PACK) -C .warren/site html | gzip -n > dist/warren-docs.tar.gz
	@if PATH=$$PATH:.warren/bin command -v helm >/dev/null; then rm -rf .warren/chart && \
	  PATH=$$PATH:.warren/bin helm package --destination .warren/chart deploy/helm/warren >/dev/null 2>&1 && cd .warren/chart && \
	  for chart in *.tgz; do tar -xzmf $$chart && $(PACK) warren | gzip -n > ../../dist/$$chart; done; \
	else echo "no helm: the chart was not packed"; fi
	@cd dist && find . -type f ! -name SHA256SUMS | LC_ALL=C sort | sed 's#^\./##' | xargs sha256sum > SHA256SUMS

clean: ## Remove everything that was installed or written here
	@rm -rf $(VENV) .warren .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
