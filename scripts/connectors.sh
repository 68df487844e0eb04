#!/usr/bin/env bash
# Connectors that nobody here wrote, for the tests: installed once into the cache, outside the clone.
#
#   scripts/connectors.sh          install what is missing, and print where it is
set -euo pipefail

. "$(dirname "$0")/cache.sh"
home=$cache/connectors-1

if [ ! -e "$home/.complete" ]; then
  echo "Installing MCP servers into $home" >&2
  need npm npm
  need pip3 python3-pip
  rm -rf "$home"
  mkdir -p "$home/node"
  (cd "$home/node" && npm install --silent --no-fund --no-audit --prefix . \
    @modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31 >&2)
  python3 -m pip install --quiet --root-user-action=ignore --target "$home/python" mcp-server-time==2026.10.19 >&2
  touch "$home/.complete"
fi
echo "$home"
