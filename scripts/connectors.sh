#!/usr/bin/env bash
# What connectors are tried with that nobody here wrote: MCP servers, a service with an OpenAPI document, and the
# protocol's conformance suite. Installed once into the cache, outside the clone.
#
#   scripts/connectors.sh          install what is missing, and print where it is
set -euo pipefail

. "$(dirname "$0")/cache.sh"
home=$cache/connectors-2

if [ ! -e "$home/.complete" ]; then
  echo "Installing MCP servers, a service and the conformance suite into $home" >&2
  need npm npm
  need pip3 python3-pip
  mkdir -p "$cache"
  partial=$(mktemp -d "$home.XXXXXX")
  mkdir -p "$partial/node"
  (cd "$partial/node" && npm install --silent --no-fund --no-audit --prefix . \
    @modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31 >&2)
  # The suite needs a newer Node than most systems have.
  mkdir -p "$partial/conformance"
  (cd "$partial/conformance" && npm install --silent --no-fund --no-audit --prefix . \
    node@22.23.3 @modelcontextprotocol/conformance@0.2.0-alpha.12 >&2)
  # The client `mcp` comes with it.
  python3 -m pip install --quiet --root-user-action=ignore --target "$partial/python" mcp-server-time==2026.10.19 >&2
  python3 -m pip install --quiet --root-user-action=ignore --target "$partial/service" jupyverse-api==0.15.3 \
    fps-contents==0.11.5 fps-noauth==0.10.2 fps-file-watcher==0.2.2 \
    "fps[web]==0.6.7" anycorn==0.20.1 rich-click==1.9.9 >&2
  touch "$partial/.complete"
  chmod -R a+rX "$partial"
  # Another run may have been faster; its folder is as good.
  mv -T "$partial" "$home" 2>/dev/null || { rm -rf "$partial"; [ -e "$home/.complete" ]; }
fi
echo "$home"
