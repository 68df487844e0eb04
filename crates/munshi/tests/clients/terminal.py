"""A person at a terminal: python3 terminal.py PROGRAM SCENE, with the program's own variables set.

Types as somebody does and reads what stands on the screen. The program is run in a pseudo-terminal; what it asks of the
terminal (where the cursor is) is answered.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PROGRAM = sys.argv[1]
PATIENCE = 120
UP, LEFT, RIGHT, END, BACKSPACE, ALT_ENTER, CTRL_C, CTRL_D = (
    "\x1b[A", "\x1b[D", "\x1b[C", "\x1b[F", "\x7f", "\x1b\r", "\x03", "\x04",
)
COMMANDS = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|[78]|\][^\x07]*\x07)")


class Terminal:
    def __init__(self, *arguments, **variables):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", **variables}

        def owns():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.child = subprocess.Popen(
            [PROGRAM, *arguments], stdin=slave, stdout=slave, stderr=slave, env=environment, preexec_fn=owns
        )
        os.close(slave)
        self.raw = ""
        self.seen = 0

    def read(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        text = data.decode("utf-8", "replace")
        self.raw += text
        for _ in range(text.count("\x1b[6n")):
            os.write(self.master, "\x1b[{};{}R".format(*self.cursor()).encode())
        return bool(data)

    def cursor(self):
        """Where it is told to be: the row matters to nobody here, and a line is begun at its beginning."""
        return 5, 1

    def text(self):
        return COMMANDS.sub("", self.raw[self.seen:]).replace("\r", "")

    def expect(self, wanted, what=""):
        """Waits until it stands there; what stood before it is not looked at again."""
        until = time.monotonic() + PATIENCE
        while wanted not in self.text():
            if time.monotonic() > until or (not self.read(0.2) and self.child.poll() is not None):
                self.read(0.2)
                if wanted in self.text():
                    break
                raise AssertionError(f"{wanted!r} {what} did not come:\n{self.text()}")
        told = self.text()
        self.seen = len(self.raw)
        return told

    def type(self, text):
        os.write(self.master, text.encode())

    def line(self, text):
        """As somebody types: the line, and Enter once it stands there."""
        self.prompt()
        self.type(text)
        until = time.monotonic() + 2
        while text not in self.text() and time.monotonic() < until:
            self.read(0.05)
        self.drain(0.15)
        self.type("\r")

    def prompt(self):
        """Waits until one can type: the prompt stands there, nothing behind it, and nothing more comes."""
        until = time.monotonic() + PATIENCE
        while not self.text().rstrip().endswith("›") or self.read(0.25):
            assert time.monotonic() < until, f"there is no prompt:\n{self.text()}"
            self.read(0.1)
        self.seen = len(self.raw)

    def drain(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.read(0.05)

    def ends(self):
        until = time.monotonic() + PATIENCE
        while self.child.poll() is None:
            assert time.monotonic() < until, f"it does not end:\n{self.text()}"
            self.read(0.1)
        assert self.child.returncode == 0, (self.child.returncode, self.text())


def fresh():
    """An empty folder: the ready ones are offered, and a shop is talked with at once."""
    terminal = Terminal("chat")
    told = terminal.expect("Which one?")
    assert "kirana" in told, told
    terminal.type("1\r")
    terminal.line("Ramesh ko 500 udhaar diya")
    terminal.expect("→ credit_given (Ramesh)")
    terminal.expect("500")
    terminal.line("/why")
    told = terminal.expect("cost ")
    for part in ["decision", "model", "tools", "rules", "offline"]:
        assert part in told, told
    terminal.line("/tools")
    terminal.expect("log_sale")
    terminal.line("/cost")
    terminal.expect("1 answer")
    terminal.line("/tool")
    terminal.expect("/tools")
    terminal.line("/language ta")
    terminal.expect("Tamil")
    terminal.prompt()
    terminal.type("half a line")
    terminal.drain(0.2)
    terminal.type(CTRL_C)
    terminal.expect("(press Ctrl-C again, Ctrl-D or /quit to leave)")
    terminal.line("/quit")
    terminal.ends()


def edited():
    """Letters of every script are moved over and deleted whole; several lines are one message."""
    terminal = Terminal("chat", "counter")
    terminal.prompt()
    # न म स्ते: the last is one letter of four marks.
    terminal.type("नमस्ते")
    terminal.drain(0.2)
    terminal.type(LEFT)
    terminal.drain(0.1)
    terminal.type(BACKSPACE)
    terminal.drain(0.1)
    terminal.type(END + "!")
    terminal.drain(0.2)
    terminal.type("\r")
    terminal.prompt()
    terminal.type("one" + ALT_ENTER + "two\\\rthree")
    terminal.drain(0.3)
    terminal.type("\r")
    terminal.prompt()
    terminal.type("\x1b[200~பழைய\nகணக்கு\x1b[201~")
    terminal.drain(0.3)
    terminal.type("\r")
    terminal.prompt()
    terminal.type(CTRL_D)
    terminal.ends()
    again = Terminal("chat", "counter")
    again.prompt()
    again.type(UP)
    again.expect("கணக்கு")
    again.type(UP)
    again.expect("three")
    again.type(CTRL_C)
    again.drain(0.3)
    again.type(CTRL_D)
    again.ends()


def stopped():
    """Ctrl-C stops the answer, and the conversation goes on."""
    terminal = Terminal("chat", "counter", "--person", "Asha")
    terminal.line("tell me")
    terminal.expect("Ramesh owes")
    terminal.type(CTRL_C)
    terminal.expect("(stopped)")
    terminal.line("/cost")
    terminal.expect("0 answers")
    terminal.line("/quit")
    terminal.ends()


def left():
    """Ctrl-D while an answer comes is not lost: one leaves when it is over."""
    terminal = Terminal("chat", "counter", "--person", "Asha")
    terminal.line("tell me")
    terminal.expect("Ramesh owes")
    terminal.type(CTRL_D)
    told = terminal.expect("all there is to say")
    assert "^D" not in told, told
    terminal.ends()


def ahead():
    """What is typed while an answer comes is the next line, and does not stand between its words."""
    terminal = Terminal("chat", "counter", "--person", "Asha")
    terminal.line("tell me")
    terminal.expect("Ramesh owes")
    terminal.type("/cost\r")
    told = terminal.expect("all there is to say")
    assert "/cost" not in told, told
    terminal.expect("1 answer")
    terminal.prompt()
    terminal.type(CTRL_D)
    terminal.ends()


def offered():
    """What is offered is taken by its number."""
    terminal = Terminal("chat", "counter")
    terminal.line("who owes me")
    terminal.expect("  1  ")
    terminal.line("1")
    terminal.prompt()
    terminal.type(CTRL_D)
    terminal.ends()


def plain():
    """Without colour where that is wanted."""
    terminal = Terminal("chat", "counter", NO_COLOR="1")
    terminal.line("who owes me")
    terminal.prompt()
    terminal.type(CTRL_D)
    terminal.ends()
    assert not re.search(r"\x1b\[[0-9;]*m", terminal.raw.replace("\x1b[0m", "")), repr(terminal.raw)


def quick():
    """How long until one can type; for people to look at."""
    began = time.monotonic()
    terminal = Terminal("chat", "counter")
    terminal.expect("› ")
    print(f"{time.monotonic() - began:.3f}")
    terminal.drain(0.2)
    terminal.type(CTRL_D)
    terminal.ends()


if __name__ == "__main__":
    signal.alarm(900)
    globals()[sys.argv[2]]()
