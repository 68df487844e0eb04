"""An MCP server of the official SDK that lets nobody in without a token of an authorization server.

    guarded.py PORT ISSUER FILE     what was called is written to FILE, a line each
"""

import asyncio
import base64
import json
import sys
import time
import urllib.parse
import urllib.request

from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer

port, issuer, file = int(sys.argv[1]), sys.argv[2], sys.argv[3]
address = f"http://127.0.0.1:{port}/mcp"


def asked(token: str) -> dict:
    form = urllib.parse.urlencode({"token": token}).encode()
    login = base64.b64encode(b"service:" + urllib.parse.quote_plus("the service's own").encode()).decode()
    request = urllib.request.Request(f"{issuer}/token/introspection", form, {"authorization": f"Basic {login}"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


class Introspecting(TokenVerifier):
    async def verify_token(self, token: str) -> AccessToken | None:
        about = await asyncio.to_thread(asked, token)
        if not about.get("active"):
            return None
        return AccessToken(
            token=token,
            client_id=about["client_id"],
            scopes=about.get("scope", "").split(),
            expires_at=about.get("exp"),
            resource=about.get("aud"),
        )


settings = AuthSettings(
    issuer_url=issuer, resource_server_url=address, required_scopes=["files"], validate_token_resource=True
)
server = MCPServer("guarded", version="1", token_verifier=Introspecting(), auth=settings)


@server.tool(description="Writes a line down.")
def note(text: str) -> str:
    with open(file, "a", encoding="utf-8") as lines:
        lines.write(f"{text}\n")
    return f"noted {text} at {time.time():.0f}"


server.run("streamable-http", port=port)
