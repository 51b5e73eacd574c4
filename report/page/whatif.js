"use strict";
// How accurate the tables would be with another budget: the formula of compiled.Forecast, worked out as numbers of the
// spec change, and the spec with the changed numbers.
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const model = data.forecast;
  const name = model.key === "rho" ? "ρ" : "ε";
  const most = 10; // times the planned amount, or a part of it

  // Numbers as the plan writes them.
  const group = (n) => {
    const digits = String(n);
    return digits.length < 5 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  };
  const nearest = (v) => (v >= 999.95 ? group(Math.round(v)) : String(Number(v.toPrecision(4))));
  const significant = (v) => (v >= 999.95 ? group(Math.round(v)) : v.toPrecision(4));
  // How figures below one another are written, as words.FormOfColumn has it.
  const column = (values) => {
    const [small, large] = [Math.min(...values), Math.max(...values)];
    const places = (v, digits) => digits - 1 - Math.floor(Math.log10(v));
    const allowed = (n) => (n === 3 ? 4 : n);
    const zero = (n) => n > 1 && values.every((v) => v.toFixed(n).endsWith("0"));
    let n = 0;
    if (values.length && !values.every(Number.isInteger)) {
      n = allowed(Math.max(0, places(large, large >= 1 && large < 10 ? 3 : 4), places(small, small >= 1 ? 3 : 2)));
    }
    while (zero(n)) n--;
    n = allowed(n);
    return (v) => {
      const [before, after] = v.toFixed(n).split(".");
      return group(before) + (after ? `.${after}` : "");
    };
  };
  const whole = (v) => Math.ceil(v * (1 - 1e-9));
  const plural = (n, thing) => (n === 1 ? `1 ${thing}` : `${group(n)} ${thing}s`);

  // Exact numbers n/d, as a spec writes them.
  const ratio = (n, d) => {
    let [a, b] = [n, d];
    while (b) [a, b] = [b, a % b];
    return { n: n / a, d: d / a };
  };
  const syntax = /^(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([-+]?\d{1,3}))?(%?)$|^(0|[1-9]\d*)\/([1-9]\d*)$/;
  const read = (text) => {
    const m = text.length <= 200 && syntax.exec(text);
    if (!m) return null;
    if (m[6]) return ratio(BigInt(m[5]), BigInt(m[6]));
    const power = Number(m[3] || 0) - (m[2] || "").length - (m[4] ? 2 : 0);
    const [digits, tens] = [BigInt(m[1] + (m[2] || "")), 10n ** BigInt(Math.abs(power))];
    return power < 0 ? ratio(digits, tens) : ratio(digits * tens, 1n);
  };
  const value = (q) => Number(q.n) / Number(q.d);
  const equal = (p, q) => p.n === q.n && p.d === q.d;
  const plus = (p, q) => ratio(p.n * q.d + q.n * p.d, p.d * q.d);
  const decimal = (q, places) => {
    const tens = 10n ** BigInt(places);
    if ((q.n * tens) % q.d !== 0n) return null;
    const digits = String((q.n * tens) / q.d).padStart(places + 1, "0");
    return `${digits.slice(0, digits.length - places)}.${digits.slice(digits.length - places)}`.replace(/\.?0*$/, "");
  };
  // In the form of a text: percent, fraction or decimal; a fraction if the others are not exact.
  const write = (q, like) => {
    const percent = like.endsWith("%") && decimal({ n: 100n * q.n, d: q.d }, 4);
    if (percent) return percent + "%";
    return (!/[%/]/.test(like) && decimal(q, 6)) || `${q.n}/${q.d}`;
  };

  // A number of the spec, with its field, its slider and what is said of it.
  const levers = new Map();
  class Lever {
    constructor(of) {
      this.of = of;
      this.field = byId("number." + of);
      this.slider = byId("slider." + of);
      this.said = byId("said." + of);
      const { text } = data.numbers.find((n) => n.of === of);
      this.planned = { text, q: read(text) };
      this.now = this.planned;
      this.field.disabled = false;
      this.slider.disabled = this.fixed;
      levers.set(of, this);
    }
    get value() { return value(this.now.q); }
    get changed() { return !equal(this.now.q, this.planned.q); }
    get text() { return this.changed ? this.now.text : this.planned.text; }
    show(said) {
      this.field.value = this.text;
      this.field.removeAttribute("aria-invalid");
      this.said.textContent = said;
      this.slider.setAttribute("aria-valuetext", said || this.text);
      this.place();
    }
    // Takes a text as it is typed, or says what is wrong with it.
    take(text) {
      const q = read(text);
      const problem = q ? this.problem(value(q)) : "Write a number such as 1.5, 3/2 or 1e-9.";
      if (!problem) this.set({ q, text });
      return problem;
    }
  }

  // An amount: its slider stops at numbers of two digits and at the planned one.
  class Amount extends Lever {
    constructor(of, least, largest) {
      super(of);
      const planned = value(this.planned.q);
      this.least = least;
      this.largest = largest;
      const [times, unit] = this.planned.text.endsWith("%") ? [100, "%"] : [1, ""];
      this.stops = [{ ...this.planned, value: planned }];
      const low = Math.floor(Math.log10(least * times)) - 1;
      for (let power = low; power <= Math.log10(largest * times); power++) {
        for (let digits = 10; digits < 100; digits++) {
          const text = String(Number(`${digits}e${power}`)) + unit;
          const q = read(text);
          const v = value(q);
          if (v >= least && v <= largest && Math.abs(v / planned - 1) > 1e-9) this.stops.push({ text, q, value: v });
        }
      }
      this.stops.sort((a, b) => a.value - b.value);
      this.slider.max = this.stops.length - 1;
    }
    get fixed() { return false; }
    problem(v) {
      if (v >= this.least * (1 - 1e-9) && v <= this.largest * (1 + 1e-9)) return "";
      const [first, last] = [this.stops[0], this.stops[this.stops.length - 1]];
      return `From ${first.text} to ${last.text} on this page: plan again for other amounts.`;
    }
    set(now) { this.now = now; }
    slide() { this.set(this.stops[this.slider.valueAsNumber]); }
    release() {}
    reset() { this.now = this.planned; }
    place() {
      let near = 0;
      this.stops.forEach((s, i) => {
        if (Math.abs(s.value - this.value) < Math.abs(this.stops[near].value - this.value)) near = i;
      });
      this.slider.value = near;
    }
  }

  // A share. Shares that are set stay; the others divide what these leave in the proportions of the spec.
  class Share extends Lever {
    constructor(of, level) {
      super(of);
      this.level = level;
      this.slider.disabled = level.alone;
      this.field.disabled = level.alone;
      this.own = null;
    }
    problem(v) { return v > 0 && v < 1 ? "" : "A share is above 0 and below 1, as 30%, 0.3 or 3/10."; }
    set(own) {
      const { level } = this;
      const isSet = (s) => s.own;
      level.order = [...level.order.filter((s) => s !== this), this];
      this.own = own;
      for (;;) { // the share that was set first gives way
        const sum = level.shares.filter(isSet).reduce((all, s) => plus(all, s.own.q), { n: 0n, d: 1n });
        if (level.shares.every(isSet) ? sum.n === sum.d : sum.n < sum.d) break;
        level.order.shift().own = null;
      }
      level.divide();
    }
    slide() {
      const { level } = this;
      // While one share is dragged, those that were set before come back as soon as there is room for them.
      level.before = level.before || { order: level.order, own: level.shares.map((s) => s.own) };
      level.order = level.before.order;
      level.shares.forEach((s, i) => { s.own = level.before.own[i]; });
      const q = ratio(BigInt(Math.round(10 * this.slider.valueAsNumber)), 1000n);
      this.set({ q, text: write(q, this.planned.text) });
    }
    release() { this.level.before = null; }
    reset() {
      this.own = null;
      this.level.order = [];
      this.level.divide();
    }
    place() { this.slider.value = 100 * this.value; }
  }

  class Level {
    constructor(parts) {
      this.alone = parts.filter((n) => n.kind === "share" && n.stated).length === 1;
      this.order = []; // of the shares that are set
      this.before = null;
      this.shares = [];
      for (const n of parts) {
        if (n.kind === "share" && n.stated) this.shares.push(n.lever = new Share("leaf." + n.path, this));
        if (n.kind === "amount") n.lever = new Amount("leaf." + n.path, n.value / most, n.value * most);
      }
    }
    divide() {
      let [left, own] = [{ n: 1n, d: 1n }, { n: 0n, d: 1n }];
      for (const s of this.shares) {
        if (s.own) left = plus(left, { n: -s.own.q.n, d: s.own.q.d });
        else own = plus(own, s.planned.q);
      }
      for (const s of this.shares) {
        const { n, d } = s.planned.q;
        const q = s.own ? s.own.q : ratio(left.n * n * own.d, left.d * d * own.n);
        s.now = s.own || { q, text: write(q, s.planned.text) };
      }
    }
  }

  const nodes = [];
  const prepare = (parts) => {
    new Level(parts);
    for (const n of parts) {
      nodes.push(n);
      if (n.parts) prepare(n.parts);
    }
  };
  const planned = model.totals;
  const asked = data.asked;
  const budget = new Amount(model.key, Math.max(asked / most, planned[0].asked),
    Math.min(asked * most, planned[planned.length - 1].asked));
  const curves = [...(model.deltas || []), { delta: data.delta, totals: planned }].sort((a, b) => a.delta - b.delta);
  const delta = curves.length > 1 ? new Amount("delta", curves[0].delta, curves[curves.length - 1].delta) : null;
  prepare(data.split);
  for (const t of data.targets) {
    t.lever = new Amount("target." + t.marginal, t.value / most, t.value * most);
  }

  // What each leaf has of a total, in out. Returns why that cannot be, "" if it can.
  const part = (n, asPlanned) => (n.lever && !asPlanned ? n.lever.value : n.value);
  const divide = (parts, total, asPlanned, out) => {
    let left = total;
    let [shares, needed] = [false, false];
    for (const n of parts) {
      if (n.kind === "share") shares = true; else left -= part(n, asPlanned);
      needed = needed || n.kind === "needed";
    }
    const none = 1e-12 * total;
    if (left < -none || (shares && left <= none)) return "fixed amounts and targets take more than there is";
    if (!shares && !needed && left > none) return "the amounts of the split add up to less than the budget";
    for (const n of parts) {
      n.has = n.kind === "share" ? left * part(n, asPlanned) : part(n, asPlanned);
      if (!n.parts) out[n.leaf] = n.has;
      const why = n.parts && divide(n.parts, n.has, asPlanned, out);
      if (why) return why;
    }
    return "";
  };

  // What is divided of an amount and a δ, on straight lines between logarithms: of amounts, and of the logarithm of δ.
  const between = (a, b, share) => {
    const of = (key) => (a[key] ? a[key] ** (1 - share) * b[key] ** share : 0);
    return { total: of("total"), least: of("least"), epsilon: of("epsilon") };
  };
  const segment = (all, at, key, scale) => {
    let i = 0;
    while (i < all.length - 2 && at > all[i + 1][key]) i++;
    const [a, b] = [all[i], all[i + 1]];
    return [a, b, (scale(at) - scale(a[key])) / (scale(b[key]) - scale(a[key]))];
  };
  const totalOn = (curve) =>
    curve.totals.length < 2 ? curve.totals[0] : between(...segment(curve.totals, budget.value, "asked", Math.log));
  const totalNow = () => {
    if (!delta || !delta.changed) return totalOn(curves.find((c) => c.totals === planned));
    const [a, b, share] = segment(curves, delta.value, "delta", (d) => Math.log(-Math.log(d)));
    return between(totalOn(a), totalOn(b), share);
  };

  // What leaves have, or why nothing can be planned. Under ε and δ, Laplace noise of other shares adds up otherwise: it
  // is taken to allow the less.
  const amounts = () => {
    const at = totalNow();
    let total = at.total;
    if (at.least) {
      const [before, now] = [[], []];
      const why = divide(data.split, total, true, before) || divide(data.split, total, false, now);
      if (why) return { why };
      const roots = (all) => all.reduce((sum, a, i) => sum + model.roots[i] * Math.sqrt(a), 0);
      const [r, s] = [roots(before), roots(now)];
      if (s > r) total *= (r / s) ** 2;
      if (model.laplace) total = Math.max(total, (at.total * at.epsilon ** 2) / s ** 2);
      total = Math.max(total, at.least);
    }
    const leaves = [];
    const why = divide(data.split, total, false, leaves);
    return why ? { why } : { leaves };
  };

  // The integers of a table that is one measurement, by its law. Amounts that targets need are just enough for a margin.
  const tie = 1e-6;
  const laws = {
    "discrete-laplace": (v) => {
      const scale = Math.sqrt(v / 2);
      const q = Math.exp(-1 / scale);
      return {
        deviation: Math.sqrt(2 * q) / -Math.expm1(-1 / scale),
        margin: (tail) => Math.max(0, Math.ceil(scale * Math.log(2 / (tail * (1 + q))) - 1 - tie)),
      };
    },
    "discrete-gaussian": (v) => {
      const weight = (k) => Math.exp((-k * k) / (2 * v));
      let [all, square] = [1, 0];
      for (let k = 1; v < 2.5 && weight(k) > 1e-18; k++) {
        all += 2 * weight(k);
        square += 2 * k * k * weight(k);
      }
      if (v >= 2.5) [all, square] = [Math.sqrt(2 * Math.PI * v), v * Math.sqrt(2 * Math.PI * v)];
      return {
        deviation: Math.sqrt(square / all),
        margin: (tail, multiple) => {
          // The sum over integers is the integral, but for x/24v of its ends (Euler and Maclaurin).
          if (v > 1e4) return Math.ceil(multiple * Math.sqrt(v) * (1 - 1 / (24 * v)) - 0.5 - tie);
          let m = 0;
          for (let sum = 1; sum < (1 - tail) * all && weight(m) > 1e-18; sum += 2 * weight(m)) m++;
          return m;
        },
      };
    },
  };

  const judge = (t, x, precision) => {
    let v = 0;
    for (const [leaf, factor] of t.own || []) v += factor / x[leaf];
    for (const [residual, factor] of t.shared || []) v += factor / precision[residual];
    let se;
    let margin;
    let median;
    let aimed;
    if (t.alone) {
      const law = laws[t.alone](v);
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

  // The table, in the order that was asked for last. As planned it says what the plan says.
  const table = byId("tables");
  const bodies = [...table.tBodies];
  const order = ["good", "usable", "weak", "mostly noise", ""];
  const cells = ["se", "margin", "tenth", "band", "target"];
  const exact = bodies.map((body) => [...body.rows].map((row) => cells.map((c) => row.querySelector("." + c)?.textContent)));
  let results = [];
  const say = (row, kind, text) => {
    const cell = row.querySelector("." + kind);
    if (cell && cell.textContent !== text) cell.textContent = text;
  };
  const show = (leaves, asPlanned) => {
    const x = leaves && leaves.map((a) => (model.pure ? a * a : a));
    const precision = x && (model.shared || []).map((s) => s.reduce((sum, [leaf, f]) => sum + f * x[leaf], 0));
    const judged = model.tables.map((t) => (x ? judge(t, x, precision) : null));
    const error = column(judged.filter((r) => r && r.se < Infinity).map((r) => r.se));
    results = bodies.map((body, i) => {
      const t = model.tables[i];
      const r = judged[i];
      const [row, ...more] = body.rows;
      row.classList.toggle("missed", Boolean(r) && r.met === false);
      if (asPlanned) {
        [...body.rows].forEach((line, k) => cells.forEach((c, j) => say(line, c, exact[i][k][j])));
        return r;
      }
      say(row, "se", r ? error(r.se) : "–");
      say(row, "margin", r ? "±" + group(whole(r.margin)) : "–");
      say(row, "tenth", r ? group(10 * whole(r.margin)) : "–");
      say(row, "band", r ? r.label : "–");
      if (t.target) say(row, "target", r ? (r.met ? "met: ±" : "missed: ±") + nearest(r.aimed) + " of ±" + nearest(t.target) : "–");
      more.forEach((line, k) => {
        const f = r && r.figures[k];
        say(line, "se", f && f.se ? nearest(f.se) : "–");
        say(line, "margin", f ? "±" + nearest(f.margin) : "–");
      });
      return r;
    });
  };
  const sortBy = (key, down) => {
    const rank = (i) => {
      const r = results[i];
      if (key === "name" || !r) return i;
      if (key === "band") return order.indexOf(r.band);
      if (key === "target") return r.met === null ? Infinity : r.aimed / model.tables[i].target;
      return r[key === "tenth" ? "margin" : key];
    };
    const places = bodies.map((_, i) => i).sort((a, b) => {
      const [p, q] = [rank(a), rank(b)];
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

  // The changed spec, the list of its changes, and the setting as a link.
  const changed = () => data.numbers.filter((n) => levers.get(n.of)?.changed);
  const spec = () => data.source.map((text, i) => {
    const n = data.numbers[i];
    return text + (n ? levers.get(n.of)?.text ?? n.text : "");
  }).join("");
  const percent = (text) => (text.endsWith("%") ? text.slice(0, -1) : text);
  const link = () => {
    const params = new URLSearchParams();
    for (const lever of levers.values()) {
      if (!(lever instanceof Share) && lever.changed) params.set(lever.of, lever.text);
    }
    for (const n of nodes) {
      for (const s of n.lever instanceof Share && n.lever === n.lever.level.shares[0] ? n.lever.level.order : []) {
        params.set(s.of, percent(write(s.own.q, "%")));
      }
    }
    return "#" + params;
  };
  const list = (changes) => {
    const items = changes.map((n) => {
      const item = document.createElement("li");
      const path = document.createElement("code");
      path.textContent = n.path;
      item.append(path, `: was ${n.text}, now ${levers.get(n.of).text}`);
      return item;
    });
    if (!items.length) {
      items.push(document.createElement("li"));
      items[0].textContent = "Nothing yet.";
    }
    byId("changes").replaceChildren(...items);
  };

  // What the page cannot work out: a target that decides what its leaf gets.
  const unknown = () => data.targets.find((t) => t.needed && t.lever.changed);
  const status = (changes, why) => {
    const parts = [`${name} = ${budget.text}${data.delta ? `, δ = ${delta ? delta.text : data.delta}` : ""}`];
    parts.push(changes.length ? `${plural(changes.length, "number")} of the spec changed` : "As planned");
    const open = unknown();
    if (open) {
      parts.push(`The target of ${open.marginal} decides what its part of the budget gets, and only the planner can work that out: save the changed spec and run ${data.command}`);
    } else if (why) {
      parts.push(`Nothing can be planned with this: ${why}`);
    } else {
      const ratios = results.map((r, i) => r.margin / first[i].margin).filter((r) => r < Infinity);
      if (changes.length && ratios.length) {
        const ends = [Math.min(...ratios), Math.max(...ratios)].map((r) => String(Number(r.toPrecision(2))));
        parts.push(`Margins are ${ends[0] === ends[1] ? ends[0] : ends.join(" to ")} times those planned`);
      }
      const aims = results.filter((r) => r.met !== null);
      const met = aims.filter((r) => r.met).length;
      if (aims.length) parts.push(`${met} of ${plural(aims.length, "target")} met` + (met < aims.length ? ": dprelease plan refuses this budget" : ""));
      const bands = order.filter((band) => band && results.some((r) => r.band === band));
      if (bands.length) {
        parts.push(bands.map((band) => `${plural(results.filter((r) => r.band === band).length, "table")} ${band}`).join(", "));
      }
    }
    return parts.join(". ") + ".";
  };

  show(amounts().leaves, true);
  const first = results; // with the planned budget
  const update = (settled) => {
    for (const t of data.targets) {
      for (const i of t.tables) model.tables[i].target = t.lever.value * (t.at || 1);
    }
    const changes = changed();
    const { leaves, why } = amounts();
    show(unknown() ? null : leaves, !changes.length);
    for (const lever of levers.values()) lever.show("");
    for (const n of nodes) {
      const said = byId("said.leaf." + n.path);
      const amount = leaves && !unknown() ? `${model.pure ? "ε" : "ρ"} = ${significant(n.has)}` : "";
      const shown = n.kind === "share" && n.lever && `${String(Number((100 * n.lever.value).toFixed(2)))}%`;
      const text = [shown, n.kind === "amount" ? "" : amount].filter(Boolean).join(", ");
      if (n.lever) n.lever.show(text); else if (said) said.textContent = amount && ", " + amount;
    }
    byId("spec").value = spec();
    list(changes);
    byId("link").href = link();
    if (settled) byId("status").textContent = status(changes, why);
  };

  const apply = () => {
    for (const lever of levers.values()) lever.reset();
    for (const [of, text] of new URLSearchParams(location.hash.slice(1))) {
      const lever = levers.get(of);
      if (lever && !lever.field.disabled) lever.take(lever instanceof Share && !text.includes("/") ? text + "%" : text);
    }
    update(true);
  };
  for (const lever of levers.values()) {
    lever.slider.addEventListener("input", () => { lever.slide(); update(false); });
    lever.slider.addEventListener("change", () => { lever.release(); update(true); });
    lever.field.addEventListener("change", () => {
      const problem = lever.take(lever.field.value.trim());
      if (!problem) {
        update(true);
        return;
      }
      lever.field.setAttribute("aria-invalid", "true");
      lever.said.textContent = problem;
      byId("status").textContent = problem;
    });
  }
  byId("reset").addEventListener("click", () => {
    if (location.hash.length > 1) location.hash = "";
    else apply();
  });
  byId("copy").addEventListener("click", async () => {
    const text = byId("spec");
    let copied = true;
    try {
      await navigator.clipboard.writeText(spec());
    } catch {
      text.focus();
      text.select();
      copied = document.execCommand("copy");
    }
    byId("copied").textContent = copied ? "Copied." : "The spec is selected: copy it with the keyboard.";
  });
  for (const scripted of document.querySelectorAll("[hidden]")) scripted.hidden = false;
  window.addEventListener("hashchange", () => {
    // Other addresses within the page, such as that of the tables, leave the setting alone.
    if (location.hash.length < 2 || location.hash.includes("=")) apply();
  });
  apply();
})();
