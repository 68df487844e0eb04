#!/usr/bin/env bash
# The long tests: our JSON Schema checker and token counts beside others', properties with cases nobody has drawn before,
# the protocol's whole conformance suite, many reservations at once, a node with the sample
# pack killed at each of its steps, keys, copies and sealing killed at each of theirs, and 200 kills on each engine.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --release --manifest-path soak/Cargo.toml
for _ in 1 2 3; do
  PROPTEST_RNG_SEED=$(od -An -N6 -tu8 /dev/urandom | tr -d ' ') scripts/test.sh \
    -p munshi-lang -p munshi-sms -p munshi-guardrails -p munshi-tiers -p munshi-offline -p munshi-dialogue
done
MUNSHI_TEST_LONG=1 MUNSHI_TEST_RESERVATIONS=${MUNSHI_TEST_RESERVATIONS:-100000} scripts/test.sh \
  -p munshi-connectors -p munshi-safety -E 'test(our_client_conforms) or test(many_reservations)'
# Killed at every moment at which something becomes lasting: while text is sealed, keys are rotated and copies restored.
MUNSHI_TEST_LONG=1 scripts/postgres.sh run \
  cargo test --release -p munshi --test tests -- killed:: --nocapture --test-threads=1
# A node with the sample pack, killed after each of its commits and at each of its calls.
MUNSHI_TEST_LONG=1 scripts/postgres.sh run \
  cargo test --release -p munshi-web --test tests -- dies_at_any_step --nocapture
MUNSHI_KILLS=${MUNSHI_KILLS:-200} scripts/postgres.sh run \
  cargo test --release -p munshi-agent --test tests -- killed:: --nocapture --test-threads=1
