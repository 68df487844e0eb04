// What the visitor has agreed to, each with a button that takes it back. Nodes name their words, so that they follow when the language
// changes under them.
import { el } from "./dom.js";

export function offerConsents(chat, isAny, before) {
  if (!isAny || before.parentElement.querySelector("details")) return;
  const { door, view } = chat;
  const box = el("div", { class: "asks" });
  const button = (id) => el("button", { type: "button", "data-word": "consent-withdraw", onclick: () => list(id) });
  const card = ({ id, words }) => el("section", { class: "ask" }, el("p", { dir: "auto" }, words), el("div", { class: "answers" }, button(id)));
  // Takes one back first where it is told which.
  const list = async (id) => {
    try {
      if (id) await door.withdraw(id);
      const { consents } = await door.consents();
      // One withdrawal ends all for the same purpose: the newest stands for them.
      const open = consents.reverse().filter((one) => one.state === "valid" || one.state === "outdated");
      const cards = [...new Map(open.map((one) => [one.purpose, one])).values()].map(card);
      box.replaceChildren(...(cards.length ? cards : [el("p", { class: "link", role: "status", "data-word": "consent-withdrawn" })]));
      view.label(box);
    } catch (error) {
      view.notice(chat.words[error.code ? "error" : "offline"]);
    }
  };
  const node = el("details", { ontoggle: () => node.open && list() }, el("summary", { class: "quiet", "data-word": "consents" }), box);
  before.before(node);
  view.label(node);
}
