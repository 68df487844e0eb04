// Turns under way. The tab that sends a message reads the answer to it; what others began, in another tab or elsewhere, is told on the
// line that all tabs share.
import { events } from "./events.js";

// Where in a reply an event stands, as its id says: generation, number, how much of the text came before.
function isBehind(id, last) {
  if (!id || !last) return false;
  const [one, other] = [id, last].map((text) => text.split(/[:.]/).slice(-3).map(Number));
  const at = one.findIndex((part, index) => part !== other[index]);
  return at < 0 || one[at] < other[at];
}

export class Turns {
  constructor(chat) {
    this.chat = chat;
    this.view = chat.view;
    this.live = new Map();
    this.last = new Map();
    this.over = new Set();
  }

  // Those that the server knows of: others begin here, and what it knows no more has ended.
  settle(running) {
    const ended = [...this.live.values()].filter((live) => live.isShared && !running.includes(live.run));
    for (const { run } of ended) {
      this.over.add(run);
      this.view.finish(run, null);
      this.remove(run);
    }
    running.forEach((run) => (this.chat.line.isLost ? this.follow(run) : this.listen(run)));
  }

  listen(run) {
    if (!this.live.has(run) && !this.over.has(run)) this.begin({ run, text: "", isShared: true });
    return this.live.get(run);
  }

  begin(live) {
    this.live.set(live.run, live);
    this.doing(live.run, this.chat.words.thinking);
    return live;
  }

  remove(run) {
    this.live.delete(run);
    if (!this.live.size) this.view.doing(null);
  }

  // Its reply stands there as the server keeps it: parts that come late are not shown again.
  store(run) {
    const live = this.live.get(run);
    if (live) live.isStored = true;
  }

  // A part of a turn, on the line. What the answer to one's own message tells, or has told, is not heard again.
  hear({ name, data, id }) {
    const { run } = data;
    const at = id?.split(";")[1];
    const isOver = this.over.has(run);
    // It goes on once somebody has answered.
    if (name === "done" && data.state === "waiting_approval") this.over.delete(run);
    if (isOver || isBehind(at, this.last.get(run))) return;
    const live = this.live.get(run) || (at && this.listen(run));
    if (!live?.isShared) return;
    if (at) this.last.set(run, at);
    if (this.apply(live, { name, data })) this.ended(live);
  }

  // What other tabs have heard of turns under way, from their beginning.
  replay(turns) {
    for (const [run, told] of turns) {
      const live = this.listen(run);
      if (!live?.isShared) continue;
      live.text = "";
      this.last.delete(run);
      told.forEach((event) => this.hear(event));
    }
  }

  // Nobody tells any more what happens: what is under way is followed by itself.
  followAll() {
    for (const { run } of [...this.live.values()].filter((live) => live.isShared)) {
      this.live.delete(run);
      this.last.delete(run);
      this.follow(run);
    }
  }

  // A turn by an answer of its own.
  async follow(run, response = null) {
    const known = this.live.get(run);
    if (!run || (known && !(response && known.isShared))) return response?.body?.cancel();
    this.over.delete(run);
    const live = this.begin({ run, text: "", silent: 0 });
    for (let tries = 0; ; tries += 1) {
      try {
        const answer = response || (await this.chat.door.follow(run, this.last.get(run)));
        response = null;
        this.view.notice("");
        live.silent += 1;
        for await (const event of events(answer)) {
          live.silent = 0;
          tries = 0;
          if (event.id) this.last.set(run, event.id);
          if (this.apply(live, event)) return this.ended(live);
        }
        if (live.silent > 1) break;
      } catch (error) {
        response = null;
        if (error.isFinal) break;
        this.view.notice(this.chat.words.offline);
      }
      await this.chat.rest(tries);
    }
    this.ended(live);
    return this.chat.refresh();
  }

  // Whether it was the last.
  apply(live, { name, data }) {
    const { run } = live;
    const { words } = this.chat;
    if (name === "token") {
      live.text += data.text;
      this.paint(live);
      this.doing(run, "");
    } else if (name === "reset") {
      live.text = "";
      this.paint(live);
    } else if (name === "thinking") {
      if (!live.text) this.doing(run, data.what === "waiting" ? words.waiting : words.thinking);
    } else if (name === "doing") this.doing(run, data.words);
    else if (name === "attached" && !live.isStored) this.view.attach(run, data.attachments);
    else if (name === "approval") live.asks = true;
    else if (name === "suggestions") live.suggestions = data.suggestions;
    else if (name === "done") {
      this.paint(live, true);
      this.view.finish(run, data.message ?? null);
      if (data.state !== "waiting_approval") this.over.add(run);
      if (data.voice && !this.chat.chosen) this.chat.speak(data.voice, false);
      return true;
    } else if (name === "joined") {
      // One reply answers this message and the one before it.
      this.over.add(run);
      this.view.finish(run, null);
      if (!this.over.has(data.into)) live.isShared ? this.listen(data.into) : this.follow(data.into);
      return true;
    } else if (name === "error") {
      // The line comes back by itself.
      if (data.retryable && live.isShared) return false;
      if (data.retryable) throw new TypeError(data.message);
      this.over.add(run);
      this.view.finish(run, null);
      this.view.notice(words.error);
      return true;
    }
    return false;
  }

  doing(run, words) {
    this.view.doing(words, () => this.stop(run));
  }

  async stop(run) {
    await this.chat.door.cancel(run).catch(() => this.view.notice(this.chat.words.offline));
  }

  // At most once a frame: words come faster than anybody reads.
  paint(live, isNow = false) {
    const draw = () => {
      live.drawing = false;
      if (this.live.get(live.run) === live && !live.isStored) this.view.reply(live.run, live.text);
    };
    if (isNow) return draw();
    if (!live.drawing) {
      live.drawing = true;
      requestAnimationFrame(draw);
    }
    return undefined;
  }

  ended(live) {
    const { chat } = this;
    this.remove(live.run);
    this.view.suggest(live.suggestions || []);
    if (live.isShared) return;
    chat.tabs?.postMessage("ended");
    // Words may have asked a question or answered one, and others may have put something in before the answer: where the line does
    // not tell it, the server is asked, in the language that they have brought.
    if (!this.live.size && (live.asks || !chat.line.isUp)) chat.refresh();
  }
}
