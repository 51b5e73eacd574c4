"use strict";
// How good the tables would be with another budget: the formula of plan.Prospects, worked out as sliders move.
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const model = data.prospects;
  const whole = 10000; // units of a share
  const most = 10; // times as much, or as little

  // Numbers as the plan writes them.
  const group = (n) => {
    const digits = String(n);
    return digits.length < 5 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  };
  const nearest = (v) => (v >= 999.95 ? group(Math.round(v)) : String(Number(v.toPrecision(4))));
  const up = (v) => group(Math.ceil(v * (1 - 1e-9)));

  // An amount is one of two digits near to the planned one, or that itself.
  const stopsAround = (planned, least, largest) => {
    const stops = [planned];
    const low = Math.floor(Math.log10(planned.value)) - 2;
    for (let power = low; power <= low + 3; power++) {
      for (let digits = 10; digits < 100; digits++) {
        const value = Number(digits + "e" + power);
        if (value >= least && value <= largest && Math.abs(value / planned.value - 1) > 1e-9) {
          stops.push({ text: String(value), value });
        }
      }
    }
    return stops.sort((a, b) => a.value - b.value);
  };

  class Amount {
    constructor(input, planned, least, largest) {
      this.input = input;
      this.planned = planned;
      this.least = Math.max(least, (planned.value / most) * (1 - 1e-9));
      this.largest = Math.min(largest, planned.value * most * (1 + 1e-9));
      this.stops = stopsAround(planned, this.least, this.largest);
      input.max = this.stops.length - 1;
      this.set(null);
    }
    pick() { this.now = this.stops[this.input.valueAsNumber]; }
    set(text) {
      const value = Number(text);
      const { planned, stops } = this;
      this.now = planned;
      if (text && value >= this.least && value <= this.largest && value !== planned.value) {
        this.now = { text: String(value), value };
      }
      let near = 0;
      stops.forEach((s, i) => {
        if (Math.abs(s.value - this.now.value) < Math.abs(stops[near].value - this.now.value)) near = i;
      });
      this.input.value = near;
    }
  }

  const known = model.totals;
  const budget = new Amount(byId("budget"), data.asked, known[0].asked, known[known.length - 1].asked);

  // The split: in every level the shares add up to all of it. As long as nobody moves one they are the spec's own.
  const levels = [];
  const nodes = [];
  const prepare = (parts) => {
    const level = { parts: parts.filter((n) => n.share), moved: false };
    levels.push(level);
    for (const n of parts) {
      n.level = level;
      n.input = n.path === "" || n.fixed ? null : byId("leaf." + n.path);
      n.output = byId("of." + n.path);
      nodes.push(n);
      if (n.amount) n.lever = new Amount(n.input, n.amount, 0, Infinity);
      if (n.parts) prepare(n.parts);
    }
  };
  prepare(data.split);

  const spread = (total, weights) => {
    const sum = weights.reduce((a, b) => a + b, 0);
    const out = weights.map((w) => Math.max(1, Math.floor((total * w) / sum)));
    const rest = total - out.reduce((a, b) => a + b, 0);
    out[out.indexOf(Math.max(...out))] += rest;
    return out;
  };
  const fraction = (n, planned) => (planned || !n.level.moved ? n.share.value : n.units / whole);
  const units = (level) => level.parts.map((n) => (level.moved ? n.units : n.share.value * whole));
  const setShares = (level, given, weights) => {
    const free = level.parts.filter((n) => !given.has(n));
    let left = whole;
    given.forEach((u) => { left -= u; });
    const all = free.length === 0 || left < free.length;
    const some = all ? level.parts : free;
    const shares = spread(all ? whole : left, some.map((n) => (given.has(n) ? given.get(n) : weights[level.parts.indexOf(n)])));
    given.forEach((u, n) => { n.units = u; });
    some.forEach((n, i) => { n.units = shares[i]; });
    level.moved = true;
  };

  // What each leaf has of a total; null where that does not do.
  const divide = (parts, total, planned, out) => {
    const own = (n) => (n.amount ? (planned ? n.amount.value : n.lever.now.value) : n.needed);
    let left = total;
    let shares = false;
    let needed = false;
    for (const n of parts) {
      if (n.share) shares = true; else left -= own(n);
      needed = needed || n.needed > 0;
    }
    const none = 1e-9 * total;
    if (left < -none || (shares ? left <= none : !needed && left > none)) return null;
    for (const n of parts) {
      n.has = n.share ? left * fraction(n, planned) : own(n);
      if (!n.parts) out[n.leaf] = n.has;
      else if (!divide(n.parts, n.has, planned, out)) return null;
    }
    return out;
  };

  // What is divided of an amount, on a straight line between logarithms.
  const totalAt = (asked) => {
    if (known.length < 2) return known[0];
    let i = 0;
    while (i < known.length - 2 && asked > known[i + 1].asked) i++;
    const [a, b] = [known[i], known[i + 1]];
    const share = Math.log(asked / a.asked) / Math.log(b.asked / a.asked);
    const between = (key) => (a[key] ? a[key] ** (1 - share) * b[key] ** share : 0);
    return { total: between("total"), least: between("least"), epsilon: between("epsilon") };
  };

  // What leaves have. Laplace noise of other shares adds up otherwise under ε and δ: taken to allow the less.
  const amounts = () => {
    const at = totalAt(budget.now.value);
    let total = at.total;
    if (at.least) {
      const roots = (all) => all.reduce((sum, a, i) => sum + model.roots[i] * Math.sqrt(a), 0);
      const before = divide(data.split, total, true, []);
      const now = divide(data.split, total, false, []);
      if (!before || !now) return null;
      const [r, s] = [roots(before), roots(now)];
      if (s > r) total *= (r / s) ** 2;
      if (model.laplace) total = Math.max(total, (at.total * at.epsilon ** 2) / s ** 2);
      total = Math.max(total, at.least);
    }
    return divide(data.split, total, false, []);
  };

  // The integers of a table that is one measurement, by its law. Amounts that targets need are just enough for a margin.
  const tie = 1e-6;
  const laplace = (v) => {
    const scale = Math.sqrt(v / 2);
    const q = Math.exp(-1 / scale);
    return {
      deviation: Math.sqrt(2 * q) / -Math.expm1(-1 / scale),
      margin: (tail) => Math.max(0, Math.ceil(scale * Math.log(2 / (tail * (1 + q))) - 1 - tie)),
    };
  };
  const gaussian = (v) => ({
    deviation: Math.sqrt(v),
    margin: (tail, multiple) => {
      // The sum over integers is the integral, but for x/24v of its ends (Euler and Maclaurin).
      if (v > 1e4) return Math.ceil(multiple * Math.sqrt(v) * (1 - 1 / (24 * v)) - 0.5 - tie);
      const weight = (k) => Math.exp((-k * k) / (2 * v));
      let all = 1;
      for (let k = 1; weight(k) > 1e-18; k++) all += 2 * weight(k);
      let m = 0;
      for (let sum = 1; sum < (1 - tail) * all && weight(m) > 1e-18; sum += 2 * weight(m)) m++;
      return m;
    },
  });

  const judge = (t, x, precision) => {
    let v = 0;
    for (const [leaf, factor] of t.own || []) v += factor / x[leaf];
    for (const [residual, factor] of t.shared || []) v += factor / precision[residual];
    let se;
    let margin;
    let median;
    let aimed;
    if (t.alone) {
      const law = (t.alone === "discrete-laplace" ? laplace : gaussian)(v);
      se = t.unit * law.deviation;
      margin = t.unit * law.margin(0.05, t.margin);
      median = t.unit * law.margin(0.5, t.median);
      aimed = t.target ? t.unit * law.margin(t.tail, t.aimed) : 0;
    } else {
      se = t.unit * Math.sqrt(v);
      [margin, median, aimed] = [se * t.widest * t.margin, se * t.median, se * t.widest * (t.aimed || 0)];
    }
    let band = "";
    let verdict = "";
    if (t.cell) {
      band = margin <= t.cell / 10 ? "good" : median > t.cell ? "mostly noise" : se > t.cell / 2 ? "weak" : "usable";
      const least = Math.max(margin, t.unfit ? se / t.unfit : 0);
      verdict = "use";
      if (t.cell < least + 1.2816 * se) verdict = t.single ? "large cells only" : "add up first";
      if (band === "weak" || band === "mostly noise" || (t.unfit && se > t.unfit * t.cell)) verdict = "do not use cell by cell";
    }
    const figures = (t.figures || []).map((f) => {
      let square = (f.count || 0) * se * se;
      for (const [leaf, factor] of f.own || []) square += factor / x[leaf];
      return { se: f.wide ? 0 : Math.sqrt(square), margin: f.margin * Math.sqrt(square) + (f.fixed || 0) };
    });
    return { se, margin, band, label: band && `${band}: ${verdict}`, aimed, met: t.target ? aimed <= t.target * (1 + 1e-6) : null, figures };
  };

  // The table, in the order that was asked for last.
  const table = byId("tables");
  const bodies = [...table.tBodies];
  const order = ["good", "usable", "weak", "mostly noise", ""];
  let results = [];
  const say = (row, name, text) => {
    const cell = row.querySelector("." + name);
    if (cell && cell.textContent !== text) cell.textContent = text;
  };
  const show = (x) => {
    const precision = x && (model.shared || []).map((s) => s.reduce((sum, [leaf, f]) => sum + f * x[leaf], 0));
    results = bodies.map((body, i) => {
      const t = model.tables[i];
      const r = x ? judge(t, x, precision) : null;
      const [row, ...more] = body.rows;
      say(row, "se", r ? nearest(r.se) : "–");
      say(row, "margin", r ? "±" + up(r.margin) : "–");
      say(row, "tenth", r ? up(10 * r.margin) : "–");
      say(row, "band", r ? r.label : "–");
      if (t.target) say(row, "target", r ? (r.met ? "met: ±" : "missed: ±") + nearest(r.aimed) + " of ±" + nearest(t.target) : "–");
      row.classList.toggle("missed", Boolean(r) && r.met === false);
      more.forEach((line, k) => {
        const f = r && r.figures[k];
        say(line, "se", f && f.se ? nearest(f.se) : "–");
        say(line, "margin", f ? "±" + nearest(f.margin) : "–");
      });
      return r;
    });
  };
  const sortBy = (key, down) => {
    const value = (i) => {
      const r = results[i];
      if (key === "name" || !r) return i;
      if (key === "band") return order.indexOf(r.band);
      if (key === "target") return r.met === null ? Infinity : r.aimed / model.tables[i].target;
      return r[key === "tenth" ? "margin" : key];
    };
    const places = bodies.map((_, i) => i).sort((a, b) => {
      const [p, q] = [value(a), value(b)];
      return p === q ? a - b : (p < q ? -1 : 1) * (down ? -1 : 1);
    });
    table.append(...places.map((i) => bodies[i]));
  };
  for (const button of table.querySelectorAll("thead button")) {
    button.addEventListener("click", () => {
      const th = button.closest("th");
      const down = th.getAttribute("aria-sort") === "ascending";
      for (const other of table.querySelectorAll("thead th")) other.removeAttribute("aria-sort");
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      sortBy(button.value, down);
    });
  }

  // The setting as YAML and as a link.
  const percent = (n) => String(n / 100) + "%";
  const shareText = (n) => (n.level.moved ? percent(n.units) : n.share.text);
  const plain = /^[A-Za-z_][A-Za-z0-9_-]*$/;
  const word = /^(true|false|yes|no|on|off|y|n|null)$/i;
  const quoted = (s) => (plain.test(s) && !word.test(s) ? s : JSON.stringify(s));
  const yaml = () => {
    const lines = ["budget:", `  ${model.key}: ${budget.now.text}`];
    if (data.delta) lines.push(`  delta: ${data.delta}`);
    if (data.minimise) lines.push(`  minimise: ${data.minimise}`);
    if (data.noise) lines.push(`  noise: ${data.noise}`);
    const write = (parts, indent) => {
      lines.push(indent + "split:");
      for (const n of parts) {
        const key = `${indent}  ${quoted(n.key)}:`;
        const amount = n.lever && `${model.pure ? "epsilon" : "rho"}: ${n.lever.now.text}`;
        if (n.parts) {
          lines.push(key, `${indent}    ${amount || "share: " + shareText(n)}`);
          write(n.parts, indent + "    ");
        } else {
          lines.push(`${key} ${amount ? "{" + amount + "}" : n.share ? shareText(n) : "needed"}`);
        }
      }
    };
    const [first] = data.split;
    if (first.path !== "") write(data.split, "  ");
    else if (first.parts) write(first.parts, "  ");
    return lines.join("\n") + "\n";
  };
  const link = () => {
    const params = new URLSearchParams();
    if (budget.now !== budget.planned) params.set(model.key, budget.now.text);
    for (const n of nodes) {
      if (n.share && n.level.moved) params.set("leaf." + n.path, String(n.units / 100));
      if (n.lever && n.lever.now !== n.lever.planned) params.set("leaf." + n.path, n.lever.now.text);
    }
    return "#" + params;
  };
  const plural = (n, thing) => (n === 1 ? `1 ${thing}` : `${group(n)} ${thing}s`);
  const status = (enough) => {
    const name = model.key === "rho" ? "ρ" : "ε";
    const parts = [`${name} = ${budget.now.text}`];
    if (!enough) return parts[0] + ": nothing can be planned with this, as leaves would have too little, or amounts do not add up.";
    const aims = results.filter((r) => r.met !== null);
    if (aims.length) parts.push(`${aims.filter((r) => r.met).length} of ${plural(aims.length, "target")} met`);
    for (const band of order) {
      const n = band && results.filter((r) => r.band === band).length;
      if (n) parts.push(`${plural(n, "table")} ${band}`);
    }
    return parts.join(", ") + ".";
  };

  const update = (settled) => {
    const has = amounts();
    show(has && has.map((a) => (model.pure ? a * a : a)));
    const name = model.key === "rho" ? "ρ" : "ε";
    byId("of").textContent = `${name} = ${budget.now.text}`;
    budget.input.setAttribute("aria-valuetext", `${name} = ${budget.now.text}`);
    for (const n of nodes) {
      if (!n.output) continue;
      const amount = has ? `${model.pure ? "ε" : "ρ"} = ${nearest(n.has)}` : "–";
      const text = n.share ? `${String(Number((100 * fraction(n, false)).toFixed(2)))} %` : n.lever ? n.lever.now.text : "";
      n.output.textContent = text && n.share ? `${text}, ${amount}` : amount;
      if (n.input) n.input.setAttribute("aria-valuetext", n.output.textContent);
      if (n.input && n.share) n.input.value = 100 * fraction(n, false);
    }
    byId("yaml").textContent = yaml();
    byId("link").href = link();
    if (settled) byId("status").textContent = status(has);
  };
  const apply = () => {
    const params = new URLSearchParams(location.hash.slice(1));
    budget.set(params.get(model.key));
    for (const level of levels) {
      level.moved = false;
      level.from = null;
      const given = new Map();
      for (const n of level.parts) {
        const value = Math.round(100 * Number(params.get("leaf." + n.path)));
        if (n.input && value >= 1 && value < whole) given.set(n, value);
      }
      if (given.size && level.parts.length > 1) setShares(level, given, units(level));
    }
    for (const n of nodes) if (n.lever) n.lever.set(params.get("leaf." + n.path));
    update(true);
  };
  const listen = (input, act) => {
    input.addEventListener("input", () => { act(); update(false); });
    input.addEventListener("change", () => update(true));
  };
  listen(budget.input, () => budget.pick());
  for (const n of nodes) {
    if (!n.input) continue;
    if (n.lever) {
      listen(n.input, () => n.lever.pick());
      continue;
    }
    listen(n.input, () => {
      const { level } = n;
      level.from = level.from || units(level); // what the others have keeps its proportions while one is dragged
      const value = Math.min(Math.max(1, Math.round(100 * n.input.valueAsNumber)), whole + 1 - level.parts.length);
      setShares(level, new Map([[n, value]]), level.from);
    });
    n.input.addEventListener("change", () => { n.level.from = null; });
  }
  byId("reset").addEventListener("click", () => {
    if (location.hash.length > 1) location.hash = "";
    else apply();
  });
  window.addEventListener("hashchange", apply);
  apply();
})();
