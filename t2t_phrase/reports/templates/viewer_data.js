"use strict";
// What the scripts of the viewer share.
const viewer = {};
(() => {
  /** Return the whole numbers of a text written by `packed` in explanation_json.py. */
  viewer.unpacked = async (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const raw = new Uint8Array(await new Response(stream).arrayBuffer());
    const count = raw.length / 2, numbers = new Uint16Array(count);
    for (let i = 0; i < count; i += 1) numbers[i] = raw[i] | (raw[count + i] << 8);
    return numbers;
  };

  /** Return a layer's matrices: groups of rows and columns, sizes, and values in thousandths. */
  viewer.matrices = (explanation, layer) => {
    layer.promise ??= (async () => {
      const numbers = await viewer.unpacked(layer.data);
      const pruned = layer.pruned ? await viewer.unpacked(layer.pruned) : null;
      let start = 0;
      return layer.matrices.map((matrix) => {
        const rows = units(explanation, matrix.rows), columns = units(explanation, matrix.columns);
        const size = rows.length * columns.length;
        const values = numbers.subarray(start, start + size);
        start += size;
        let highest = 0;
        for (const value of values) if (value > highest) highest = value;
        return {
          head: matrix.head, rows, columns, values, highest, pruned,
          windows: layer.windows, chosen: layer.chosen,
        };
      });
    })();
    return layer.promise;
  };

  /** Return one object for each row or column of the groups with these numbers. */
  const units = (explanation, numbers) => numbers.flatMap((number, place) => {
    const group = explanation.groups[number];
    return group.labels.map((label, i) => ({
      label, kind: group.kind, place,
      first: group.spans.length ? group.spans[2 * i] : -1,
      last: group.spans.length ? group.spans[2 * i + 1] : -1,
    }));
  });

  /** Return a matrix of at most so many rows and columns; a cell has the greatest of its weights. */
  viewer.reduced = (matrix, most) => {
    const step = Math.ceil(Math.max(matrix.rows.length, matrix.columns.length) / most);
    if (step === 1) return matrix;
    const fewer = (units) => units.filter((_, i) => i % step === 0);
    const rows = fewer(matrix.rows), columns = fewer(matrix.columns);
    const values = new Uint16Array(rows.length * columns.length);
    matrix.values.forEach((value, i) => {
      const row = Math.floor(i / matrix.columns.length), column = i % matrix.columns.length;
      const place = Math.floor(row / step) * columns.length + Math.floor(column / step);
      values[place] = Math.max(values[place], value);
    });
    return { rows, columns, values, highest: matrix.highest };
  };

  viewer.value = (matrix, row, column) => matrix.values[row * matrix.columns.length + column];
  viewer.digits = (value) => (value / 1000).toFixed(3);
  viewer.isPruned = (matrix, row, column) =>
    Boolean(matrix.pruned && matrix.pruned[row * matrix.columns.length + column]);

  viewer.headName = (matrix, several) => {
    if (matrix.head !== null) return `head ${matrix.head}`;
    return several ? "mean over heads" : "";
  };

  /** Return a new element with properties, and children that are elements or texts. */
  viewer.element = (name, properties = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
      if (key.startsWith("aria-") || ["role", "for", "scope"].includes(key)) made.setAttribute(key, value);
      else made[key] = value;
    }
    made.append(...children);
    return made;
  };

  /** Return a text of a user, whose direction leaves everything around it alone. */
  viewer.quoted = (text) => viewer.element("bdi", { className: "text" }, text);

  /** Return "details" whose content is made when it is first opened. */
  viewer.onDemand = (summary, make) => {
    const details = viewer.element("details", {}, viewer.element("summary", {}, summary));
    details.addEventListener("toggle", async () => {
      if (details.open && details.childElementCount === 1) details.append(await make());
    });
    return details;
  };

  /** Return a table that scrolls sideways; cells are elements or texts. */
  viewer.table = (caption, head, rows, className = "") => {
    const line = (cells, header) => viewer.element("tr", {}, ...cells.map((cell, place) => {
      const isHeader = header || place === 0;
      const made = viewer.element(isHeader ? "th" : "td", {}, cell);
      if (isHeader) made.scope = header ? "col" : "row";
      return made;
    }));
    const table = viewer.element(
      "table", { className },
      viewer.element("caption", {}, caption),
      viewer.element("thead", {}, line(head, true)),
      viewer.element("tbody", {}, ...rows.map((cells) => line(cells, false))),
    );
    return viewer.element("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": caption }, table);
  };
})();
