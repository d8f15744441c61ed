"use strict";
// Pictures of matrices: small ones, and a large one with labels and a cursor.
(() => {
  const GAP = 8, LABEL = 150, HEADING = 18, SMALLEST_LABELLED = 10;
  const MOST_CELLS_OF_TABLE = 15000, GREATEST = 5;

  let palette = null;
  /** Read the colours of the page again, which its mode decides on, before the next picture. */
  viewer.forgetColours = () => { palette = null; };
  const colours = () => {
    palette ??= readColours();
    return palette;
  };
  const readColours = () => {
    const probe = document.body.appendChild(viewer.element("span"));
    const read = (name) => {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    };
    const names = ["--empty", "--full", "--ink", "--faint", "--line", "--series-2", "--paper"];
    const found = Object.fromEntries(names.map((name) => [name.slice(2), read(name)]));
    probe.remove();
    return found;
  };
  const channels = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number);

  /** Return a canvas with one pixel for each cell. */
  const pixels = (matrix, shades) => {
    const height = matrix.rows.length, width = matrix.columns.length;
    const canvas = viewer.element("canvas", { width, height });
    const from = channels(shades.empty), to = channels(shades.full);
    const context = canvas.getContext("2d"), image = context.createImageData(width, height);
    for (let i = 0; i < width * height; i += 1) {
      const share = matrix.highest ? matrix.values[i] / matrix.highest : 0;
      for (let c = 0; c < 3; c += 1) image.data[4 * i + c] = from[c] + share * (to[c] - from[c]);
      image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
    return canvas;
  };

  /** Draw a small picture. */
  viewer.drawSmall = (canvas, matrix) => {
    canvas.width = canvas.height = 96;
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(pixels(viewer.reduced(matrix, 96), colours()), 0, 0, 96, 96);
  };

  /** Return where cells begin: each group after the first is set off by a gap. */
  const places = (units, cell, start) => units.map((unit, i) => start + i * cell + unit.place * GAP);

  const cut = (context, text, width) => {
    if (context.measureText(text).width <= width) return text;
    let kept = [...text];
    while (kept.length && context.measureText(`${kept.join("")}…`).width > width) kept.pop();
    return `${kept.join("")}…`;
  };

  const cellSize = (matrix) => {
    const count = Math.max(matrix.rows.length, matrix.columns.length);
    if (count <= 18) return 24;
    if (count <= 36) return 17;
    return count <= 160 ? 13 : 5;
  };

  const geometry = (matrix, context) => {
    const cell = cellSize(matrix), labelled = cell >= SMALLEST_LABELLED;
    const longest = (units) => (labelled
      ? Math.min(LABEL, Math.max(...units.map((unit) => context.measureText(unit.label).width))) + 6
      : 0);
    const left = HEADING + longest(matrix.rows), top = HEADING + longest(matrix.columns);
    const x = places(matrix.columns, cell, left), y = places(matrix.rows, cell, top);
    return { cell, labelled, left, top, x, y, width: x.at(-1) + cell + 4, height: y.at(-1) + cell + 4 };
  };

  const FONT = '12px system-ui, "Noto Sans", "DejaVu Sans", sans-serif';

  const draw = (canvas, matrix, map, at) => {
    const shades = colours(), scale = at.width * at.height > 4e6 ? 1 : Math.min(devicePixelRatio || 1, 2);
    canvas.width = at.width * scale;
    canvas.height = at.height * scale;
    canvas.style.width = `${at.width}px`;
    canvas.style.height = `${at.height}px`;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.font = FONT;
    const image = pixels(matrix, shades);
    context.imageSmoothingEnabled = false;
    const ranges = (units) => {
      const found = [];
      units.forEach((unit, i) => {
        if (found.at(-1)?.place === unit.place) found.at(-1).end = i + 1;
        else found.push({ place: unit.place, kind: unit.kind, start: i, end: i + 1 });
      });
      return found;
    };
    context.textBaseline = "middle";
    for (const [text, group] of ranges(matrix.columns).map((g) => [`to ${map.columns} ${g.kind}`, g])) {
      context.fillStyle = shades.faint;
      context.textAlign = "left";
      const width = (group.end - group.start) * at.cell;
      context.fillText(cut(context, text.trim(), Math.max(width, 60)), at.x[group.start], HEADING / 2);
      for (const rows of ranges(matrix.rows)) {
        const height = (rows.end - rows.start) * at.cell;
        context.drawImage(
          image, group.start, rows.start, group.end - group.start, rows.end - rows.start,
          at.x[group.start], at.y[rows.start], width, height,
        );
        context.strokeStyle = shades.faint;
        context.strokeRect(at.x[group.start] - .5, at.y[rows.start] - .5, width + 1, height + 1);
      }
    }
    for (const group of ranges(matrix.rows)) {
      context.save();
      context.translate(HEADING / 2, at.y[group.start]);
      context.rotate(-Math.PI / 2);
      context.textAlign = "right";
      const width = Math.max((group.end - group.start) * at.cell, 60);
      context.fillText(cut(context, `from ${map.rows} ${group.kind}`.trim(), width), 0, 0);
      context.restore();
    }
    if (at.labelled) drawLabels(context, matrix, at, shades);
    drawMarks(context, matrix, at, shades);
  };

  const drawLabels = (context, matrix, at, shades) => {
    context.fillStyle = shades.ink;
    context.textAlign = "right";
    matrix.rows.forEach((unit, i) => {
      context.fillText(cut(context, unit.label, LABEL), at.left - 4, at.y[i] + at.cell / 2);
    });
    context.textAlign = "left";
    matrix.columns.forEach((unit, i) => {
      context.save();
      context.translate(at.x[i] + at.cell / 2, at.top - 4);
      context.rotate(-Math.PI / 2);
      context.fillText(cut(context, unit.label, LABEL), 0, 0);
      context.restore();
    });
  };

  /** Draw windows, choices of rows, and what is pruned. */
  const drawMarks = (context, matrix, at, shades) => {
    context.strokeStyle = shades["series-2"];
    const last = matrix.columns.length - 1;
    matrix.rows.forEach((_, row) => {
      const y = at.y[row];
      if (matrix.windows) {
        const centre = matrix.windows.centre[row], { radius, deviation } = matrix.windows;
        const from = Math.max(centre - radius, 0), to = Math.min(centre + radius, last);
        context.strokeRect(at.x[from] + 1, y + 1, at.x[to] + at.cell - at.x[from] - 2, at.cell - 2);
        const middle = at.x[0] + (matrix.windows.aligned[row] + .5) * at.cell;
        context.beginPath();
        if (deviation === null) {
          context.moveTo(middle, y + at.cell);
          context.lineTo(middle, y);
        } else {
          for (let x = at.x[from]; x <= at.x[to] + at.cell; x += 1) {
            const away = (x - middle) / at.cell / deviation;
            context.lineTo(x, y + at.cell * (1 - .9 * Math.exp(-away * away / 2)));
          }
        }
        context.stroke();
      }
      if (matrix.chosen && matrix.chosen[row] >= 0 && matrix.chosen[row] <= last) {
        context.beginPath();
        context.arc(at.x[matrix.chosen[row]] + at.cell / 2, y + at.cell / 2, at.cell * .42, 0, 7);
        context.stroke();
      }
    });
    if (!matrix.pruned || at.cell < SMALLEST_LABELLED) return;
    context.strokeStyle = shades.faint;
    context.beginPath();
    matrix.pruned.forEach((pruned, i) => {
      if (!pruned) return;
      const x = at.x[i % (last + 1)] + at.cell / 2, y = at.y[Math.floor(i / (last + 1))] + at.cell / 2;
      context.moveTo(x - 2, y - 2);
      context.lineTo(x + 2, y + 2);
      context.moveTo(x + 2, y - 2);
      context.lineTo(x - 2, y + 2);
    });
    context.stroke();
  };

  /** Return what is to be said of a cell: texts, and labels as elements. */
  viewer.cellWords = (matrix, map, row, column) => {
    const words = [
      viewer.quoted(matrix.rows[row].label), " to ", viewer.quoted(matrix.columns[column].label),
      `: ${viewer.digits(viewer.value(matrix, row, column))}`,
    ];
    if (viewer.isPruned(matrix, row, column)) words.push(" (pruned)");
    if (matrix.chosen?.[row] === column) words.push(" (chosen)");
    if (matrix.windows) {
      const { centre, aligned, radius } = matrix.windows;
      words.push(` (window around ${centre[row] + 1}, ${radius} on each side; position ${(aligned[row] + 1).toFixed(2)})`);
    }
    return words;
  };

  /**
   * Return the large picture of a matrix.
   * `onCell` is told row and column of the cell under the pointer or cursor, or nothing.
   */
  viewer.large = (matrix, map, name, onCell) => {
    const canvas = viewer.element("canvas", { role: "img", "aria-label": name });
    const cursor = viewer.element("div", { className: "cursor", hidden: true });
    const tip = viewer.element("div", { className: "tip", hidden: true, "aria-hidden": "true" });
    const inner = viewer.element("div", { className: "picture" }, canvas, cursor, tip);
    const box = viewer.element("div", {
      className: "large", tabIndex: 0, role: "application",
      "aria-label": `${name}. Arrow keys move from cell to cell.`,
    }, inner);
    const context = canvas.getContext("2d");
    context.font = FONT;
    const at = geometry(matrix, context);
    let row = -1, column = -1;
    const show = () => {
      cursor.hidden = tip.hidden = row < 0;
      if (row < 0) return onCell();
      Object.assign(cursor.style, {
        left: `${at.x[column] - 2}px`, top: `${at.y[row] - 2}px`,
        width: `${at.cell + 4}px`, height: `${at.cell + 4}px`,
      });
      tip.replaceChildren(...viewer.cellWords(matrix, map, row, column));
      const right = at.x[column] > at.width / 2;
      Object.assign(tip.style, {
        top: `${at.y[row] + at.cell + 6}px`,
        left: right ? "" : `${at.x[column]}px`,
        right: right ? `${at.width - at.x[column] - at.cell}px` : "",
      });
      return onCell(row, column);
    };
    const under = (starts, place) => {
      const found = starts.findLastIndex((start) => start <= place);
      return found >= 0 && place < starts[found] + at.cell ? found : -1;
    };
    canvas.addEventListener("pointermove", (event) => {
      const c = under(at.x, event.offsetX), r = under(at.y, event.offsetY);
      const [newRow, newColumn] = r < 0 || c < 0 ? [-1, -1] : [r, c];
      if (newRow === row && newColumn === column) return;
      [row, column] = [newRow, newColumn];
      show();
    });
    inner.addEventListener("pointerleave", () => {
      row = column = -1;
      show();
    });
    box.addEventListener("keydown", (event) => {
      const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      const step = steps[event.key];
      if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const inside = (place, count) => Math.max(0, Math.min(count - 1, place));
      [row, column] = row < 0 ? [0, 0] : [
        inside(row + step[0], matrix.rows.length), inside(column + step[1], matrix.columns.length),
      ];
      show();
      cursor.scrollIntoView({ block: "nearest", inline: "nearest" });
    });
    box.addEventListener("blur", () => {
      row = column = -1;
      show();
    });
    draw(canvas, matrix, map, at);
    box.redraw = () => draw(canvas, matrix, map, at);
    return box;
  };

  /** Return the matrix as a table; of a large one, the greatest weights of each row. */
  viewer.matrixTable = (matrix, name) => {
    const all = matrix.rows.length * matrix.columns.length <= MOST_CELLS_OF_TABLE;
    const mark = (row, column) => {
      const pruned = viewer.isPruned(matrix, row, column) ? " pruned" : "";
      return viewer.digits(viewer.value(matrix, row, column)) + pruned
        + (matrix.chosen?.[row] === column ? " chosen" : "");
    };
    const columns = matrix.columns.map((_, column) => column);
    if (all) {
      return viewer.table(
        name, ["from \\ to", ...matrix.columns.map((unit) => viewer.quoted(unit.label))],
        matrix.rows.map((unit, row) => [
          viewer.quoted(unit.label), ...columns.map((column) => mark(row, column)),
        ]), "weights",
      );
    }
    return viewer.table(
      `${name}: the ${GREATEST} greatest weights of each row`, ["from", "to"],
      matrix.rows.map((unit, row) => {
        const greatest = columns.slice().sort((a, b) =>
          viewer.value(matrix, row, b) - viewer.value(matrix, row, a)).slice(0, GREATEST);
        return [viewer.quoted(unit.label), viewer.element("span", {}, ...greatest.flatMap((column) =>
          [viewer.quoted(matrix.columns[column].label), ` ${mark(row, column)}; `]))];
      }), "weights",
    );
  };
})();
