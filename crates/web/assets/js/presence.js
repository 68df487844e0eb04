// Who else is there: a person who has taken the conversation over, the line for one, and who types just now.
import { dots, el } from "./dom.js";

// A sign of typing is good for so long, and given half as often.
const TYPES = 6000;

export class Presence {
  constructor(view) {
    this.view = view;
    this.held = el("p", { class: "held", role: "status", hidden: true });
    this.typing = el("p", { class: "typing", hidden: true });
    this.shown = {};
  }

  show({ held_by: held, line, typing }) {
    this.shown = { held_by: held, line, typing };
    const { words } = this.view;
    this.put(this.held, held ? words.held.replace("{name}", held) : line ? this.place(line) : "");
    const names = (typing || []).map((one) => one.name || one);
    clearTimeout(this.timer);
    if (names.length) this.timer = setTimeout(() => this.quiet(), TYPES);
    const types = names.length ? words.typing.replace("{name}", names.join(", ")) : "";
    if (this.typing.textContent === types) return;
    this.view.keeping(() => {
      this.typing.hidden = !types;
      this.typing.replaceChildren(dots(), el("span", {}, types));
    });
  }

  // In a line for a person: the place and the minutes, as far as they are known.
  place({ place, minutes }) {
    const { words } = this.view;
    const parts = [words.line];
    if (place) parts.push(`${words["line-place"]}: ${place}.`);
    if (minutes) parts.push(`${words["line-minutes"]}: ${minutes}.`);
    return parts.join(" ");
  }

  put(node, text) {
    if (node.textContent === text) return;
    node.hidden = !text;
    node.textContent = text;
  }

  // In the words of another language.
  speak() {
    this.show(this.shown);
  }

  quiet() {
    this.show({ ...this.shown, typing: [] });
  }

  // Whether it is time to say again that one types.
  isDue() {
    const now = Date.now();
    if (now - (this.saidAt || 0) < TYPES / 2) return false;
    this.saidAt = now;
    return true;
  }
}
