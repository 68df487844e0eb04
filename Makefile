# `make test` is what CI runs. Everything it needs beyond Rust is fetched once into a cache outside the clone.

.PHONY: build test soak lint bench measure

build:
	cargo build --release

# Every test, on SQLite and on a real Postgres that is fetched, started and stopped here.
test:
	scripts/test.sh

# The long tests, before a change is called done: many kills, and comparisons with what the product does not carry.
soak:
	scripts/soak.sh

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo run -q -p munshi-lint
	cargo test -q -p munshi-lint

bench: build
	scripts/postgres.sh run cargo run --release -q -p munshi-bench

# Start to ready, and memory when idle.
measure: build
	scripts/measure.sh
