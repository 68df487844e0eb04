#!/usr/bin/env python3
"""Pictures of the pages, to be looked at:
scripts/browser.sh run scripts/screenshots.py START_LINK [FOLDER [FIRST_LINK]]

The server must be one that has just been made: what comes ready is opened on the way, and with the link that it has shown
the first account is made."""
import base64
import http.server
import json
import os
import pathlib
import sys
import threading
import time
import urllib.request

DRIVER = "http://" + os.environ["MUNSHI_TEST_BROWSER"]
START = sys.argv[1]
BASE = "/".join(START.split("/")[:3])
FOLDER = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "target/screenshots")
FIRST_LINK = sys.argv[3] if len(sys.argv) > 3 else None


def ask(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(DRIVER + path, data, {"content-type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{method} {path}: {error.read().decode()[:2000]}")


class Browser:
    def __init__(self, width, height, dark=False, language="en-IN", mobile=False):
        options = {
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--host-resolver-rules=MAP rangoli.example 127.0.0.1", f"--lang={language}", f"--window-size={width},{height}"],
            "prefs": {"intl.accept_languages": language},
        }
        if mobile:
            options["mobileEmulation"] = {"deviceMetrics": {"width": width, "height": height, "pixelRatio": 2, "touch": True}}
        made = ask("POST", "/session", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
        self.at = "/session/" + made["sessionId"]
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.command("Emulation.setEmulatedMedia", {"features": features})
        if not mobile:
            self.command("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def command(self, name, parameters):
        return ask("POST", self.at + "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def open(self, path):
        ask("POST", self.at + "/url", {"url": path if path.startswith("http") else BASE + path})

    def run(self, script, *arguments):
        return ask("POST", self.at + "/execute/sync", {"script": script, "args": list(arguments)})

    def until(self, script, *arguments):
        for _ in range(150):
            if self.run(script, *arguments):
                return
            time.sleep(0.1)
        raise SystemExit("never: " + script + "\n" + self.run("return document.body.innerText"))

    def say(self, text):
        before = self.run("return document.querySelectorAll('.said.theirs').length")
        self.run("const box = document.querySelector('textarea'); box.value = arguments[0]; box.dispatchEvent(new Event('input')); box.form.requestSubmit();", text)
        self.until("return document.querySelectorAll('.said.theirs').length > arguments[0] && !document.querySelector('.live, .waiting')", before)
        time.sleep(0.3)

    def shoot(self, name, whole=False):
        path = FOLDER / f"{name}.png"
        if whole:
            picture = self.command("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True})["data"]
        else:
            picture = ask("GET", self.at + "/screenshot")
        path.write_bytes(base64.b64decode(picture))
        print(path)

    def close(self):
        ask("DELETE", self.at)


def host_page(browser_port):
    """Somebody else's page with the widget on it."""
    page = f"""<!doctype html><html lang=en><meta name=viewport content="width=device-width"><title>Rangoli</title>
<link rel=stylesheet href=/page.css><h1>Rangoli, Jaipur</h1><p>Hand-block prints since 1974. New: the monsoon kurta, in four blues.</p>
<p>Open ten to eight, closed on Tuesdays. Ask us anything: the button is at the corner.</p>
<script src="{BASE}/widget.js" async></script><munshi-chat binding="PLACE" server="{BASE}"></munshi-chat>"""
    css = "*{font-family:'Times New Roman'} body{margin:3rem auto;max-width:40rem;padding:0 1rem;font-size:1.2rem;line-height:1.6;color:#123;background:#eef3f6} h1{font-size:2.6rem}"

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            kind, text = ("text/css", css) if self.path == "/page.css" else ("text/html; charset=utf-8", page.replace("PLACE", self.path.strip("/") or "rangoli"))
            self.send_response(200)
            self.send_header("content-type", kind)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", browser_port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://rangoli.example:{server.server_port}"


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    desk = Browser(1280, 860)
    desk.open(START)
    desk.shoot("start-desktop", whole=True)
    desk.run("document.querySelector('[data-open=kirana]').click()")
    desk.until("return location.pathname.startsWith('/c/') && document.querySelector('.chat.ready')")
    desk.shoot("chat-empty-desktop")
    for text in ["Ramesh ko 500 udhaar diya", "Sunita paid 250", "who owes me money?"]:
        desk.say(text)
    desk.shoot("chat-desktop")
    desk.say("Ramesh ko 500000 udhaar diya")
    desk.shoot("chat-question-desktop")
    desk.say("haan")
    desk.say("रमेश को 300 उधार दिया")
    desk.say("आज का हिसाब बताओ")
    desk.shoot("chat-hindi-desktop")
    cookie = ask("GET", desk.at + "/cookie")[0]
    for name, dark, language, said in [
        ("phone", False, "en-IN", None),
        ("phone-dark", True, "en-IN", None),
        ("hindi-phone", False, "hi-IN", "आज की बिक्री कितनी हुई?"),
        ("tamil-phone", False, "ta-IN", "ரமேஷுக்கு 200 கடன் கொடுத்தேன்"),
        ("tamil-phone-dark", True, "ta-IN", None),
    ]:
        phone = Browser(360, 740, dark, language, mobile=True)
        phone.open("/healthz")
        ask("POST", phone.at + "/cookie", {"cookie": {key: cookie[key] for key in ("name", "value", "path", "httpOnly")}})
        phone.open("/c/kirana-counter")
        phone.until("return document.querySelector('.chat.ready')")
        if said:
            phone.say(said)
        phone.shoot("chat-" + name)
        if name in ("phone", "phone-dark"):
            phone.open(START)
            phone.shoot("start-" + name, whole=True)
        phone.close()
    dark = Browser(1280, 860, dark=True)
    dark.open(START)
    dark.shoot("start-dark", whole=True)
    dark.run("document.querySelector('[data-open=rangoli]').click()")
    dark.until("return location.pathname.startsWith('/c/') && document.querySelector('.chat.ready')")
    dark.say("Do you have a blue kurta in size M?")
    dark.shoot("chat-dark")
    dark.close()
    for language in ("hi", "ta"):
        phone = Browser(360, 740, False, language + "-IN", mobile=True)
        phone.open(START)
        phone.shoot("start-" + language + "-phone", whole=True)
        phone.close()
    site = host_page(0)
    for name, size, mobile, is_dark in [("widget-desktop", (1100, 780), False, False), ("widget-phone", (360, 740), True, False), ("widget-dark", (1100, 780), False, True)]:
        guest = Browser(*size, mobile=mobile, dark=is_dark)
        guest.open(site + "/rangoli")
        time.sleep(1.5)
        guest.shoot(name + "-closed")
        guest.run("document.querySelector('munshi-chat').show()")
        time.sleep(1.5)
        guest.shoot(name)
        guest.close()
    desk.close()
    if FIRST_LINK:
        account()


def account():
    """The pages of an operator, from the first link on."""
    desk = Browser(1100, 860)
    desk.open(FIRST_LINK)
    desk.shoot("account-first-desktop", whole=True)
    for field, text in (("email", "asha@shop.example"), ("name", "Asha"), ("password", "correct horse battery")):
        desk.run("document.getElementById(arguments[0]).value = arguments[1]", field, text)
    desk.run("document.querySelector('main form').requestSubmit()")
    desk.until("return location.pathname === '/account'")
    desk.shoot("account-desktop", whole=True)
    for page, field, text in (("keys", "name", "till"), ("operators", "email", "vik@shop.example")):
        desk.open("/account/" + page)
        desk.run("document.getElementById(arguments[0]).value = arguments[1]; document.querySelector('main form').requestSubmit()", field, text)
        desk.until("return document.querySelector('.once')")
        desk.shoot(f"account-{page}-desktop", whole=True)
    cookies = [one for one in ask("GET", desk.at + "/cookie") if one["name"] == "munshi_sign_in"]
    for name, dark, language in (("phone", False, "en-IN"), ("dark-phone", True, "en-IN"), ("hindi-phone", False, "hi-IN"), ("tamil-phone-dark", True, "ta-IN")):
        phone = Browser(360, 740, dark, language, mobile=True)
        phone.open("/account/sign-in")
        phone.shoot("account-sign-in-" + name, whole=True)
        for cookie in cookies:
            ask("POST", phone.at + "/cookie", {"cookie": {key: cookie[key] for key in ("name", "value", "path", "httpOnly")}})
        for page in ("", "/keys", "/operators", "/password", "/sign-ins"):
            phone.open("/account" + page)
            phone.shoot("account" + page.replace("/", "-") + "-" + name, whole=True)
        phone.close()
    for name, page in (("dark", "/keys"), ("hindi", "/operators")):
        wide = Browser(1100, 860, name == "dark", "hi-IN" if name == "hindi" else "en-IN")
        wide.open("/account/sign-in")
        for cookie in cookies:
            ask("POST", wide.at + "/cookie", {"cookie": {key: cookie[key] for key in ("name", "value", "path", "httpOnly")}})
        wide.open("/account" + page)
        wide.shoot("account" + page.replace("/", "-") + "-" + name + "-desktop", whole=True)
        wide.close()
    desk.close()


main()
