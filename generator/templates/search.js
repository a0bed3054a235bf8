// opcert docs: the search field of this site. The index is read when the field is first used.
(() => {
  "use strict";
  const MAX_RESULTS = 40;
  const form = document.querySelector("form.search");
  const field = form.querySelector("input");
  const panel = form.querySelector(".results");
  const list = panel.querySelector("ol");
  const status = panel.querySelector("[role=status]");
  let entries = null;

  // The index calls this function, since a script is all that a page may read from disk.
  window.opcertSearchIndex = ({ kinds, entries: rows }) => {
    entries = rows.map(([kind, title, context, href, text]) => ({
      kind: kinds[kind], order: kind, title, context, href, text,
      name: title.toLowerCase(),
      all: `${title} ${context} ${text}`.toLowerCase(),
    }));
    show();
  };

  const load = () => {
    if (document.querySelector("script[src='search-index.js']")) return;
    const script = document.createElement("script");
    script.src = "search-index.js";
    document.head.append(script);
  };

  // A name that is the query comes first, then names that begin with it or contain it, then texts.
  // There are thousands of cases, so one that contains the query comes after all texts.
  const rank = (entry, query, words) => {
    const last = entry.name.slice(entry.name.lastIndexOf("/") + 1);
    if (entry.name === query || last === query) return 0;
    if (entry.name.startsWith(query) || last.startsWith(query)) return 1;
    if (!words.every((word) => entry.name.includes(word))) return 3;
    return entry.kind === "case" ? 4 : 2;
  };

  const excerpt = (entry, words) => {
    const text = entry.text.toLowerCase();
    const first = Math.min(...words.map((word) => text.indexOf(word)).filter((at) => at >= 0));
    const start = Number.isFinite(first) && first > 60 ? entry.text.lastIndexOf(" ", first - 40) + 1 : 0;
    const part = entry.text.slice(start, start + 140);
    return (start ? "… " : "") + part + (start + 140 < entry.text.length ? " …" : "");
  };

  const element = (tag, kind, text) => {
    const made = document.createElement(tag);
    made.className = kind;
    made.textContent = text;
    return made;
  };

  const show = () => {
    const query = field.value.trim().toLowerCase();
    panel.hidden = query === "";
    list.replaceChildren();
    if (query === "" || entries === null) return;
    const words = query.split(/\s+/);
    const matches = entries
      .filter((entry) => words.every((word) => entry.all.includes(word)))
      .map((entry) => ({ entry, rank: rank(entry, query, words) }))
      .sort((a, b) => a.rank - b.rank || a.entry.order - b.entry.order);
    for (const { entry } of matches.slice(0, MAX_RESULTS)) {
      const link = document.createElement("a");
      link.href = entry.href;
      link.append(
        element("span", "kind", entry.kind),
        element("span", "name", entry.title),
        element("span", "context", [entry.context, excerpt(entry, words)].filter(Boolean).join(": ")),
      );
      const item = document.createElement("li");
      item.append(link);
      list.append(item);
    }
    const number = matches.length === 1 ? "1 result" : `${matches.length} results`;
    status.textContent = matches.length > MAX_RESULTS ? `${number}, the first ${MAX_RESULTS} are displayed` : number;
  };

  const close = () => { panel.hidden = true; };

  form.hidden = false;
  field.addEventListener("focus", load);
  field.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = list.querySelector("a");
    if (first) first.click();
  });
  list.addEventListener("click", close);
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) close(); });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape" && form.contains(event.target)) {
      close();
      field.focus();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && form.contains(event.target)) {
      const links = [field, ...list.querySelectorAll("a")];
      const next = links[links.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) { event.preventDefault(); next.focus(); }
    }
  });
})();
