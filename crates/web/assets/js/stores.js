// What a browser keeps for a page: for a tab, or for all of them.
export function store(kind, name) {
  try {
    return JSON.parse(kind.getItem(name));
  } catch {
    return null;
  }
}

export function keepIn(kind, name, value) {
  try {
    if (value === null) kind.removeItem(name);
    else kind.setItem(name, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing still talks.
  }
}

// The browser's stores, or one that forgets where they are forbidden.
export function stores() {
  const none = { getItem: () => null, setItem: () => {}, removeItem: () => {} };
  const open = (name) => {
    try {
      return window[name];
    } catch {
      return none;
    }
  };
  return { tab: open("sessionStorage") || none, browser: open("localStorage") || none };
}
