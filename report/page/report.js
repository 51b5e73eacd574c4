"use strict";
// Sorts lists of tables by a column, and searches them. Without it the page has all that it has with it.
(() => {
  const lists = [...document.querySelectorAll("table.by-table")];

  // A cell sorts by its first number, if all of the column have one or are empty, or else by its text.
  const textOf = (row, at) => row.cells[at].textContent.trim();
  const numberOf = (text) =>
    parseFloat(text.replace(/[\s\u202f]/g, "").replace("\u2212", "-").replace("\u00b1", "").replace(",", "."));
  const isEmpty = (text) => text === "" || text === "\u2013";

  const sizeOf = (text) => (isEmpty(text) ? -Number.MAX_VALUE : numberOf(text));

  const sort = (table, at, descending) => {
    const rows = [...table.tBodies[0].rows];
    const numeric = rows.every((row) => isEmpty(textOf(row, at)) || Number.isFinite(numberOf(textOf(row, at))));
    const compare = (a, b) => {
      const [x, y] = [textOf(a, at), textOf(b, at)];
      if (!numeric) return x.localeCompare(y, document.documentElement.lang, { numeric: true });
      return sizeOf(x) - sizeOf(y);
    };
    rows.sort((a, b) => (descending ? compare(b, a) : compare(a, b)));
    table.tBodies[0].append(...rows);
  };

  for (const table of lists) {
    const heads = [...table.tHead.rows[0].cells].filter((head) => !head.querySelector("svg"));
    for (const head of heads) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const descending = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        sort(table, head.cellIndex, descending);
      });
    }
  }

  const finder = document.querySelector(".finder");
  const find = document.getElementById("find");
  const found = finder.querySelector("output");
  const searched = lists.filter((table) => table.closest("#by-table"));
  finder.hidden = false;
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    let count = 0;
    for (const table of searched) {
      for (const row of table.tBodies[0].rows) {
        row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
        if (!row.hidden) count += table.classList.contains("errors") ? 1 : 0;
      }
      const folded = table.closest("details");
      if (wanted !== "" ? folded !== null : false) folded.open = true;
    }
    const text = count === 1 ? found.dataset.single : found.dataset.several;
    found.textContent = wanted === "" ? "" : text.replace("#", count);
  });
})();
