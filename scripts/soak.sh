#!/usr/bin/env bash
# The long tests: 200 kills on each engine, and our JSON Schema checker beside a full implementation.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --release --manifest-path soak/Cargo.toml
MUNSHI_KILLS=${MUNSHI_KILLS:-200} scripts/postgres.sh run \
  cargo test --release -p munshi-agent --test tests -- killed:: --nocapture --test-threads=1
