// A visitor proves a phone: the number, the code that comes there, done. Each node names its words, so that it follows
// when the language changes under it.
import { el } from "./dom.js";

function question(chat, { label, hint, submit, wrong }, act) {
  const box = el("input", { required: true, "data-label": label, inputmode: "tel", autocomplete: "off", maxlength: "32" });
  const fault = el("p", { class: "fault", role: "alert" });
  const button = el("button", { type: "submit", "data-word": submit });
  const send = async (event) => {
    event.preventDefault();
    button.disabled = true;
    fault.textContent = "";
    try {
      await act(box.value);
    } catch (error) {
      fault.textContent = chat.words[error.status === 429 ? "too-many" : error.code ? wrong : "offline"];
      button.disabled = false;
    }
  };
  return el("form", { class: "link", onsubmit: send }, box, button, hint ? el("p", { class: "quiet", "data-word": hint }) : null, fault);
}

export function offerLink(chat, before) {
  const { door, view } = chat;
  if (before.parentElement.querySelector(".link")) return;
  const show = (node, next) => {
    node.replaceWith(next);
    view.label(next);
    next.querySelector("input")?.focus();
  };
  const done = () => el("p", { class: "link", role: "status", "data-word": "linked" });
  const code = question(chat, { label: "code", submit: "confirm", wrong: "code-wrong" }, async (text) => {
    await door.confirm(text);
    show(code, done());
    chat.refresh();
  });
  const phone = question(chat, { label: "phone", hint: "link-hint", submit: "send-code", wrong: "phone-wrong" }, async (text) => {
    await door.link(text);
    show(phone, code);
  });
  const button = el("button", { type: "button", class: "link", "data-word": "link", onclick: () => show(button, phone) });
  before.before(button);
  view.label(button);
}
