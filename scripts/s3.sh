#!/usr/bin/env bash
# An S3 server (moto, which checks signatures) for the tests of the blob store.
#
#   scripts/s3.sh install          fetch it into the cache, once
#   scripts/s3.sh run COMMAND …    start it on a free loopback port, run COMMAND with MUNSHI_TEST_S3 set to
#                                  `ENDPOINT BUCKET ACCESS_KEY SECRET_KEY`, stop it
set -euo pipefail

package=moto==5.2.5
# What its server and S3 need of its many extras.
parts=(boto3==1.44.3 flask==3.1.3 flask-cors==6.0.5 PyYAML==6.0.3 py-partiql-parser==0.6.3)
. "$(dirname "$0")/cache.sh"
# Some of it is compiled, so it belongs to one Python.
python=$(python3 -c 'import sys; print(f"{sys.version_info.major}.{sys.version_info.minor}")' 2>/dev/null || true)
home=$cache/${package/==/-}-python$python

install() {
  [ -e "$home/.complete" ] && return
  echo "Installing ${home##*/} into $cache" >&2
  need python3 python3
  python3 -m pip --version >/dev/null 2>&1 || need pip3 python3-pip
  mkdir -p "$cache"
  local partial
  partial=$(mktemp -d "$home.XXXXXX")
  python3 -m pip install --quiet --root-user-action=ignore --target "$partial" "$package" "${parts[@]}" >&2 ||
    { rm -rf "$partial"; echo "error: ${home##*/} can't be installed" >&2; exit 1; }
  touch "$partial/.complete"
  chmod -R a+rX "$partial"
  # Another run may have been faster; its folder is as good.
  mv -T "$partial" "$home" 2>/dev/null || { rm -rf "$partial"; [ -e "$home/.complete" ]; }
}

start() {
  address=$(mktemp "${TMPDIR:-/tmp}/munshi-s3.XXXXXX")
  log=$(mktemp "${TMPDIR:-/tmp}/munshi-s3.XXXXXX")
  PYTHONPATH=$home python3 -B "$(dirname "$0")/s3/server.py" >"$address" 2>"$log" &
  server=$!
  trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -f "$address" "$log"' EXIT
  for _ in $(seq 1200); do
    [ -s "$address" ] && return
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  cat "$log" >&2
  echo "error: the S3 server did not start" >&2
  exit 1
}

case "${1:-}" in
install) install ;;
run)
  shift
  install
  start
  MUNSHI_TEST_S3=$(head -n 1 "$address") "$@"
  ;;
*)
  echo "usage: scripts/s3.sh install | run COMMAND …" >&2
  exit 2
  ;;
esac
