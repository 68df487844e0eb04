"""Asks the platforms' own SDKs about what we send and accept: a question a line on standard input, an answer a line on standard output.

  {"ask": "request", "platform": P, "method": M, "path": PATH, "type": CONTENT_TYPE, "body": BASE64}
      Has the SDK send the same by its own calls, and compares what it would send, field by field.
  {"ask": "signature", "platform": P, "secret": S, "url": URL, "headers": {...}, "body": BASE64}
      Whether the SDK believes the signature.
  {"ask": "update", "platform": P, "body": JSON}
      Whether the SDK's models read it, with no field that they do not know.

An answer is {"ok": true} or {"ok": false, "why": TEXT}. What the SDK has no word for is {"ok": true, "skipped": TEXT}.
"""

import base64
import json
import sys
import traceback
import urllib.parse


class Refused(Exception):
    """What is wrong with it, in words."""


class Skipped(Exception):
    """What the SDK knows nothing of."""


def compare(ours, theirs, place=""):
    """Theirs is what the SDK sends: nothing that we send may be missing there or differ, and nothing there may be missing with us."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs)):
            if key not in theirs:
                raise Refused(f"{place}/{key}: the SDK sends no such field")
            if key not in ours:
                raise Refused(f"{place}/{key}: the SDK sends {theirs[key]!r}, we do not")
            compare(ours[key], theirs[key], f"{place}/{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for number, (mine, other) in enumerate(zip(ours, theirs)):
            compare(mine, other, f"{place}/{number}")
    elif str(ours) != str(theirs):
        raise Refused(f"{place}: the SDK sends {theirs!r}, we send {ours!r}")


class Whatsapp:
    """pywa: Meta's Cloud API."""

    def __init__(self):
        import httpx
        import pywa
        from pywa import types

        self.types, self.sent = types, []

        def answer(request):
            self.sent.append((request.method, request.url.path, request.content))
            said = {"messages": [{"id": "wamid.1"}], "contacts": [{"input": "1", "wa_id": "1"}], "success": True}
            return httpx.Response(200, json=said)

        self.pywa, self.clients = pywa, {}
        self.open_line = lambda: httpx.Client(transport=httpx.MockTransport(answer), base_url="https://graph.example")

    def build_client(self, phone):
        """One for each number, as the SDK wants it."""
        if phone not in self.clients:
            client = self.pywa.WhatsApp(phone_id=phone, token="t", session=self.open_line(), filter_updates=False)
            self.clients[phone] = client
        return self.clients[phone]

    def request(self, asked):
        if asked["method"] != "POST" or not asked["path"].endswith("/messages"):
            raise Skipped("only messages are compared")
        ours = json.loads(asked["body"])
        parts = asked["path"].strip("/").split("/")
        client = self.build_client(parts[-2])
        self.sent.clear()
        self.call(client, ours)
        (method, path, body), = self.sent
        theirs = json.loads(body)
        if path.split("/")[-2:] != parts[-2:] or method != "POST":
            raise Refused(f"the SDK asks {method} {path}")
        # Left out by us, or by them, where it says what is so anyway.
        for body in (ours, theirs):
            body.setdefault("recipient_type", "individual")
            if body.get("type") == "text":
                body["text"].setdefault("preview_url", False)
            if body.get("type") in ("image", "video", "document", "audio"):
                for key in [key for key, value in body[body["type"]].items() if value in (None, False)]:
                    del body[body["type"]][key]
        if "status" in ours:
            ours.pop("recipient_type", None)
            theirs.pop("recipient_type", None)
        compare(ours, theirs)

    def call(self, client, ours):
        types = self.types
        if ours.get("status") == "read":
            if ours.get("typing_indicator"):
                client.indicate_typing(message_id=ours["message_id"])
            else:
                client.mark_message_as_read(message_id=ours["message_id"])
            return
        to = ours.get("to") or ours.get("recipient")
        common = {"tracker": ours.get("biz_opaque_callback_data")}
        if "context" in ours:
            common["reply_to_message_id"] = ours["context"]["message_id"]
        kind = ours["type"]
        content = ours[kind]
        if kind == "text":
            client.send_message(to, content["body"], preview_url=content.get("preview_url", False), **common)
        elif kind == "interactive" and content["type"] == "button":
            replies = [button["reply"] for button in content["action"]["buttons"]]
            buttons = [types.Button(title=reply["title"], callback_data=reply["id"]) for reply in replies]
            client.send_message(to, content["body"]["text"], buttons=buttons, **common)
        elif kind == "interactive":
            sections = [
                types.Section(
                    title=section["title"],
                    rows=[
                        types.SectionRow(title=row["title"], callback_data=row["id"], description=row.get("description"))
                        for row in section["rows"]
                    ],
                )
                for section in content["action"]["sections"]
            ]
            listed = types.SectionList(button_title=content["action"]["button"], sections=sections)
            client.send_message(to, content["body"]["text"], buttons=listed, **common)
        elif kind == "reaction":
            common.pop("reply_to_message_id", None)
            client.send_reaction(to, emoji=content["emoji"], message_id=content["message_id"], **common)
        elif kind in ("image", "video", "document", "audio"):
            raise Skipped("pywa uploads files by itself")
        elif kind == "template":
            raise Skipped("pywa asks Meta for a template before it fills it")
        else:
            raise Refused(f"nothing of type {kind} is known")

    def signature(self, asked):
        given = asked["headers"].get("x-hub-signature-256")
        if not given:
            raise Refused("no signature")
        if not self.pywa.utils.webhook_updates_validator(app_secret=asked["secret"], request_body=asked["body"], x_hub_signature=given):
            raise Refused("the signature is another")

    def update(self, asked):
        update = asked["body"]
        client = self.build_client(update["entry"][0]["changes"][0]["value"]["metadata"]["phone_number_id"])
        from pywa import types

        for entry in update["entry"]:
            for change in entry["changes"]:
                value = change["value"]
                for key, model in (("messages", None), ("statuses", types.MessageStatus)):
                    for item in value.get(key, []):
                        one = {**update, "entry": [{**entry, "changes": [{**change, "value": {**value, key: [item]}}]}]}
                        if model is None:
                            model_of = {"button": types.CallbackButton, "interactive": None}.get(item["type"], types.Message)
                            if item["type"] == "interactive":
                                model_of = types.CallbackSelection if "list_reply" in item["interactive"] else types.CallbackButton
                            model_of.from_update(client, one)
                        else:
                            model.from_update(client, one)


class Telegram:
    """python-telegram-bot: the Bot API."""

    def __init__(self):
        import asyncio

        import telegram
        from telegram.request import BaseRequest

        self.telegram, self.sent = telegram, []
        sent = self.sent

        class Recorder(BaseRequest):
            read_timeout = 1

            async def initialize(self):
                pass

            async def shutdown(self):
                pass

            async def do_request(self, url, method, request_data=None, **_times):
                fields = {} if request_data is None else {p.name: p.value for p in request_data._parameters}
                sent.append((url.rsplit("/", 1)[-1], fields))
                me = {"id": 700, "is_bot": True, "first_name": "x", "username": "x_bot"}
                message = {"message_id": 1, "date": 1, "chat": {"id": 5, "type": "private"}}
                said = {"getMe": me, "getUpdates": [], "getWebhookInfo": {"url": "", "has_custom_certificate": False, "pending_update_count": 0}}
                if url.endswith("getFile"):
                    said["getFile"] = {"file_id": "f", "file_unique_id": "u", "file_path": "x"}
                result = said.get(url.rsplit("/", 1)[-1], message if "send" in url and "Action" not in url else True)
                return 200, json.dumps({"ok": True, "result": result}).encode()

        self.loop = asyncio.new_event_loop()
        self.bot = telegram.Bot("700:AA", request=Recorder(), get_updates_request=Recorder())
        self.loop.run_until_complete(self.bot.initialize())

    def request(self, asked):
        method = asked["path"].rsplit("/", 1)[-1]
        if asked["type"].startswith("multipart/"):
            raise Skipped("forms with files are compared nowhere")
        ours = json.loads(asked["body"] or b"{}")
        name = "".join(("_" + letter.lower()) if letter.isupper() else letter for letter in method)
        call = getattr(self.bot, name, None)
        if call is None:
            raise Refused(f"the Bot API has no method {method}")
        given = {key: self.read(key, value) for key, value in ours.items()}
        self.sent.clear()
        if method == "getFile":
            self.loop.run_until_complete(call(given["file_id"]))
        else:
            self.loop.run_until_complete(call(**given))
        (theirs_method, theirs), = self.sent
        if theirs_method != method:
            raise Refused(f"the SDK calls {theirs_method}")
        plain = lambda value: json.loads(json.dumps(value, default=lambda one: one.to_dict()))
        theirs = {key: plain(value) for key, value in theirs.items() if value is not None}
        if method == "getUpdates":
            for fields in (ours, theirs):
                # Ours are told in full: what is left out is what is so anyway.
                fields.setdefault("limit", 100)
                fields.setdefault("offset", 0)
        compare(ours, theirs)

    def read(self, key, value):
        telegram = self.telegram
        readers = {
            "reply_markup": telegram.InlineKeyboardMarkup,
            "reply_parameters": telegram.ReplyParameters,
            "link_preview_options": telegram.LinkPreviewOptions,
        }
        if key in readers:
            return self.known(readers[key].de_json(value, self.bot), key)
        if key == "entities":
            return [self.known(telegram.MessageEntity.de_json(one, self.bot), key) for one in value]
        if key == "reaction":
            return [telegram.ReactionType.de_json(one, self.bot) for one in value]
        return value

    def known(self, read, place):
        """No field that the SDK does not know."""
        if getattr(read, "api_kwargs", None):
            raise Refused(f"{place}: the SDK does not know {sorted(read.api_kwargs)}")
        for name in getattr(type(read), "__slots__", ()):
            inner = getattr(read, name, None)
            for one in inner if isinstance(inner, (list, tuple)) else [inner]:
                if isinstance(one, self.telegram.TelegramObject) and one is not read:
                    self.known(one, f"{place}/{name}")
        return read

    def signature(self, asked):
        raise Skipped("Telegram sends a word back, and signs nothing")

    def update(self, asked):
        self.known(self.telegram.Update.de_json(asked["body"], self.bot), "update")


class Slack:
    """slack_sdk: the Web API and its signatures."""

    def __init__(self):
        from slack_sdk import WebClient
        from slack_sdk.models import blocks
        from slack_sdk.signature import SignatureVerifier

        sent = self.sent = []

        class Recorder(WebClient):
            def api_call(self, api_method, *, http_verb="POST", files=None, data=None, params=None, json=None, **_more):
                sent.append((api_method, http_verb, json or data or params or {}))
                from slack_sdk.web import SlackResponse

                return SlackResponse(client=self, http_verb=http_verb, api_url="x", req_args={}, data={"ok": True}, headers={}, status_code=200)

        self.client, self.blocks, self.verifier = Recorder(token="xoxb"), blocks, SignatureVerifier

    def request(self, asked):
        method = asked["path"].split("?")[0].lstrip("/")
        if method.startswith("upload/"):
            raise Skipped("a file's own address is no method")
        if asked["type"].startswith("application/json"):
            ours = json.loads(asked["body"] or b"{}")
        else:
            ours = dict(urllib.parse.parse_qsl(asked["body"].decode(), keep_blank_values=True))
        call = getattr(self.client, method.replace(".", "_"), None)
        if call is None:
            raise Refused(f"the Web API has no method {method}")
        given = dict(ours)
        if method == "reactions.add" or method == "reactions.remove":
            given["name"] = given.get("name")
        if method == "files.completeUploadExternal":
            given["files"] = json.loads(given["files"])
        if method == "files.getUploadURLExternal":
            given["length"] = int(given["length"])
        self.sent.clear()
        call(**given)
        (called, _verb, theirs), = self.sent
        if called != method:
            raise Refused(f"the SDK calls {called}")
        theirs = {key: value for key, value in theirs.items() if value is not None}
        if isinstance(theirs.get("files"), str):
            theirs["files"] = json.loads(theirs["files"])
            ours["files"] = json.loads(ours["files"])
        compare(ours, theirs)
        self.check_blocks(ours.get("blocks", []))

    def check_blocks(self, ours):
        for number, block in enumerate(ours):
            read = self.blocks.Block.parse(dict(block))
            if read is None:
                raise Refused(f"block {number}: {block.get('type')} is none of Slack's")
            compare(block, read.to_dict(), f"/blocks/{number}")

    def signature(self, asked):
        headers = asked["headers"]

        class Clock:
            """Slack's own time is what the request says."""

            def now(self):
                return float(headers.get("x-slack-request-timestamp") or 0)

        verifier = self.verifier(asked["secret"], clock=Clock())
        if not verifier.is_valid_request(asked["body"], headers):
            raise Refused("the signature is another")

    def update(self, asked):
        raise Skipped("slack_sdk has no models of events")


class Teams:
    """botbuilder-schema: the Bot Framework's activities."""

    def __init__(self):
        from botbuilder import schema

        self.schema = schema

    def read(self, body):
        activity = self.schema.Activity.deserialize(body)
        again = activity.serialize()
        # Teams' own, which the models leave to channels.
        left = {key: value for key, value in body.items() if key not in again and value not in (None, [], {}, "")}
        unknown = [key for key in left if key not in self.schema.Activity._attribute_map.values() and key not in self.names()]
        if unknown:
            raise Refused(f"an activity has no {unknown}")
        return again

    def names(self):
        return {value["key"] for value in self.schema.Activity._attribute_map.values()}

    def request(self, asked):
        parts = asked["path"].split("?")[0].strip("/").split("/")
        if "conversations" not in parts or asked["method"] not in ("POST", "PUT"):
            raise Skipped("only activities are compared")
        if parts[-1] == "conversations":
            read = self.schema.ConversationParameters.deserialize(json.loads(asked["body"]))
            if read is None or not read.members:
                raise Refused("nobody is in the conversation")
            return
        body = json.loads(asked["body"])
        again = self.read(body)
        for key in ("type", "text", "textFormat", "replyToId", "inputHint"):
            if key in body and str(again.get(key)) != str(body[key]):
                raise Refused(f"/{key}: the SDK reads {again.get(key)!r}")
        for number, file in enumerate(body.get("attachments", [])):
            compare(sorted(file), sorted(again["attachments"][number]), f"/attachments/{number}")

    def signature(self, asked):
        raise Skipped("the SDK fetches Microsoft's keys from Microsoft")

    def update(self, asked):
        self.read(asked["body"])


class Twilio:
    """twilio: text messages."""

    def __init__(self):
        from twilio.http.http_client import HttpClient
        from twilio.http.response import Response
        from twilio.request_validator import RequestValidator
        from twilio.rest import Client

        sent = self.sent = []

        class Recorder(HttpClient):
            def __init__(self):
                pass

            def request(self, method, url, params=None, data=None, headers=None, auth=None, timeout=None, allow_redirects=False):
                sent.append((method, url, data or {}))
                return Response(201, json.dumps({"sid": "SM1", "status": "queued"}))

        self.build, self.recorder, self.validator = Client, Recorder, RequestValidator

    def request(self, asked):
        path = asked["path"].split("?")[0]
        if asked["method"] != "POST" or not path.endswith("/Messages.json"):
            raise Skipped("only messages are compared")
        ours = dict(urllib.parse.parse_qsl(asked["body"].decode(), keep_blank_values=True))
        names = {"From": "from_"}
        split = lambda name: "".join(("_" + letter.lower()) if letter.isupper() else letter for letter in name).lstrip("_")
        account = path.split("/Accounts/")[1].split("/")[0]
        client = self.build(account, "token", http_client=self.recorder())
        self.sent.clear()
        client.messages.create(**{names.get(name, split(name)): value for name, value in ours.items()})
        (method, url, theirs), = self.sent
        if urllib.parse.urlsplit(url).path != path or method != "POST":
            raise Refused(f"the SDK asks {method} {url}")
        compare(ours, {key: value for key, value in theirs.items() if value is not None})

    def signature(self, asked):
        fields = dict(urllib.parse.parse_qsl(asked["body"].decode(), keep_blank_values=True))
        given = asked["headers"].get("x-twilio-signature", "")
        if not self.validator(asked["secret"]).validate(asked["url"], fields, given):
            raise Refused("the signature is another")

    def update(self, asked):
        raise Skipped("twilio has no models of what it tells")


PLATFORMS = {"whatsapp": Whatsapp, "telegram": Telegram, "slack": Slack, "teams": Teams, "twilio": Twilio}


def main():
    known = {}
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            name = asked["platform"]
            platform = known.get(name) or known.setdefault(name, PLATFORMS[name]())
            if isinstance(asked.get("body"), str):
                asked["body"] = base64.b64decode(asked["body"])
            getattr(platform, asked["ask"])(asked)
            answer = {"ok": True}
        except Skipped as skipped:
            answer = {"ok": True, "skipped": str(skipped)}
        except Refused as refused:
            answer = {"ok": False, "why": str(refused)}
        except Exception as error:  # What an SDK raises is its refusal.
            where = traceback.extract_tb(error.__traceback__)[-1]
            answer = {"ok": False, "why": f"{type(error).__name__}: {error} ({where.name}:{where.lineno})"}
        print(json.dumps(answer), flush=True)


main()
