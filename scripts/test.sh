#!/usr/bin/env bash
# Every test, on both database engines with a real model, a real browser and other people's programs.
# Extra words go to the test runner: scripts/test.sh -p munshi-store
set -euo pipefail
cd "$(dirname "$0")/.."
MUNSHI_TEST_CONNECTORS=$(scripts/connectors.sh)
export MUNSHI_TEST_CONNECTORS
# The house rules' own tests are part of `make lint`; examples and benchmarks are built by clippy there.
what=(--workspace --exclude munshi-lint --exclude munshi-bench --lib --bins --tests)
[ $# -gt 0 ] && what=("$@")
# Tests write thousands of small databases. Where memory serves as a disk with room, nothing waits for the real one.
place=${TMPDIR:-/tmp}
room=$(df --output=avail -k /dev/shm 2>/dev/null | tail -1 || echo 0)
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ] && [ "$room" -gt $((4 * 1024 * 1024)) ]; then place=/dev/shm; fi
TMPDIR=$(mktemp -d "$place/munshi-test.XXXXXX")
chmod 711 "$TMPDIR" # the database server, which is not root, has its folder within
trap 'rm -rf "$TMPDIR"' EXIT
# Properties are tried with the same cases each time; `make soak` draws others.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED-20261118}
# Migrated databases that the tests of this run copy.
MUNSHI_TEST_TEMPLATES=$TMPDIR/templates
mkdir "$MUNSHI_TEST_TEMPLATES"
export TMPDIR MUNSHI_TEST_TEMPLATES
parts=()
for part in postgres models browser oidc s3 mail imap clients sdks; do parts+=("scripts/$part.sh" run); done
# Examples in the documentation, among them those that must not compile: the runner below leaves them out.
[ $# -gt 0 ] || cargo test -q --doc --workspace --exclude munshi-lint --exclude munshi-bench
if cargo nextest --version >/dev/null 2>&1; then
  # Half of what a test does is waiting, so each core has two at a time.
  passed=0
  "${parts[@]}" cargo nextest run --test-threads "${MUNSHI_TEST_THREADS:-$((2 * $(nproc)))}" "${what[@]}" || passed=$?
  # The runner writes it there wherever programs are built.
  python3 -B scripts/slowest.py target/nextest/default/junit.xml
  exit "$passed"
else
  "${parts[@]}" cargo test "${what[@]}"
fi
