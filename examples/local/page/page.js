"use strict"

// The page asks the questions of a collector, has the client randomise the answers, shows what will be sent, and sends
// it.

const $ = id => document.getElementById(id)
const page = document.querySelector("main")

// keptAs is the key of the memo in the browser's storage: a collection has its own.
const keptAs = c => `dprelease ${c.release}/${c.collection}`

// element returns a new element with texts and elements in it.
function element(name, properties, ...inside) {
  const e = Object.assign(document.createElement(name), properties)
  e.append(...inside)
  return e
}

// must returns the answer of a function of the client, or throws its error.
function must(answer) {
  if (answer.error) throw new Error(answer.error)
  return answer
}

// columnsOf returns the columns of all questions, each once: of a text, as it is where most characters are asked.
function columnsOf(c) {
  const all = new Map()
  for (const q of c.questions) for (const column of q.columns) {
    const known = all.get(column.name)
    if (!known || column.length > known.length) all.set(column.name, column)
  }
  return [...all.values()]
}

const labelOf = (column, i) => column.labels ? column.labels[i] : column.categories[i]

// numberOf returns the number of a fraction's text.
const numberOf = text => text.split("/").map(Number).reduce((a, b) => a / b)

// ends returns the first and the last number of a column that asks for one.
const ends = column => [numberOf(column.categories[0]), numberOf(column.categories[column.categories.length - 1])]

// sizeOf returns how many categories of a report a column has.
const sizeOf = column => column.points || Math.ceil(column.categories.length / (column.width || 1))

// wordsOf returns the words of one of them: the label of a category, those of the first and the last of a band, or the
// number that a point stands for.
function wordsOf(column, i) {
  if (column.width) {
    const last = Math.min((i + 1) * column.width, column.categories.length) - 1
    return i * column.width === last ? labelOf(column, last) : `${labelOf(column, i * column.width)} to ${labelOf(column, last)}`
  }
  if (!column.points) return labelOf(column, i)
  const [first, last] = ends(column)
  return String(Number((first + (last - first) * i / (column.points - 1)).toPrecision(6)))
}

// inputFor returns a list of a column's categories, or a field for a number or a text, and what to say of it. No text
// is sent to a spelling service.
function inputFor(column, id) {
  const named = { id, name: column.name, required: true }
  if (column.length) {
    return [element("input", { type: "text", ...named, autocomplete: "off", autocapitalize: "none", spellcheck: false }),
      ` (at most ${column.length} characters count)`]
  }
  if (column.points) {
    const [first, last] = ends(column)
    return [element("input", { type: "number", ...named, min: first, max: last, step: "any" }),
      ` (a number from ${first} to ${last})`]
  }
  return [element("select", named, element("option", { value: "" }, "Please choose"),
    ...column.categories.map((_, j) => element("option", { value: String(j + 1) }, labelOf(column, j)))), ""]
}

// field returns a labelled input for the answer to a column.
function field(column, i) {
  const id = `column-${i}`, [input, hint] = inputFor(column, id)
  return element("div", { className: "field" },
    element("label", { htmlFor: id }, (column.title || column.name) + hint), input)
}

// answer returns the text of the answer that was chosen, of the one that is nearest to the number given, or the text
// that was written: in lower case, as the alphabet of a collection has no capitals by custom.
function answer(column, i) {
  if (column.length) return $(`column-${i}`).value.trim().normalize("NFC").toLowerCase()
  const value = Number($(`column-${i}`).value)
  if (!column.points) return column.categories[value - 1]
  const [first] = ends(column), step = numberOf(column.categories[1]) - first
  const place = Math.floor((value - first) / step + 0.5)
  return column.categories[Math.min(Math.max(place, 0), column.categories.length - 1)]
}

// percent rounds to whole numbers, but not to 0 or 100. A space that does not break is before the sign.
function percent(x) {
  const p = 100 * x
  if (p > 99.99) return "over 99.99\u00a0%"
  return `${p < 1 ? p.toPrecision(1) : p > 99 ? p.toFixed(2) : Math.round(p)}\u00a0%`
}

// holds reports whether a report's bytes hold a category.
function holds(q, bytes, v) {
  if (q.form === "set") return (bytes[v >> 3] >> (v & 7) & 1) === 1
  const number = at => bytes.slice(at, at + 4).reduce((n, b) => n * 256 + b, 0)
  return Number((BigInt(number(0)) * BigInt(v) + BigInt(number(4))) % BigInt(q.categories)) < q.support
}

// answerOf returns the words of a category of a question.
function answerOf(q, v) {
  const words = []
  for (const column of [...q.columns].reverse()) {
    words.unshift(wordsOf(column, v % sizeOf(column)))
    v = Math.floor(v / sizeOf(column))
  }
  return words.join(" and ")
}

const mostListed = 12

// answersIn says which answers a report names.
function answersIn(q, bytes) {
  const size = q.columns.reduce((n, column) => n * sizeOf(column), 1)
  const held = []
  for (let v = 0; v < size; v++) if (holds(q, bytes, v)) held.push(v)
  if (held.length === 0) return "It names none of the possible answers. "
  if (held.length > mostListed) return `It names ${held.length} of ${size} possible answers. `
  return `It names “${held.map(v => answerOf(q, v)).join("”, “")}”. `
}

// hashesIn says what a report of a text names.
const hashesIn = q => `Of your text at most the first ${q.columns[0].length} characters were reported, as one of `
  + `${q.categories.toLocaleString("en")} hashes. The report names ${percent(q.support / q.categories)} of these. `

// card shows a report.
function card(c, line) {
  const report = JSON.parse(line)
  const q = c.questions.find(q => q.name === report.question)
  const bytes = report.report.match(/../g).map(b => parseInt(b, 16))
  const asked = q.columns[q.columns.length - 1]
  const rounded = asked.points
    ? `Your number was first rounded at random to one of ${asked.points}: ${[...Array(asked.points).keys()]
      .slice(0, mostListed).map(i => wordsOf(asked, i)).join(", ")}${asked.points > mostListed ? ", …" : ""}. ` : ""
  const banded = q.columns.find(column => column.width)
  const reported = banded
    ? `Your answer to “${banded.title || banded.name}” was reported as the band of ${banded.width} answers that holds it. ` : ""
  const p = q.keep / 2 ** 48, other = (q.support - p) / (q.categories - 1)
  return element("div", { className: "card" },
    element("h3", {}, q.title || q.columns.map(column => column.title || column.name).join(" and ")),
    element("p", {}, "Report: ", element("code", {}, report.report)),
    element("p", {}, rounded, reported, asked.length ? hashesIn(q) : answersIn(q, bytes),
      `A report names the true answer with a probability of ${percent(p)}, and any other one with ${percent(other)}.`),
    element("details", {}, element("summary", {}, "All that is sent"), element("code", {}, line)))
}

// loss says what the device has lost, in words.
function loss(spent) {
  const odds = Math.exp(numberOf(spent))
  const times = odds < 100 ? odds.toPrecision(2) : odds < 1e6 ? Math.round(odds) : odds.toExponential(1)
  return [
    element("p", {}, "Whatever people know already, seeing everything that this device has sent can change the odds "
      + `they give to your answers by a factor of ${times} at most. Someone who thought an answer of yours as likely `
      + `as not will then think it between ${percent(1 / (1 + odds))} and ${percent(odds / (1 + odds))} likely.`),
    element("p", { className: "quiet" }, `In all, this device has lost ε = ${spent} in this collection. If you give `
      + "the same answers again, it sends the same report again and you lose nothing more. A changed answer costs "
      + "more.")]
}

// show shows a problem or hides the last one.
function show(problem) {
  $("problem").hidden = !problem
  $("problem").textContent = problem ? problem.message || String(problem) : ""
}

// randomise has the client randomise the answers, and keeps the memo before anything is shown.
function randomise(c, text) {
  const answers = {}
  columnsOf(c).forEach((column, i) => { answers[column.name] = answer(column, i) })
  const done = must(dprelease.respond(text, answers, localStorage.getItem(keptAs(c)) || "", ""))
  localStorage.setItem(keptAs(c), done.memo)
  $("reports").replaceChildren(...done.reports.map(line => card(c, line)))
  $("loss").replaceChildren(...loss(done.spent))
  $("send").disabled = false
  $("status").textContent = ""
  $("result").hidden = false
  $("result").focus()
  return done.reports.map(line => line + "\n").join("")
}

// send posts the lines to the page's address, or downloads them.
async function send(lines) {
  $("send").disabled = true
  if (page.dataset.post) {
    const response = await fetch(page.dataset.post,
      { method: "POST", body: lines, headers: { "Content-Type": "application/x-ndjson" }, credentials: "omit" })
    if (!response.ok) throw new Error(`The report was not accepted (${response.status}). You can send it again.`)
    $("status").textContent = "Sent. Thank you. You can close this page."
    return
  }
  const link = element("a", { href: URL.createObjectURL(new Blob([lines])), download: "reports.jsonl" })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60000)
  $("status").textContent = "The report is downloaded as reports.jsonl."
}

// load starts the client and reads the collector's file.
async function load() {
  const get = async name => {
    const response = await fetch(name)
    if (!response.ok) throw new Error(`${name} cannot be loaded (${response.status}).`)
    return response
  }
  const go = new Go()
  const client = await WebAssembly.instantiate(await (await get("client.wasm")).arrayBuffer(), go.importObject)
  go.run(client.instance)
  return (await get(page.dataset.collector)).text()
}

async function start() {
  const text = await load()
  must(dprelease.check(text, ""))
  const c = JSON.parse(text)
  const { spent } = must(dprelease.check(text, localStorage.getItem(keptAs(c)) || ""))
  if (c.title) document.title = $("title").textContent = c.title
  $("asks").textContent = c.asks === "one" && c.questions.length > 1
    ? `Your device draws one of ${c.questions.length} questions and sends a report on that one only. `
      + "It needs all answers, so that nobody learns from a gap which one it drew."
    : ""
  if (spent !== "0") $("status").textContent = "You have answered before: the same answers cost nothing more."
  $("columns").replaceChildren(...columnsOf(c).map(field))
  $("form").hidden = false
  let lines = ""
  const guarded = work => async event => {
    event.preventDefault()
    try {
      show()
      await work()
    } catch (problem) {
      show(problem)
      $("send").disabled = false
    }
  }
  $("form").addEventListener("submit", guarded(() => { lines = randomise(c, text) }))
  $("form").addEventListener("change", () => { $("result").hidden = true })
  $("send").addEventListener("click", guarded(() => send(lines)))
}

start().catch(show)
