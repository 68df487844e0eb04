"""A mail server that keeps what it takes in a folder for each recipient, and misbehaves as the recipient's name says.

Prints one line, `PLAIN_PORT STARTTLS_PORT TLS_PORT MAILBOXES CERTIFICATE LOGIN PASSWORD`, and serves until it is ended.

The recipient's name up to a `+` or `-`:
    unknown   refused for good                      full     refused for now
    relay     refused since we may not send there   large    the whole mail is refused for good
    spam      the whole mail is taken for spam      busy     the whole mail is refused for now
    cut       the line is closed before the mail    drop     the mail is kept, and the line closed without an answer
    late      the mail is kept, and the answer takes three seconds
    silent    the mail is kept, and no answer comes
    drowsy    the mail is not asked for, nor refused
    odd       the mail is not asked for, as if it were there already
    asleep    whether we may send there is not answered
The sender `refused` is refused, and to `asleep` nothing is said. Where nothing is said, a file `hangs` in the folder of the address tells. On the line in the open nobody has to log in; on the encrypted ones everybody has to.
"""

import asyncio
import os
import pathlib
import re
import ssl
import sys
import uuid

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

LOGIN = "shop"
PASSWORD = "open-sesame"
LATE = 3
SILENT = 3600

folder = pathlib.Path(sys.argv[1])
boxes = folder / "boxes"


def mood(address):
    return re.split(r"[-+@]", address, maxsplit=1)[0]


def keep(address, content):
    box = boxes / address.lower()
    box.mkdir(exist_ok=True)
    unfinished = box / f".{uuid.uuid4()}"
    unfinished.write_bytes(content)
    # In the order in which they came.
    number = len(list(box.glob("*.eml")))
    os.rename(unfinished, box / f"{number:06}-{uuid.uuid4()}.eml")


async def hang(address):
    """Answers nothing, and leaves a file that says so."""
    box = boxes / address.lower()
    box.mkdir(exist_ok=True)
    (box / "hangs").touch()
    await asyncio.sleep(SILENT)


class Handler:
    async def handle_MAIL(self, server, session, envelope, address, options):
        if mood(address) == "asleep":
            await hang(address)
        if mood(address) == "refused":
            return "550 5.7.1 this sender is not welcome"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):
        if mood(address) == "unknown":
            return f"550 5.1.1 <{address}>: no such user {address.split('@')[0]}"
        if mood(address) == "asleep":
            await hang(address)
        if mood(address) == "relay":
            return "550 5.7.1 relaying denied"
        if mood(address) == "full":
            return f"452 4.2.2 <{address}>: mailbox full"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        moods = {mood(address) for address in envelope.rcpt_tos}
        if "spam" in moods:
            return "554 5.7.1 looks like spam"
        if "large" in moods:
            return "552 5.2.3 too large"
        if "busy" in moods:
            return "451 4.3.0 try again later"
        for address in envelope.rcpt_tos:
            keep(address, envelope.content)
        if "drop" in moods:
            server.transport.abort()
            return None
        if "late" in moods:
            await asyncio.sleep(LATE)
        if "silent" in moods:
            await hang(envelope.rcpt_tos[0])
        return "250 2.0.0 kept"


class Server(SMTP):
    async def smtp_DATA(self, arg):
        if any(mood(address) == "cut" for address in self.envelope.rcpt_tos):
            self.transport.abort()
            return
        for address in self.envelope.rcpt_tos:
            if mood(address) == "drowsy":
                await hang(address)
        if any(mood(address) == "odd" for address in self.envelope.rcpt_tos):
            await self.push("250 OK")
            return
        await super().smtp_DATA(arg)


def authenticate(server, session, envelope, mechanism, data):
    if isinstance(data, LoginPassword) and (data.login, data.password) == (LOGIN.encode(), PASSWORD.encode()):
        return AuthResult(success=True)
    return AuthResult(success=False, handled=False)


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    loop = asyncio.get_running_loop()
    common = {"enable_SMTPUTF8": True, "hostname": "localhost", "authenticator": authenticate, "loop": loop}
    kinds = [
        ({"auth_require_tls": False}, None),
        ({"tls_context": context, "require_starttls": True, "auth_required": True}, None),
        ({"auth_require_tls": False, "auth_required": True}, context),
    ]
    ports = []
    for options, tls in kinds:
        make = lambda options=options: Server(Handler(), **common, **options)  # noqa: E731
        listener = await loop.create_server(make, "127.0.0.1", 0, ssl=tls)
        ports.append(str(listener.sockets[0].getsockname()[1]))
    print(*ports, boxes, folder / "ca.pem", LOGIN, PASSWORD, flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
