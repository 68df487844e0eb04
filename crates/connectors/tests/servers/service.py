"""A small service with a document of its own, in several moods: python3 service.py PORT MOOD

It wants `x-gateway-key: s3cret-gateway-key`, counts what it is asked, and tells how often at /count.
"""

import base64
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, mood = int(sys.argv[1]), sys.argv[2]
KEY = "s3cret-gateway-key"
asked = []
orders = {}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Orders", "version": "7"},
    "security": [{"gateway": []}],
    "components": {
        "securitySchemes": {
            "gateway": {"type": "apiKey", "in": "header", "name": "x-gateway-key"},
            "basic": {"type": "http", "scheme": "basic"},
        },
        "schemas": {
            "Order": {
                "type": "object",
                "required": ["item"],
                "additionalProperties": False,
                "properties": {"item": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
            }
        },
    },
    "paths": {
        "/orders": {
            "get": {
                "operationId": "listOrders",
                "summary": "Every order, a page at a time",
                "parameters": [
                    {"name": "offset", "in": "query", "schema": {"type": "integer"}},
                    {"name": "limit", "in": "query", "schema": {"type": "integer", "default": 2}},
                ],
            },
            "post": {
                "operationId": "addOrder",
                "parameters": [{"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}},
                },
            },
        },
        "/orders/{id}": {"get": {"operationId": "readOrder", "parameters": [{"name": "id", "in": "path"}]}},
        "/broken": {"get": {"operationId": "broken"}, "post": {"operationId": "breakIt"}},
        "/elsewhere": {"get": {"operationId": "elsewhere"}},
        "/endless": {"get": {"operationId": "endless"}},
        "/slow": {"get": {"operationId": "slow"}},
        "/echo": {"get": {"operationId": "echo"}},
        "/whoami": {"get": {"operationId": "whoami", "security": [{"basic": []}]}},
    },
}
if mood == "astray":
    DOCUMENT["servers"] = [{"url": "http://169.254.169.254/latest"}]


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def say(self, status, body, **headers):
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/openapi.json":
            if mood == "hidden":
                return self.say(302, {}, location="http://169.254.169.254/openapi.json")
            asked.append(f"document {self.headers.get('authorization')} {self.headers.get('x-gateway-key')}")
            return self.say(200, DOCUMENT)
        if path == "/count":
            return self.say(200, asked)
        asked.append(path)
        if path == "/whoami":
            user, _, password = base64.b64decode(self.headers["authorization"].split()[1]).decode().partition(":")
            return self.say(200, {"user": user, "said": password})
        if self.headers.get("x-gateway-key") != KEY:
            return self.say(401, {"error": "no key"})
        if path == "/broken":
            return self.say(500, {"error": "out of order"})
        if path == "/elsewhere":
            return self.say(302, {}, location="http://127.0.0.1:1/secret")
        if path == "/slow":
            time.sleep(5)
            return self.say(200, {})
        if path == "/echo":
            return self.say(200, dict(self.headers.items()))
        if path == "/endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                return None
        if path == "/orders":
            told = dict(part.split("=") for part in query.split("&") if part)
            first, many = int(told.get("offset", 0)), int(told.get("limit", 2))
            return self.say(200, list(orders.values())[first : first + many])
        return self.say(404, {"error": f"no {path}"})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        asked.append("POST " + self.path)
        if self.path == "/broken":
            return self.say(502, {"error": "perhaps"})
        key = self.headers.get("idempotency-key")
        order = orders.setdefault(key, {"key": key, **json.loads(body)})
        return self.say(201, order)


ThreadingHTTPServer(("127.0.0.1", port), Service).serve_forever()
