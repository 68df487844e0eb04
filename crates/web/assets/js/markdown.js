// A small part of Markdown, as nodes: paragraphs, lists, code, strong and emphasised words, links. Everything else is
// the text that it is. Pictures are never fetched: an address in a reply could carry away what was said.
import { el } from "./dom.js";

// No part goes past where another of its kind begins, so that a long text is read once however many are left open.
const INLINE = /!\[([^[\]]*)\]\([^\s()]*\)|`([^`]+)`|\*\*([^*]+)\*\*|\*([^\s*][^*]*)\*|\b_([^\s_][^_]*)_\b|\[([^[\]]+)\]\(([^\s()]+)\)|(https?:\/\/[^\s<>"'`)\]]+)/gu;
// What anybody wrote may lead to a page; what pays or calls comes from our own tools alone.
const LINKS = ["http:", "https:", "mailto:"];
export const TOOL_LINKS = [...LINKS, "tel:", "upi:"];

export function safeLink(text, schemes = LINKS) {
  try {
    return schemes.includes(new URL(text).protocol) ? text : null;
  } catch {
    return null;
  }
}

export function link(address, words, schemes = LINKS) {
  const safe = safeLink(address, schemes);
  if (!safe) return document.createTextNode(words);
  return el("a", { href: safe, target: "_blank", rel: "noopener noreferrer nofollow ugc" }, words);
}

function inline(text, into) {
  let seen = 0;
  for (const found of text.matchAll(INLINE)) {
    into.append(text.slice(seen, found.index));
    const [whole, alt, code, strong, alsoStrong, slanted, words, address, bare] = found;
    if (alt !== undefined) into.append(alt);
    else if (code) into.append(el("code", {}, code));
    else if (strong || alsoStrong) into.append(inline(strong || alsoStrong, el("strong")));
    else if (slanted) into.append(inline(slanted, el("em")));
    else if (address) into.append(link(address, words));
    else {
      const end = bare.match(/[.,;:!?]+$/);
      const clean = end ? bare.slice(0, -end[0].length) : bare;
      into.append(link(clean, clean), end ? end[0] : "");
    }
    seen = found.index + whole.length;
  }
  into.append(text.slice(seen));
  return into;
}

function paragraph(lines) {
  const node = el("p");
  lines.forEach((line, at) => {
    if (at > 0) node.append(el("br"));
    inline(line, node);
  });
  return node;
}

export function markdown(text) {
  const out = document.createDocumentFragment();
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  let held = [];
  let list = null;
  const flush = () => {
    if (held.length) out.append(paragraph(held));
    held = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    const item = line.match(/^\s*(?:[-*•]|(\d{1,3})[.)])\s+(.*)$/u);
    if (line.startsWith("```")) {
      flush();
      list = null;
      const code = [];
      for (at += 1; at < lines.length && !lines[at].startsWith("```"); at += 1) code.push(lines[at]);
      out.append(el("pre", { tabindex: "0" }, el("code", {}, code.join("\n"))));
    } else if (item) {
      flush();
      const kind = item[1] ? "OL" : "UL";
      if (!list || list.tagName !== kind) {
        list = el(kind.toLowerCase(), item[1] && item[1] !== "1" ? { start: item[1] } : {});
        out.append(list);
      }
      list.append(inline(item[2], el("li")));
    } else if (!line.trim()) {
      flush();
      list = null;
    } else {
      list = null;
      const title = line.match(/^#{1,6}\s+(.*)$/);
      if (title) {
        flush();
        out.append(el("p", {}, inline(title[1], el("strong"))));
      } else held.push(line);
    }
  }
  flush();
  return out;
}
