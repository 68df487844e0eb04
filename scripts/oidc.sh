#!/usr/bin/env bash
# A certified OpenID provider (npm's oidc-provider) for the tests of sign-in.
#
#   scripts/oidc.sh install          fetch it into the cache, once
#   scripts/oidc.sh run COMMAND …    start it on a free loopback port, run COMMAND with MUNSHI_TEST_OIDC (its address)
#                                    and MUNSHI_TEST_OIDC_HOME (where it is installed) set, stop it
set -euo pipefail

package=oidc-provider@9.13.3
. "$(dirname "$0")/cache.sh"
home=$cache/${package/@/-}

install() {
  [ -e "$home/.complete" ] && return
  echo "Installing ${home##*/} into $cache" >&2
  need npm npm
  mkdir -p "$cache"
  local partial
  partial=$(mktemp -d "$home.XXXXXX")
  echo '{ "private": true }' >"$partial/package.json"
  npm install --silent --no-audit --no-fund --prefix "$partial" "$package" >&2 ||
    { rm -rf "$partial"; echo "error: ${home##*/} can't be installed" >&2; exit 1; }
  touch "$partial/.complete"
  chmod -R a+rX "$partial"
  # Another run may have been faster; its folder is as good.
  mv -T "$partial" "$home" 2>/dev/null || { rm -rf "$partial"; [ -e "$home/.complete" ]; }
}

start() {
  address=$(mktemp "${TMPDIR:-/tmp}/munshi-oidc.XXXXXX")
  log=$(mktemp "${TMPDIR:-/tmp}/munshi-oidc.XXXXXX")
  node "$(dirname "$0")/oidc/provider.mjs" "$home" >"$address" 2>"$log" &
  provider=$!
  trap 'kill "$provider" 2>/dev/null || true; wait "$provider" 2>/dev/null || true; rm -f "$address" "$log"' EXIT
  for _ in $(seq 1200); do
    [ -s "$address" ] && return
    kill -0 "$provider" 2>/dev/null || break
    sleep 0.1
  done
  cat "$log" >&2
  echo "error: the OpenID provider did not start" >&2
  exit 1
}

case "${1:-}" in
install) install ;;
run)
  shift
  install
  start
  MUNSHI_TEST_OIDC=$(head -n 1 "$address") MUNSHI_TEST_OIDC_HOME=$home "$@"
  ;;
*)
  echo "usage: scripts/oidc.sh install | run COMMAND …" >&2
  exit 2
  ;;
esac
