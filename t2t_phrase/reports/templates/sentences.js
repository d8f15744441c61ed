"use strict";
// The table of sentences: sorted, filtered, a page of rows at a time. Texts are set as text only.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const PER_PAGE = 25;
  const state = { key: "n", descending: false, page: 0, rows: data.sentences };

  const columns = [
    { key: "n", title: "Number", of: (s) => s.n },
    { key: "words", title: `Words of ${data.counted}`, of: (s) => s.words },
    ...data.systems.map((name, at) => ({
      key: `chrf${at}`, title: `${name} chrF`, of: (s) => s.systems[at].chrf, fixed: 1,
    })),
    ...data.systems.slice(1).map((name, at) => ({
      key: `difference${at + 1}`,
      title: `${name} − ${data.systems[0]}`,
      of: (s) => Math.round(10 * (s.systems[at + 1].chrf - s.systems[0].chrf)) / 10,
      fixed: 1, signed: true,
    })),
  ];

  const places = [
    { title: "all texts", of: (s) => [s.source ?? "", ...s.references, ...s.systems.map((x) => x.text)] },
    ...(data.sentences.some((s) => s.source !== null) ? [{ title: "the source", of: (s) => [s.source ?? ""] }] : []),
    { title: "the references", of: (s) => s.references },
    ...data.systems.map((name, at) => ({ title: name, of: (s) => [s.systems[at].text] })),
  ];

  const element = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  const shownNumber = (column, sentence) => {
    const value = column.of(sentence);
    const text = column.fixed === undefined ? String(value) : value.toFixed(column.fixed);
    return column.signed && value > 0 ? `+${text}` : text.replace("-", "−");
  };

  // The characters of a text that are to be marked, by their class.
  const ranges = (text, marked, wanted) => {
    const found = [];
    // As Python splits it: JavaScript also counts the byte order mark as a space.
    const words = [...text.matchAll(/[\S\uFEFF]+/gu)];
    for (const [first, end] of marked) {
      if (!words[first] || !words[end - 1]) continue;
      found.push([words[first].index, words[end - 1].index + words[end - 1][0].length, ""]);
    }
    if (wanted) {
      const low = text.toLowerCase();
      // Where lower case has another length, its places are not those of the text.
      if (low.length === text.length) {
        for (let at = low.indexOf(wanted); at >= 0; at = low.indexOf(wanted, at + wanted.length)) {
          found.push([at, at + wanted.length, "found"]);
        }
      }
    }
    return found;
  };

  const textOf = (text, marked, wanted) => {
    const made = element("bdi", undefined, { class: "text" });
    const all = ranges(text, marked, wanted);
    const cuts = [...new Set([0, text.length, ...all.flatMap(([a, b]) => [a, b])])].sort((a, b) => a - b);
    for (let at = 0; at + 1 < cuts.length; at += 1) {
      const part = text.slice(cuts[at], cuts[at + 1]);
      const over = all.filter(([a, b]) => a <= cuts[at] && cuts[at + 1] <= b);
      if (!over.length) made.append(part);
      else made.append(element("mark", part, over.some((r) => r[2]) ? { class: "found" } : {}));
    }
    return made;
  };

  const bodyOf = (sentence, wanted, kind) => {
    const body = element("tbody");
    const row = element("tr");
    columns.forEach((column, at) => {
      const text = shownNumber(column, sentence);
      row.append(element(at ? "td" : "th", text, at ? { class: "number" } : { class: "number", scope: "row" }));
    });
    const list = element("dl", undefined, { class: "texts" });
    const add = (title, text, marked) => {
      const term = element("dt");
      term.append(element("bdi", title));
      const value = element("dd");
      value.append(textOf(text, marked, wanted));
      list.append(term, value);
    };
    if (sentence.source !== null) add("Source", sentence.source, []);
    sentence.references.forEach((text, at) => {
      add(sentence.references.length > 1 ? `Reference ${at + 1}` : "Reference", text, []);
    });
    data.systems.forEach((name, at) => {
      const own = sentence.systems[at];
      add(name, own.text, kind ? own[kind] : []);
    });
    const cell = element("td", undefined, { colspan: String(columns.length) });
    cell.append(list);
    const texts = element("tr");
    texts.append(cell);
    body.append(row, texts);
    return body;
  };

  const draw = () => {
    const wanted = byId("find").value.toLowerCase();
    const table = byId("table");
    table.querySelectorAll("tbody").forEach((body) => body.remove());
    const first = state.page * PER_PAGE;
    const rows = state.rows.slice(first, first + PER_PAGE);
    table.append(...rows.map((s) => bodyOf(s, wanted, byId("mark").value)));
    const number = (n) => n.toLocaleString("en");
    byId("count").textContent = rows.length
      ? `Sentences ${number(first + 1)} to ${number(first + rows.length)} of ${number(state.rows.length)}`
      : "No sentence matches.";
    byId("previous").disabled = state.page === 0;
    byId("next").disabled = first + PER_PAGE >= state.rows.length;
    table.querySelectorAll("th[data-key]").forEach((head) => {
      const active = head.dataset.key === state.key;
      const order = state.descending ? "descending" : "ascending";
      if (active) head.setAttribute("aria-sort", order); else head.removeAttribute("aria-sort");
      head.querySelector(".arrow").textContent = active ? (state.descending ? " ▼" : " ▲") : "";
    });
  };

  const choose = () => {
    const wanted = byId("find").value.toLowerCase();
    const place = places[Number(byId("within").value)];
    const differing = byId("differing").checked;
    const column = columns.find((c) => c.key === state.key);
    const sign = state.descending ? -1 : 1;
    state.rows = data.sentences
      .filter((s) => !wanted || place.of(s).some((text) => text.toLowerCase().includes(wanted)))
      .filter((s) => !differing || s.systems.some((x) => x.text !== s.systems[0].text))
      .sort((a, b) => sign * (column.of(a) - column.of(b)) || a.n - b.n);
    state.page = 0;
    draw();
  };

  const head = element("tr");
  for (const column of columns) {
    const cell = element("th", undefined, { scope: "col", class: "number", "data-key": column.key });
    const button = element("button", undefined, { type: "button", title: `Sort by ${column.title}` });
    button.append(element("bdi", column.title), element("span", "", { class: "arrow", "aria-hidden": "true" }));
    button.addEventListener("click", () => {
      // Differences and scores are most telling at their ends; a second click turns the order.
      state.descending = state.key === column.key ? !state.descending : false;
      state.key = column.key;
      choose();
    });
    cell.append(button);
    head.append(cell);
  }
  byId("table").tHead.append(head);
  places.forEach((place, at) => byId("within").append(element("option", place.title, { value: String(at) })));
  byId("controls").hidden = false;
  byId("pages").hidden = data.sentences.length <= PER_PAGE;
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["find", "within", "differing"]) byId(id).addEventListener("input", choose);
  byId("mark").addEventListener("input", draw);
  const turn = (by) => {
    state.page += by;
    draw();
    byId("rows").focus({ preventScroll: true });
    byId("count").scrollIntoView({ block: "nearest" });
  };
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  choose();
})();
