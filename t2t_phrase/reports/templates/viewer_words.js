"use strict";
// The words of a sentence pair: tokens, links between them, and brackets over the source.
(() => {
  const SVG = "http://www.w3.org/2000/svg", BRACKET = 30, BETWEEN = 84, MOST_SAID = 5;

  const shape = (name, attributes) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  const probability = (explanation, target) => Math.exp(explanation.log_probabilities[target]);

  /** Return the texts after a token's own name: what is fixed about it. */
  const facts = (explanation, side, index) => {
    const words = [], source = explanation.source_tokens, target = explanation.target_tokens;
    if (side === "target") {
      const kind = explanation.predicts_jumps ? "probability of its jump" : "probability";
      words.push(`, ${kind} ${probability(explanation, index).toFixed(3)}`);
      const linked = explanation.aligned[index];
      if (linked !== undefined && source[linked]) {
        words.push(", linked with ", viewer.quoted(source[linked][0]));
      }
    } else {
      explanation.aligned.forEach((linked, i) => {
        if (linked !== index) return;
        words.push(words.length ? ", " : ", linked with ", viewer.quoted(target[i][0]));
      });
      for (const [name, segments] of explanation.partitions) {
        const own = segments.find(([first, last]) => first <= index && index <= last);
        if (own?.[2]) words.push(`, ${name} ${own[2]}`);
      }
    }
    return words;
  };

  /**
   * Return what a token attends to in a matrix, or is attended to by: units with a value and a side.
   * There is nothing if the matrix is not about it.
   */
  viewer.attended = (matrix, map, side, index) => {
    const shift = (text, place) => (text === "earlier target" ? place - 1 : place);
    const plain = (text) => (text === "earlier target" ? "target" : text);
    const about = (units, text) => {
      const own = units.map((unit, i) => [unit, i]).filter(([unit]) =>
        unit.first >= 0 && shift(text, unit.first) <= index && index <= shift(text, unit.last));
      const tokens = own.filter(([unit]) => unit.first === unit.last);
      return (tokens.length ? tokens : own).slice(0, 1).map(([, i]) => i);
    };
    const others = (units, text, value) => units.map((unit, i) => ({
      label: unit.label, side: plain(text), value: value(i),
      first: shift(text, unit.first), last: shift(text, unit.last),
    }));
    if (map.rows === side) {
      const [row] = about(matrix.rows, map.rows);
      if (row === undefined) return { verb: "", units: [] };
      const units = others(matrix.columns, map.columns, (i) => viewer.value(matrix, row, i));
      return { verb: "attends to", units };
    }
    if (plain(map.columns) === side) {
      const [column] = about(matrix.columns, map.columns);
      if (column === undefined) return { verb: "", units: [] };
      const units = others(matrix.rows, map.rows, (i) => viewer.value(matrix, i, column));
      return { verb: "is attended to by", units };
    }
    return { verb: "", units: [] };
  };

  const tokenList = (explanation, side, name) => {
    const tokens = explanation[`${side}_tokens`];
    const items = tokens.map(([text, joined], index) => {
      const small = viewer.element("small", {}, "");
      const token = viewer.element("span", {
        className: "token", tabIndex: index ? -1 : 0, role: "option", dir: "auto", "aria-selected": "false",
      }, text, small);
      Object.assign(token.dataset, { side, index });
      const label = viewer.element("span", {}, text, ...facts(explanation, side, index)).textContent;
      token.setAttribute("aria-label", label);
      return viewer.element("li", { role: "presentation", className: joined ? "joined" : "" }, token);
    });
    return viewer.element("ol", {
      className: `tokens ${side}`, role: "listbox", "aria-label": name, "aria-orientation": "horizontal",
    }, ...items);
  };

  /** Return links and segments as text, which stand for lines and brackets on paper. */
  const onPaper = (explanation) => {
    const source = explanation.source_tokens, words = [];
    explanation.aligned.forEach((linked, i) => {
      if (!source[linked]) return;
      words.push(words.length ? "; " : "Links: ", viewer.quoted(explanation.target_tokens[i][0]), " - ", viewer.quoted(source[linked][0]));
    });
    for (const [name, segments] of explanation.partitions) {
      words.push(viewer.element("br"), `${name}:`);
      for (const [first, last, label] of segments) {
        words.push(" [", viewer.quoted(source.slice(first, last + 1).map(([text]) => text).join(" ")), `]${label && ` ${label}`}`);
      }
    }
    return viewer.element("p", { className: "paper" }, ...words);
  };

  /**
   * Return the strip of tokens. `attention()` gives the map and matrix that are shown large, or
   * nothing.
   */
  viewer.strip = (explanation, attention) => {
    const svg = shape("svg", { "aria-hidden": "true" });
    const lists = { source: tokenList(explanation, "source", "Source tokens"),
      target: tokenList(explanation, "target", "Target tokens") };
    const brackets = explanation.partitions.length * BRACKET;
    lists.target.style.marginTop = `${BETWEEN}px`;
    const inner = viewer.element("div", { className: "inner" }, svg, lists.source, lists.target);
    inner.style.paddingTop = `${brackets}px`;
    const strip = viewer.element("div", { className: "strip" }, inner);
    const says = viewer.element("p", { className: "says", "aria-live": "polite" });
    const tokens = { source: [...lists.source.querySelectorAll(".token")],
      target: [...lists.target.querySelectorAll(".token")] };
    const links = [], arcs = [];
    let pointed = null;

    /** Light the links and brackets of the token that is pointed at. */
    const lightLines = () => {
      for (const link of links) link.path.classList.toggle("lit", pointed !== null && link[pointed.side] === pointed.index);
      for (const { first, last, path } of arcs) {
        path.classList.toggle("lit", pointed?.side === "source" && first <= pointed.index && pointed.index <= last);
      }
    };

    const layOut = () => {
      const box = inner.getBoundingClientRect();
      if (!box.width) return;
      svg.setAttribute("width", inner.scrollWidth);
      svg.setAttribute("height", inner.scrollHeight);
      svg.replaceChildren();
      links.length = arcs.length = 0;
      const at = (token) => {
        const own = token.getBoundingClientRect();
        return { left: own.left - box.left, right: own.right - box.left,
          top: own.top - box.top, bottom: own.bottom - box.top, middle: (own.left + own.right) / 2 - box.left };
      };
      explanation.aligned.forEach((source, target) => {
        if (!tokens.source[source] || !tokens.target[target]) return;
        const from = at(tokens.source[source]), to = at(tokens.target[target]);
        const half = (from.bottom + to.top) / 2;
        const path = shape("path", { class: "link", d:
          `M${from.middle},${from.bottom} C${from.middle},${half} ${to.middle},${half} ${to.middle},${to.top}` });
        links.push({ source, target, path });
        svg.append(path);
      });
      explanation.partitions.forEach(([name, segments], level) => {
        const y = brackets - level * BRACKET - 4;
        for (const [first, last, label] of segments) {
          if (!tokens.source[last]) continue;
          const from = at(tokens.source[first]).left, to = at(tokens.source[last]).right;
          const path = shape("path", { class: "bracket", d: `M${from},${y} v-6 H${to} v6` });
          const text = shape("text", { class: "bracket-label", x: (from + to) / 2, y: y - 9 });
          text.textContent = first ? label : `${name} ${label}`.trim();
          svg.append(path, text);
          arcs.push({ first, last, path });
        }
      });
      lightLines();
    };

    const clear = () => {
      for (const token of [...tokens.source, ...tokens.target]) {
        token.classList.remove("lit");
        token.lastChild.textContent = "";
      }
      tokens.target.forEach((token, i) => { token.lastChild.textContent = probability(explanation, i).toFixed(2); });
      pointed = null;
      lightLines();
    };
    const light = (side, first, last = first) => {
      for (let i = Math.max(first, 0); i <= last; i += 1) tokens[side]?.[i]?.classList.add("lit");
    };

    /** Light a token and its links, and say what it attends to. */
    const point = (side, index) => {
      clear();
      light(side, index);
      pointed = { side, index };
      lightLines();
      explanation.aligned.forEach((source, target) => {
        if ((side === "source" ? source : target) !== index) return;
        light("source", source);
        light("target", target);
      });
      const words = [viewer.quoted(explanation[`${side}_tokens`][index][0]), ...facts(explanation, side, index), "."];
      const shown = attention();
      const found = shown ? viewer.attended(shown.matrix, shown.map, side, index) : { units: [] };
      if (found.units.length) {
        words.push(` In ${shown.name}, it ${found.verb} `);
        const greatest = found.units.slice().sort((a, b) => b.value - a.value).slice(0, MOST_SAID);
        words.push(...greatest.flatMap((unit) => [viewer.quoted(unit.label), ` ${viewer.digits(unit.value)}; `]));
        for (const unit of found.units) {
          if (unit.first !== unit.last || unit.first < 0) continue;
          const token = tokens[unit.side]?.[unit.first];
          if (token) token.lastChild.textContent = viewer.digits(unit.value);
        }
      }
      says.replaceChildren(...words);
    };

    /** Light the tokens of a row and of a column of the large picture. */
    const pointAt = (map, row, column) => {
      clear();
      for (const [unit, text] of [[row, map.rows], [column, map.columns]]) {
        const shift = text === "earlier target" ? 1 : 0;
        if (unit.first >= 0) light(text === "source" ? "source" : "target", unit.first - shift, unit.last - shift);
      }
    };

    const leave = () => {
      clear();
      const focused = strip.querySelector(".token:focus");
      if (focused) point(focused.dataset.side, Number(focused.dataset.index));
      else says.replaceChildren("Point at a token, or move to it with Tab and the arrow keys.");
    };
    const tokenOf = (event) => event.target.closest(".token");
    inner.addEventListener("pointerover", (event) => {
      const token = tokenOf(event);
      if (token) point(token.dataset.side, Number(token.dataset.index));
    });
    inner.addEventListener("pointerleave", leave);
    inner.addEventListener("focusin", (event) => {
      const token = tokenOf(event);
      if (!token) return;
      for (const other of tokens[token.dataset.side]) {
        other.tabIndex = other === token ? 0 : -1;
        other.setAttribute("aria-selected", String(other === token));
      }
      point(token.dataset.side, Number(token.dataset.index));
    });
    inner.addEventListener("focusout", leave);
    inner.addEventListener("click", (event) => tokenOf(event)?.focus());
    inner.addEventListener("keydown", (event) => {
      const token = tokenOf(event);
      if (!token || event.ctrlKey || event.altKey || event.metaKey) return;
      const side = token.dataset.side, index = Number(token.dataset.index);
      const linked = side === "source" ? explanation.aligned.indexOf(index) : explanation.aligned[index];
      const next = {
        ArrowLeft: tokens[side][index - 1], ArrowRight: tokens[side][index + 1],
        Home: tokens[side][0], End: tokens[side].at(-1),
        ArrowDown: side === "source" ? tokens.target[linked] ?? tokens.target[0] : undefined,
        ArrowUp: side === "target" ? tokens.source[linked] ?? tokens.source[0] : undefined,
      }[event.key];
      if (!next) return;
      event.preventDefault();
      next.focus();
    });
    new ResizeObserver(layOut).observe(inner);
    leave();
    const part = viewer.element("div", {}, strip, says, onPaper(explanation));
    return { part, pointAt, leave };
  };

  /** Return the tokens, their probabilities and links, and all segments as tables. */
  viewer.wordTables = (explanation) => {
    const source = explanation.source_tokens;
    const quoted = (token) => (token ? viewer.quoted(token[0]) : "-");
    const tables = [viewer.table(
      "Target tokens", ["target token", explanation.predicts_jumps ? "probability of its jump" : "probability",
        "log-probability (nats)", "linked source token"],
      explanation.target_tokens.map((token, i) => [
        quoted(token), probability(explanation, i).toFixed(3), explanation.log_probabilities[i].toFixed(4),
        quoted(source[explanation.aligned[i]]),
      ]),
    )];
    for (const [name, segments] of explanation.partitions) {
      tables.push(viewer.table(
        `Segments of ${name}`, ["tokens", "predicted label"],
        segments.map(([first, last, label]) => [
          viewer.element("span", {}, ...source.slice(first, last + 1).flatMap((token) => [quoted(token), " "])),
          label || "-",
        ]),
      ));
    }
    return viewer.element("div", {}, ...tables);
  };
})();
