# Every target does its own set-up; a second run reuses everything.
.PHONY: help setup build demo test lint bench clean

BIN := $(or $(CARGO_TARGET_DIR),target)/release/groundedvqa

help: ## Show the targets.
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

build: ## Build the release binary.
	cargo build --release

setup: ## Install packages, clips and models that are missing.
	./scripts/setup.sh
	cargo build --release
	$(BIN) models fetch

demo: setup ## Run the whole job on real clips: watch, ask over NATS, verify; writes demo-out/index.html.
	$(BIN) demo --out demo-out

test: setup ## Run every test.
	cargo test --release --no-fail-fast

lint: ## Formatting and lints, warnings denied.
	cargo fmt --check
	cargo clippy --release --all-targets -- -D warnings

clean: ## Remove what was built and what demo and eval wrote; models and clips stay.
	cargo clean
	rm -rf demo-out eval-out
