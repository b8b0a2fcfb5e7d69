# Sekali. `make help` says what there is.

PYTHON ?= python3
# One target triple for every build: cargo-lambda always names one, and cargo
# keeps such builds apart from those that name none. Named everywhere, each
# crate is built once.
export CARGO_BUILD_TARGET ?= $(shell rustc -vV 2>/dev/null | sed -n 's/^host: //p')

PORT ?= 4566
DESTINATION_PORT ?= 4600
WATCH_PORT ?= 9000
ARCH ?= arm64
ENDPOINTS ?=
ONCE ?=
FUZZ_SECONDS ?= 60
EVENTS ?= 2000
SEED ?= 1

# A function's package, zipped, 5 MB: what Lambda loads before a cold start.
LARGEST_PACKAGE := 5000000
PEERS ?=
UPDATE ?=

# The command as `make run` builds it, or as it is installed.
SEKALI = $(firstword $(wildcard target/$(CARGO_BUILD_TARGET)/debug/sekali) $(shell command -v sekali))
CONFIGURED = $(or $(ENDPOINTS),infra/endpoints.toml)

# What target/lambda was built for.
BUILT = $(shell cat target/lambda/architecture 2>/dev/null)

VENV := .tools/venv
LINT := .tools/lint
SAM := .tools/sam
CARGO_LAMBDA := $(VENV)/bin/cargo-lambda
FUNCTIONS := ingest processor sweeper

.DEFAULT_GOAL := help
.PHONY: built help run watch test storm lint audit tools package config release deploy architecture check-infra check-cdk test-dynamodb-local rust fuzz bench bench-instructions

help: ## say what there is
	@echo 'make TARGET [NAME=value ..]'
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{ printf "  %-20s %s\n", $$1, $$2 }'
	@echo
	@echo '  run takes ONCE=1 (stop after the demo, fail if its counts are wrong),'
	@echo '  ENDPOINTS=file (another configuration, no demo), PORT= and DESTINATION_PORT=;'
	@echo '  watch takes WATCH_PORT=; package takes ARCH=arm64 or x86_64, and ENDPOINTS=;'
	@echo '  config takes ENDPOINTS=; release and deploy take what was packaged last;'
	@echo '  storm takes EVENTS= (how many) and SEED= (another storm);'
	@echo '  bench takes PEERS=1: install and measure receivers in Python and TypeScript, too.'

run: tools ## run everything on this machine and play the demo; Ctrl-C ends it
	@test -d target/local/lambda || \
	  echo 'building everything; the first time this takes about 5 minutes on 2 cores, later seconds'
	@cargo run --bin sekali -- local run \
	  --port $(PORT) --destination-port $(DESTINATION_PORT) \
	  $(if $(ENDPOINTS),--endpoints $(ENDPOINTS)) $(if $(ONCE),--once)

watch: tools ## serve the functions with reload, on the tables of a `make run` beside it
	@test -f target/local/env || { echo 'start `make run` in another terminal first: it has the tables' >&2; exit 1; }
	@$(CARGO_LAMBDA) lambda watch -A 127.0.0.1 -P $(WATCH_PORT) --env-file target/local/env

test: tools check-infra check-cdk ## run every test
	@cargo test --workspace

check-infra: $(LINT)/.installed $(SAM)/.installed ## lint the templates, as they are and as the SAM transform makes them
	@infra/checks/run.sh $(LINT) $(SAM) target/infra

check-cdk: ## build, check and test the CDK construct (Node 20 or newer)
	@if command -v npm >/dev/null && node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' 2>/dev/null; then \
	  cd infra/cdk && \
	  { cmp -s package-lock.json node_modules/.installed || \
	    { echo 'installing the CDK into infra/cdk/node_modules (about 220 MB, once)'; \
	      npm ci --silent --no-audit --no-fund --ignore-scripts && cp package-lock.json node_modules/.installed; }; } && \
	  npm test --silent; \
	else \
	  echo 'infra/cdk was not checked: it needs Node 20 or newer with npm'; \
	fi

storm: tools ## misbehaving vendors against the real functions, until all is counted
	@cargo run --package sekali-tests --bin storm -- --events $(EVENTS) --seed $(SEED)

lint: rust ## check formatting and run clippy; warnings are errors
	@cargo fmt --all --check
	@cargo clippy --workspace --all-targets -- -D warnings

audit: rust ## check licences and known vulnerabilities (needs a network)
	@command -v cargo-deny >/dev/null || { echo 'cargo-deny is not installed: cargo install --locked cargo-deny' >&2; exit 1; }
	@cargo deny check || { echo 'make audit asks the advisory database: without a network it cannot answer' >&2; exit 1; }

# Before anything is built: what is not arm64 would be built for Intel, and
# deployed under the name that was given.
architecture:
	@case '$(ARCH)' in arm64 | x86_64) ;; *) echo "ARCH is arm64 or x86_64, not '$(ARCH)'" >&2; exit 1 ;; esac

package: architecture tools ## build the functions for AWS into target/lambda, as infra/template.yaml expects them
	@# The linker for another architecture, and for the C library that Lambda has.
	@$(VENV)/bin/python -m ziglang version >/dev/null 2>&1 || { \
	  echo 'installing the cross linker into .tools (about 300 MB, once)'; \
	  $(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps ziglang==0.15.2; }
	@# cargo-lambda's own release settings would abort on a panic, which here is
	@# one record's failure; the workspace's profile has the rest of them.
	@env -u CARGO_BUILD_TARGET PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(CARGO_LAMBDA) lambda build --release --disable-optimizations --locked \
	  --$(if $(filter arm64,$(ARCH)),arm64,x86-64) --lambda-dir target/lambda $(FUNCTIONS:%=--package %)
	@for function in $(FUNCTIONS); do \
	  size=$$(gzip -9c target/lambda/$$function/bootstrap | wc -c); \
	  test $$size -le $(LARGEST_PACKAGE) || { echo "$$function: $$size bytes zipped, of at most $(LARGEST_PACKAGE)" >&2; exit 1; }; \
	  echo "$$function: $$size bytes zipped"; \
	done
	@echo $(ARCH) >target/lambda/architecture
	@$(MAKE) --no-print-directory config
	@echo 'built for $(ARCH); now: make deploy, or make release'

config: tools ## put ENDPOINTS= and its vendors beside the functions in target/lambda; compiles nothing
	@$(if $(SEKALI),$(SEKALI) check $(CONFIGURED),echo '$(CONFIGURED) is not checked: nothing has built `sekali` here')
	@$(VENV)/bin/python infra/package.py configure target/lambda $(CONFIGURED)

release: built tools ## make a zip of target/lambda that `sam deploy` takes as it is, for a team without Rust
	@$(VENV)/bin/python infra/package.py release target/lambda $(BUILT) \
	  $$(sed -n '/^\[workspace.package\]/,/^\[/ s/^version = "\(.*\)"/\1/p' Cargo.toml) target/release-zips/sekali-$(BUILT).zip

deploy: built $(SAM)/.installed ## ask for what is needed and deploy target/lambda to your AWS account
	@SAM_CLI_TELEMETRY=0 $(SAM)/bin/sam deploy --guided --template infra/template.yaml \
	  $(if $(wildcard infra/samconfig.toml),,--stack-name sekali-dev) \
	  --capabilities CAPABILITY_IAM --parameter-overrides Architecture=$(BUILT)

built: architecture
	@test -n '$(BUILT)' || { echo 'nothing is built: make package ARCH=$(ARCH) first' >&2; exit 1; }
	@test '$(origin ARCH)' = file || test '$(ARCH)' = '$(BUILT)' || \
	  { echo 'target/lambda is built for $(BUILT): make package ARCH=$(ARCH) first' >&2; exit 1; }

test-dynamodb-local: rust ## run the store's contract against DynamoDB Local (needs a Docker engine)
	@tests/dynamodb-local.sh

# The sanitizers need a nightly compiler; everything else is built with the
# pinned one.
fuzz: rust ## try arbitrary bytes on parsers and verification (nightly Rust, cargo-fuzz; FUZZ_SECONDS= each)
	@command -v cargo-fuzz >/dev/null || { echo 'cargo-fuzz is not installed: cargo install --locked cargo-fuzz' >&2; exit 1; }
	@rustup run nightly rustc --version >/dev/null 2>&1 || { echo 'a nightly compiler is needed: rustup toolchain install nightly --profile minimal' >&2; exit 1; }
	@for target in tests/fuzz/fuzz_targets/*.rs; do \
	  echo "fuzzing $$(basename $$target .rs)" && \
	  cargo +nightly fuzz run --fuzz-dir tests/fuzz $$(basename $$target .rs) -- \
	    -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -verbosity=0 -print_funcs=0 || exit 1; \
	done

RELEASE := target/$(CARGO_BUILD_TARGET)/release
PYTHON_PEER := .tools/peers/python
TYPESCRIPT_PEER := .tools/peers/typescript

bench: tools $(if $(PEERS),$(PYTHON_PEER)/.installed $(TYPESCRIPT_PEER)/.installed) ## measure the release binaries beside the least that a function could do; report in target/bench
	@cargo build --release --package ingest --package processor --package yardstick
	@cargo run --quiet --package sekali-tests --bin bench -- --binaries $(RELEASE) --out target/bench \
	  $(if $(PEERS),--peer 'python:$(CURDIR)/$(PYTHON_PEER)/bin/python $(CURDIR)/tests/bench/peers/python/bootstrap.py' \
	    --peer "typescript:$$(command -v node) $(CURDIR)/$(TYPESCRIPT_PEER)/bootstrap.cjs")

$(PYTHON_PEER)/.installed: tests/bench/peers/python/requirements.txt
	@rm -rf $(PYTHON_PEER) && $(PYTHON) -m venv $(PYTHON_PEER)
	@$(PYTHON_PEER)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(TYPESCRIPT_PEER)/.installed: $(wildcard tests/bench/peers/typescript/*)
	@command -v npm >/dev/null || { echo 'Node.js 20 or newer with npm is needed' >&2; exit 1; }
	@rm -rf $(TYPESCRIPT_PEER) && mkdir -p .tools/peers && cp -r tests/bench/peers/typescript $(TYPESCRIPT_PEER)
	@cd $(TYPESCRIPT_PEER) && npm install --silent --no-audit --no-fund && npm run --silent bundle
	@touch $@

bench-instructions: rust ## count instructions of verification and extraction against the stored baseline (UPDATE=1 stores them)
	@cargo build --release --package yardstick
	@tests/bench/instructions.sh $(RELEASE)/instructions tests/bench/instructions.baseline $(if $(UPDATE),update)

tools: rust $(VENV)/.installed $(VENV)/.standard-webhooks ## install the emulator and cargo-lambda into .tools

$(LINT)/.installed: infra/checks/requirements-lint.txt
	$(call fresh_venv,$(LINT),$<,cfn-lint (180 MB))

$(SAM)/.installed: infra/checks/requirements-sam.txt
	$(call fresh_venv,$(SAM),$<,the SAM command line (350 MB))

define fresh_venv
	@$(HAS_PYTHON)
	@echo 'installing $(3) into $(1), once'
	@rm -rf $(1) && $(PYTHON) -m venv $(1)
	@$(1)/bin/pip install --quiet --disable-pip-version-check --no-deps -r $(2)
	@touch $(1)/.installed
endef

HAS_PYTHON = $(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo 'Python 3.11 or newer with its venv module is needed; name it with PYTHON=' >&2; exit 1; }

$(VENV)/.installed: infra/local/requirements.txt
	@$(HAS_PYTHON)
	@echo 'installing the emulator and cargo-lambda into .tools (about 140 MB, once)'
	@rm -rf $(VENV) && $(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps -r infra/local/requirements.txt
	@touch $@

$(VENV)/.standard-webhooks: tests/tests/destinations/requirements.txt $(VENV)/.installed
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $<
	@touch $@

rust:
	@command -v cargo >/dev/null || { echo 'Rust is needed: install it with rustup, see https://rustup.rs' >&2; exit 1; }

.PHONY: model
model: rust ## visit every state of the protocol, and catch every mutant of it (minutes)
	@cargo run --quiet --profile proof --package sekali-tests --bin model

RUNS ?= 20000
.PHONY: sim
sim: rust ## simulate faults: every single one, every pair, and RUNS= drawn from SEED=
	@cargo run --quiet --profile proof --package sekali-tests --bin sim -- --runs $(RUNS) --seed $(SEED)
