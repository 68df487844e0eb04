// One stream from the server for all tabs of a conversation. The tab that holds the lock reads it and passes every event on; where that
// tab goes, the next in the queue gets the lock and goes on behind the last event it heard. A browser without locks, as on a page without
// TLS, has a stream for each tab.
import { newId } from "./dom.js";
import { events, inTime } from "./events.js";

// Who holds the lock and answers nothing for so long is asleep, as tabs of a phone are: another takes the stream over.
const ASLEEP = 6000;
// A stream that lasted for so long was a good one: it is asked for again soon.
const LASTED = 10000;

// Behind this the thread is another, or somebody else's.
export function isLast({ name, data }) {
  return name === "moved" || (name === "error" && !data.run && !data.retryable);
}

export class LiveStream {
  // `on` hears `heard(event)`, `replayed(turns)`, `missed()` and `lost()`, says where its page is with `cursor()` and when that was read
  // with `readAt`, and waits for a better moment with `rest(tries)`, which `wake()` ends.
  constructor({ door, name, on }) {
    this.door = door;
    this.name = name;
    this.on = on;
    this.id = newId();
    this.turns = new Map();
    this.key = null;
    this.isUp = false;
    this.isLost = false;
  }

  // Listens to a thread; where it does so already, nothing changes. Somebody may have signed in or out since another tab was opened:
  // tabs share what they know to be the same thread, and nothing else.
  join(key) {
    if (this.turn && this.key === key) return;
    this.leave();
    this.key = key;
    this.isLost = false;
    const shares = key && navigator.locks && "BroadcastChannel" in window;
    this.lock = `${this.name}:${key}`;
    this.tabs = shares ? new BroadcastChannel(this.lock) : null;
    this.tabs?.addEventListener("message", ({ data }) => this.take(data));
    this.queue();
    this.hail();
  }

  leave() {
    this.turn?.abort();
    this.turn = null;
    this.tabs?.close();
    this.turns.clear();
    this.at = "";
    this.heardAt = 0;
    this.isUp = this.isLeading = false;
    this.leader = null;
  }

  // Waits for the lock, or takes it away, and reads while it holds it.
  async queue(isTaken = false) {
    const turn = new AbortController();
    this.turn = turn;
    const lead = () => this.lead(turn);
    try {
      if (this.tabs) await navigator.locks.request(this.lock, isTaken ? { steal: true } : { signal: turn.signal }, lead);
      else await lead();
      if (this.turn === turn) this.leave();
    } catch {
      // Another tab has taken the lock away: one waits for it again.
      turn.abort();
      if (this.turn !== turn) return;
      this.isLeading = false;
      this.queue();
      this.hail();
    }
  }

  async lead(turn) {
    if (turn.signal.aborted) return;
    clearTimeout(this.waiting);
    this.isLeading = true;
    this.tell({ state: this.state() });
    for (let tries = 0; !turn.signal.aborted; tries += 1) {
      let began = Infinity;
      const stop = () => this.attempt.abort();
      this.attempt = new AbortController();
      turn.signal.addEventListener("abort", stop);
      try {
        const response = await inTime(this.door.live(this.lastId(), this.attempt.signal), stop);
        // Nobody yet: the next message asks again.
        if (response.status === 204) return;
        began = Date.now();
        for await (const event of events(response)) {
          if (turn.signal.aborted) return;
          this.tell({ event });
          this.hear(event);
          // The page is read again, and begins anew.
          if (isLast(event)) return;
        }
      } catch (error) {
        if (turn.signal.aborted) return;
        if (error.isFinal) {
          console.warn(error);
          this.isLost = true;
          this.tell({ isLost: true });
          this.on.lost();
          return;
        }
      } finally {
        turn.signal.removeEventListener("abort", stop);
      }
      this.isUp = false;
      this.tell({ isUp: false });
      if (Date.now() - began > LASTED) tries = -1;
      await this.on.rest(Math.max(tries, 0));
    }
  }

  // The network is another: what was open on the one before may be silent for ever.
  reopen() {
    if (this.isLeading) this.attempt?.abort();
  }

  // Behind what the page shows, and within a turn behind what was heard of it.
  lastId() {
    return [this.on.cursor(), this.at].filter(Boolean).join(";");
  }

  hear(event) {
    const { name, data, id } = event;
    this.isUp = true;
    if (name === "thread") {
      this.heardAt = Date.now();
      for (const run of this.turns.keys()) if (!data.running.includes(run)) this.forget(run);
    } else if (data.run) {
      this.keep(event);
      const at = id?.split(";")[1];
      if (at) this.at = at;
      if (name === "done" || (name === "error" && !data.retryable)) this.forget(data.run);
    }
    this.on.heard(event);
  }

  forget(run) {
    this.turns.delete(run);
    if (this.at?.startsWith(run)) this.at = "";
  }

  // What was told of a turn under way, for a tab that comes into the middle of it.
  keep({ name, data, id }) {
    let told = this.turns.get(data.run) || [];
    if (name === "reset") told = told.filter((one) => one.name !== "token");
    const last = told[told.length - 1];
    if (name === "token" && last?.name === "token") {
      last.data.text += data.text;
      last.id = id;
    } else told.push({ name, data: { ...data }, id });
    this.turns.set(data.run, told);
  }

  state() {
    return { at: this.at, turns: [...this.turns], heardAt: this.heardAt, isUp: this.isUp };
  }

  tell(words) {
    this.tabs?.postMessage({ ...words, from: this.id });
  }

  // Asks who leads for what it knows.
  hail() {
    if (!this.tabs || !this.turn || this.isLeading) return;
    this.tell({ isHello: true });
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.takeOver(), ASLEEP);
  }

  takeOver() {
    if (!this.turn || this.isLeading) return;
    this.turn.abort();
    this.queue(true);
  }

  // What another tab says.
  take({ isHello, isLost, isUp, event, state, from }) {
    if (isHello) {
      if (!this.isLeading) return;
      this.tell({ state: this.state() });
      this.on.wake();
      return;
    }
    if (state) this.leader = from;
    // Who led before may not know yet that it leads no more.
    if (this.isLeading || from !== this.leader) return;
    clearTimeout(this.waiting);
    if (state) this.follow(state);
    else if (event) this.hear(event);
    else if (isUp === false) this.isUp = false;
    else if (isLost) this.on.lost();
  }

  follow(state) {
    this.at = state.at;
    this.turns = new Map(state.turns);
    this.isUp = state.isUp;
    this.on.replayed(this.turns);
    // Told to the others after this page was read, and before it listened.
    if (state.heardAt >= this.on.readAt && state.heardAt > (this.heardAt || 0)) this.on.missed();
    this.heardAt = state.heardAt;
  }
}
