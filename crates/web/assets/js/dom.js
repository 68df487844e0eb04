// Makes nodes. Texts become text nodes, never markup: nothing that anybody wrote is read as HTML.
export function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export function picture(attributes, ...paths) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  for (const [key, value] of Object.entries({ "aria-hidden": "true", ...attributes })) svg.setAttribute(key, value);
  for (const d of paths) {
    const path = document.createElementNS(space, "path");
    path.setAttribute("d", d);
    svg.append(path);
  }
  return svg;
}

export function icon(...paths) {
  const stroke = { fill: "none", stroke: "currentColor", "stroke-width": "2" };
  return picture({ viewBox: "0 0 24 24", "stroke-linecap": "round", "stroke-linejoin": "round", ...stroke }, ...paths);
}

// Something is on its way.
export function dots() {
  return el("span", { class: "dots", "aria-hidden": "true" }, el("i"), el("i"), el("i"));
}

export const ICONS = {
  send: ["M5 12h13", "M12.5 5.5 19 12l-6.5 6.5"],
  stop: ["M7 7h10v10H7z"],
  close: ["M6 6l12 12", "M18 6 6 18"],
  talk: ["M4 6.5A2.5 2.5 0 0 1 6.5 4h11A2.5 2.5 0 0 1 20 6.5v7a2.5 2.5 0 0 1-2.5 2.5H11l-4.6 4v-4A2.4 2.4 0 0 1 4 13.6z"],
  attach: ["M20 11.5 12.2 19.3a4.6 4.6 0 0 1-6.5-6.5l8-8a3 3 0 0 1 4.3 4.3l-8 8a1.5 1.5 0 0 1-2.1-2.1l7.2-7.2"],
  down: ["M6 10l6 6 6-6"],
};

// Ids that need no secure context, as a page on a shop's own network has none.
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
