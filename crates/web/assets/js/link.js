// A visitor proves a phone: the number, the code that comes there, done.
import { el } from "./dom.js";

function question(words, { label, hint, submit, wrong }, act) {
  const box = el("input", { required: true, "aria-label": label, placeholder: label, inputmode: "tel", autocomplete: "off", maxlength: "32" });
  const fault = el("p", { class: "fault", role: "alert" });
  const button = el("button", { type: "submit" }, submit);
  const send = async (event) => {
    event.preventDefault();
    button.disabled = true;
    fault.textContent = "";
    try {
      await act(box.value);
    } catch (error) {
      fault.textContent = error.status === 429 ? words["too-many"] : error.code ? wrong : words.offline;
      button.disabled = false;
    }
  };
  return el("form", { class: "link", onsubmit: send }, box, button, hint ? el("p", { class: "quiet" }, hint) : null, fault);
}

export function offerLink(chat, before) {
  const { door, words } = chat;
  const shown = before.parentElement.querySelector(".link");
  if (shown) return;
  const show = (node, next) => {
    node.replaceWith(next);
    next.querySelector("input")?.focus();
  };
  const done = () => el("p", { class: "link", role: "status" }, words.linked);
  const code = question(words, { label: words.code, hint: null, submit: words.confirm, wrong: words["code-wrong"] }, async (text) => {
    await door.confirm(text);
    show(code, done());
    chat.refresh();
  });
  const phone = question(words, { label: words.phone, hint: words["link-hint"], submit: words["send-code"], wrong: words["phone-wrong"] }, async (text) => {
    await door.link(text);
    show(phone, code);
  });
  const button = el("button", { type: "button", class: "link", onclick: () => show(button, phone) }, words.link);
  before.before(button);
}
