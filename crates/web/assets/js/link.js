// A visitor proves a phone or an e-mail: the address, the code that comes there, done. Each node names its words, so that it follows
// when the language changes under it.
import { el } from "./dom.js";

// What is asked for each kind of address, and in which words.
const WAYS = {
  phone: {
    offer: "link",
    address: { label: "phone", hint: "link-hint", submit: "send-code", wrong: "phone-wrong", inputmode: "tel", maxlength: "32" },
    done: "linked",
  },
  email: {
    offer: "mail-link",
    address: { label: "mail", hint: "mail-link-hint", submit: "send-code", wrong: "mail-wrong", inputmode: "email", maxlength: "254" },
    done: "mail-linked",
  },
};
const CODE = { label: "code", submit: "confirm", wrong: "code-wrong", inputmode: "tel", maxlength: "32" };

// What is told of a fault: only the address or the code is theirs to mend.
function nameFault(error, wrong) {
  if (error.status === 429) return "too-many";
  if (error.status >= 500) return "failed";
  return error.code ? wrong : "offline";
}

function question(chat, { label, hint, submit, wrong, inputmode, maxlength }, act, back) {
  const box = el("input", { required: true, "data-label": label, inputmode, autocomplete: "off", maxlength });
  const fault = el("p", { class: "fault", role: "alert" });
  const button = el("button", { type: "submit", "data-word": submit });
  const send = async (event) => {
    event.preventDefault();
    button.disabled = true;
    fault.textContent = "";
    try {
      await act(box.value);
    } catch (error) {
      fault.textContent = chat.words[nameFault(error, wrong)];
    } finally {
      button.disabled = false;
    }
  };
  const again = back ? el("button", { type: "button", class: "plain", "data-word": "again", onclick: back }) : null;
  return el("form", { class: "link", onsubmit: send }, box, button, again, hint ? el("p", { class: "quiet", "data-word": hint }) : null, fault);
}

function offerWay(chat, kind, others) {
  const { door, view } = chat;
  const way = WAYS[kind];
  const show = (node, next) => {
    node.replaceWith(next);
    view.label(next);
    next.querySelector("input")?.focus();
  };
  const done = () => el("p", { class: "link", role: "status", "data-word": way.done });
  // A code may never come: the same address again, or another.
  const back = () => {
    code.querySelector("input").value = "";
    code.querySelector(".fault").textContent = "";
    show(code, address);
  };
  const answer = async (text) => {
    await door.confirm(text);
    show(code, done());
    chat.refresh();
  };
  const code = question(chat, CODE, answer, back);
  const address = question(chat, way.address, async (text) => {
    await door.link(kind, text);
    show(address, code);
  });
  const begin = () => {
    for (const other of others()) if (other !== button) other.remove();
    show(button, address);
  };
  const button = el("button", { type: "button", class: "link", "data-word": way.offer, onclick: begin });
  return button;
}

export function offerLink(chat, before, kinds) {
  const place = before.parentElement;
  if (place.querySelector(".link")) return;
  const others = () => place.querySelectorAll("button.link");
  for (const kind of kinds.filter((known) => known in WAYS)) {
    const button = offerWay(chat, kind, others);
    before.before(button);
    chat.view.label(button);
  }
}
