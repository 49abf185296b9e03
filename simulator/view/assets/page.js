"use strict";
document.documentElement.classList.add("js");

// Data. A history is a list of [step, value]; an entry holds until the next one.
const doc = JSON.parse(document.getElementById("data").textContent);
const last = doc.steps.length;
const own = doc.views[0];
const right = doc.views.find((view) => view.right);
const LINE = 22; // height of a step
const FOLD = 8; // a run of one actor at least this long folds in the lanes
const LINES = 11; // steps in sight: a longer trace folds runs of one actor, the longest first, but for their last step
const FIT = { slices: 2, chips: 6 }; // beyond these, slices and logs are counted, but for those of the path
const byId = (id) => document.getElementById(id);
const nameOf = ([kind, group, time, version]) => `${kind} ${group}/${time}${version ? `.${version}` : ""}`; // a file: its place on the page
const lane = Object.fromEntries(doc.actors.map((name, place) => [name, place]));

function at(history, step) {
  let low = 0, high = history.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (history[middle][0] <= step) low = middle + 1; else high = middle;
  }
  return low ? history[low - 1][1] : null;
}
const actorOf = (time) => {
  const history = own.instants[time] || (right && right.instants[time]);
  return history ? history[0][1][3] : null;
};
const paint = (node, actor) => {
  if (!(actor in lane)) return node;
  node.style.setProperty("--hue", `var(--hue-${lane[actor]})`);
  node.style.setProperty("--on", `var(--on-${lane[actor]})`);
  node.style.setProperty("--ink-hue", `var(--ink-${lane[actor]})`);
  return node;
};

// Elements. Text only ever arrives as text, never as markup.
function make(space, tag, given, children) {
  const node = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(given || {})) if (value !== null && value !== undefined) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
const el = (tag, given, ...children) => make(null, tag, given, children);
const sv = (tag, given, ...children) => make("http://www.w3.org/2000/svg", tag, given, children);
const parts = (sentence) => sentence.map((part) => typeof part === "string" ? document.createTextNode(part)
  : paint(el("span", { class: "named", "data-i": part[1] }, part[0]), actorOf(part[1])));

// State: what is shown, and the address that says it.
const shown = { step: doc.breaking, view: own };
const reach = (view) => (view.stopped ? view.stopped[0] - 1 : last);

function fromAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const step = Number.parseInt(given.get("step"), 10);
  shown.step = Number.isNaN(step) ? doc.breaking : Math.min(Math.max(step, 0), last);
  const rule = given.get("rule");
  shown.view = doc.views.find((view) => view.rule === rule) || (rule === "default" && right) || own;
}
function show(step, view = shown.view) {
  shown.step = Math.min(Math.max(step, 0), last);
  shown.view = view;
  history.replaceState(null, "", `#step=${shown.step}&rule=${encodeURIComponent(view.rule)}`);
  draw();
}
function draw() {
  const step = Math.min(shown.step, reach(shown.view));
  const answer = at(shown.view.answers, step) || [null, null, null];
  const explanation = answer[2] === null ? null : shown.view.explanations[answer[2]];
  drawClaim();
  drawSwitch();
  drawTables(answer, explanation, step);
  drawLanes(step);
  drawFiles(step, explanation);
  drawExplanation(explanation);
  drawSteps();
  drawPath(explanation);
}

function drawClaim() {
  const verdict = shown.view === own ? doc.verdict : shown.view.verdict, [outline, sign] = doc.shapes[verdict] || doc.shapes.UNDETERMINED;
  byId("verdict").replaceChildren(sv("svg", { viewBox: "0 0 20 20" }, sv("path", { d: outline }), sv("path", { class: "sign", d: sign })), verdict);
  byId("sentence").replaceChildren(...parts(shown.view === own ? doc.sentence : shown.view.sentence));
  byId("rule").textContent = shown.view.label || "default protocol";
}

// The answers: what must be read, what was read, what other systems read.
const rowsBy = (rows) => new Map((rows || []).map((row) => [row[0], row]));
const valueOf = (row) => (row ? row[1] : null);

function drawTables([must, got], explanation, step) {
  const answers = [["must answer", must], ["reader got", got], ...doc.systems.map((each) => [each.name, at(each.answers, step)])];
  const promised = rowsBy(must);
  const every = [...new Set(answers.flatMap(([, rows]) => (rows || []).map((row) => row[0])))].sort();
  const wrong = (key) => must && answers.some(([, rows]) => rows && valueOf(rowsBy(rows).get(key)) !== valueOf(promised.get(key)));
  const keys = [...every.filter(wrong), ...every.filter((key) => !wrong(key))].slice(0, 6);
  document.body.classList.toggle("many", doc.systems.length > 0);
  byId("tables").className = `tables${doc.systems.length ? " many" : doc.ranked ? " ranked" : ""}`;
  const heads = ["key", "value", ...(doc.systems.length ? [] : doc.ranked ? ["ordering", "written by"] : ["written by"])];
  byId("tables").replaceChildren(...answers.map(([name, rows], place) => {
    const body = keys.map((key) => tableRow(key, rowsBy(rows).get(key), rows && place && must && valueOf(rowsBy(rows).get(key)) !== valueOf(promised.get(key)) || !place && wrong(key), doc.systems.length));
    if (!rows) body.splice(0, body.length, el("tr", {}, el("td", { class: "none", colspan: heads.length }, place > 1 ? "not observed" : "no answer yet")));
    else if (!keys.length) body.push(el("tr", {}, el("td", { class: "none", colspan: heads.length }, "no rows")));
    return el("table", { "data-table": name }, el("caption", {}, name, el("small", {}, place > 1 ? "" : place ? doc.reading : `${doc.reading}, as promised`)), el("thead", {}, el("tr", {}, ...heads.map((text) => el("th", {}, text)))), el("tbody", {}, ...body));
  }));
}
function tableRow(key, row, wrong, plain) {
  const cell = (text, name) => el("td", { class: name }, text);
  const value = row && row[1] !== null ? cell(row[1], "mono") : cell("no row", "none");
  const actor = row && row[3] ? actorOf(row[3]) : null;
  const by = actor ? el("td", {}, paint(el("span", { class: "named" }, actor), actor), row[1] === null ? "'s delete" : "") : cell("", "");
  const order = doc.ranked ? [cell(row && row[2] !== null ? String(row[2]) : "", "mono")] : [];
  return el("tr", { class: wrong ? "wrong" : null, "data-key": key, "data-i": row ? row[3] : null }, cell(key, "mono"), value, ...(plain ? [] : [...order, by]));
}
function drawSwitch() {
  byId("switch").hidden = byId("switch-label").hidden = doc.views.length < 2;
  byId("switch").replaceChildren(...(doc.views.length > 1 ? doc.views : []).map((view) => {
    const button = el("button", { "aria-pressed": view === shown.view, "data-rule": view.rule }, view.label);
    button.onclick = () => show(shown.step, view);
    return button;
  }));
}

// Time: lanes, instants as bars, barriers as lines.
const columns = layColumns();
function layColumns() {
  const folded = doc.steps.map(() => false);
  for (const [from, to] of runs()) for (let step = from + 2; to - from >= FOLD && step < to; step++) folded[step - 1] = true;
  return folded;
}
function runs() { // [first, after last] of each run of one actor, steps from 1
  const found = [];
  doc.steps.forEach(([actor], place) => {
    if (place && doc.steps[place - 1][0] === actor) found[found.length - 1][1] = place + 2;
    else found.push([place + 1, place + 2]);
  });
  return found;
}
let labels = []; // times already written in the lanes: one that would cover another is left out
function timeLabel(x, y, time) {
  if (labels.some(([at, of]) => of === y && Math.abs(at - x) < 7 * String(time).length + 10)) return null;
  labels.push([x, y]);
  return sv("text", { class: "time", x, y }, `t${time}`);
}
function drawLanes(step) {
  labels = [];
  const svg = byId("lanes"), width = svg.clientWidth, height = svg.clientHeight;
  const left = 46, top = 50, gap = Math.min(72, (height - top) / doc.actors.length);
  const room = width - left - 18, wide = columns.filter((folded) => !folded).length;
  const pitch = Math.min(44, Math.max(20, 6.5 * String(last).length + 5, (room - 5 * (last - wide)) / (wide + 0.6)));
  const xs = [pitch / 2];
  columns.forEach((folded, place) => xs.push(xs[place] + (folded ? 5 : pitch)));
  const offset = Math.max(0, Math.min(xs[shown.step] - room * 0.72, xs[last] + pitch / 2 - room));
  const x = (of) => left + xs[of] - pitch / 2 - offset;
  const y = (actor) => top + gap * (lane[actor] + 0.5);
  const inside = (of) => x(of) > left - pitch && x(of) < width + pitch;
  const out = [sv("rect", { class: "cursor", x: x(shown.step) - Math.min(12, pitch / 2), width: Math.min(24, pitch), y: 0, height: top + gap * doc.actors.length, rx: 4 })];
  for (const actor of doc.actors) out.push(sv("line", { class: "rail", x1: left, x2: width, y1: y(actor), y2: y(actor) }));
  for (let of = 1; of <= last; of++) {
    if (!inside(of) || columns[of - 1]) continue;
    out.push(sv("text", { class: of === shown.step ? "number now" : "number", x: x(of), y: 13, "data-step": of }, String(of)));
    out.push(sv("circle", { class: "tick", cx: x(of), cy: y(doc.actors[doc.steps[of - 1][0]]), r: 2 }));
  }
  doc.actors.forEach((actor, place) => doc.kinds[place] === "reader" && out.push(readerLine(actor, place, step, x, y)));
  const drawn = Object.entries(shown.view.instants).filter(([, history]) => history[0][0] <= step && (inside(history[0][0]) || at(history, step)[2] === null || inside(history[history.length - 1][0])));
  for (const [time, history] of drawn) if (serviceOf(history)[1] && x(history[0][0]) > left) out.push(barrierLine(time, x(history[0][0]), height));
  for (const [time, history] of drawn) out.push(instantBar(time, history, step, x, y));
  out.push(sv("rect", { x: 0, y: 0, width: left - 16, height, fill: "var(--paper)" }));
  out.push(sv("text", { x: 2, y: 13, style: "font-size:10px" }, "step"));
  for (const actor of doc.actors) out.push(paint(sv("text", { class: "actor", "data-actor": actor, x: 2, y: y(actor) + 4 }, actor), actor));
  svg.replaceChildren(...out);
}
function readerLine(actor, place, step, x, y) { // a reader has no instant: its steps, joined
  const own = [], top = y(actor);
  for (let of = 1; of <= step; of++) if (doc.steps[of - 1][0] === place) own.push(of);
  const listings = doc.listings.filter(([reader, from]) => reader === actor && from <= step).slice(-8);
  const within = (of) => listings.some(([, from, to]) => of === from || of === to);
  const dots = own.slice(-40).filter((of) => !within(of)).map((of) => sv("circle", { class: "dot", cx: x(of), cy: top, r: 5 }, sv("title", {}, doc.sentences[doc.steps[of - 1][1]])));
  const line = own.length ? sv("path", { d: `M${x(own[0])} ${top}H${x(own[own.length - 1])}` }) : "";
  const reads = own.length && !within(own[own.length - 1]) ? sv("text", { class: "time", x: x(own[own.length - 1]), y: top - 12 }, "reads") : "";
  return paint(sv("g", { class: "reader" }, line, ...listings.flatMap((each, order) => listing(each, order, step, x, top)), ...dots, reads), actor);
}
function listing([, from, to, seen, missed], order, step, x, y) { // an interval: of what completes meanwhile it may hold any part
  const ended = to <= step, x1 = x(from), x2 = x(ended ? to : step);
  const named = (times) => times.map((time) => paint(sv("tspan", { class: "named", "data-i": time, dx: 5 }, written(String(time))[0] || `t${time}`), actorOf(time))).slice(-3);
  const some = (word, times) => (times.length ? [sv("tspan", { dx: 5 }, word), ...named(times)] : []);
  const says = ended ? [...some("saw", seen), ...some("missed", missed)] : [];
  return [sv("rect", { class: ended ? "listing" : "listing open", x: x1 - 4, y: y - 7, width: Math.max(8, x2 - x1 + 8), height: 14, rx: 3 }),
    order ? "" : sv("text", { class: "time", x: x1 - 4, y: y - 12, style: "text-anchor:start" }, ended ? "lists the timeline" : "listing"), says.length ? sv("text", { class: "saw", x: x1 - 9, y: y + 23 + 13 * order }, ...says) : ""];
}
function barrierLine(time, x, height) {
  return sv("g", { "data-i": time, "data-barrier": time }, sv("line", { class: "barrier", x1: x, x2: x, y1: 36, y2: height }),
    sv("rect", { class: "pill", x: x - 36, y: 20, width: 72, height: 18, rx: 9 }), sv("text", { class: "pilltext", x, y: 33 }, `barrier t${time}`));
}
function instantBar(time, history, step, x, y) {
  const seen = history.filter(([of]) => of <= step), [action, state, completed, actor] = seen[seen.length - 1][1];
  const group = paint(sv("g", { "data-i": time, "data-state": state, class: "instant" }, sv("title", {}, `${actor}: ${action} requested t${time}, ${completed ? `completed t${completed}` : state}`)), seen[0][1][3]);
  const done = state === "completed", [word, isBarrier] = serviceOf(seen), data = !word, x1 = x(seen[0][0]), y1 = y(seen[0][1][3]);
  const ends = done || state === "crashed" ? seen[seen.length - 1][0] : step, x2 = x(ends), y2 = y(actor);
  let from = seen[0]; // a plan may pass from one compactor to another: one bar each, joined by dots
  for (const entry of [...seen.slice(1), [ends, seen[seen.length - 1][1]]]) {
    const passed = entry[1][3] !== from[1][3];
    group.append(sv("line", { class: done ? "span" : "span pending", x1: x(from[0]), x2: passed ? x(diedAt(seen, entry)) : x(entry[0]), y1: y(from[1][3]), y2: y(from[1][3]) }));
    if (passed) group.append(cross(x(diedAt(seen, entry)), y(from[1][3])), sv("path", { class: "span pending", fill: "none", d: `M${x(entry[0])} ${y(from[1][3])}V${y(entry[1][3])}` }));
    if (passed || entry[1][1] !== "crashed") from = entry;
  }
  group.append(sv("circle", { class: "start", cx: x1, cy: y1, r: 6 }), timeLabel(x1 + (isBarrier ? 12 : 0), y1 - 12, time) || "");
  if (done) group.append(sv("circle", { class: "end", cx: x2, cy: y2, r: 7 }), timeLabel(x2, y2 - 12, completed) || "");
  if (state === "crashed") group.append(cross(x2, y2));
  const [text, weak] = data ? written(time) : [word, ""];
  if (text) group.append(sv("text", { class: data ? "content" : "", x: x1 + (data ? -6 : 8), y: y1 + 23 }, text, sv("tspan", { class: "weak", dx: 6 }, weak)));
  return group;
}
const serviceOf = (history) => doc.services[history[history.length - 1][1][3]] || ["", false]; // [what it is called, whether it is a barrier]
const diedAt = (seen, entry) => (seen.filter(([of, value]) => of < entry[0] && value[1] === "crashed").pop() || entry)[0];
const cross = (x, y) => sv("path", { class: "cross", d: `M${x - 5} ${y - 5}l10 10m0 -10l-10 10` });
const short = (text) => (text.length > 20 ? `${text.slice(0, 19)}…` : text);
const cellsOf = (rows) => rows.slice(0, 2).map(([key, value]) => (value === null ? `delete ${short(key)}` : `${short(key)}=${short(value)}`)).join(" ");
const orderOf = (rows) => (doc.ranked && rows.length ? `ord ${rows.map((row) => row[2]).slice(0, 2).join(", ")}` : "");
function written(time) {
  const rows = shown.view.files.filter(([[kind, , requested]]) => kind === "log" && requested === Number(time));
  const cells = rows.flatMap(([, history]) => history[0][1][2]);
  return [cellsOf(cells), orderOf(cells)];
}

// Files: a column a file group, slices stacked by barrier, the newest on top.
function drawFiles(step, explanation) {
  const places = new Map([...document.querySelectorAll("#files [data-file]")].map((node) => [node.dataset.file, node.getBoundingClientRect()]));
  const groups = Array.from({ length: doc.groups }, (_, place) => ({ name: `file group ${place}`, slices: new Map() }));
  const slice = (group, barrier) => {
    const slices = groups[group].slices;
    if (!slices.has(barrier)) slices.set(barrier, { barrier, status: "read", reason: "", base: null, logs: [] });
    return slices.get(barrier);
  };
  for (const [name, history] of shown.view.files) {
    const value = at(history, step), [kind, group, time] = name;
    if (!value) continue;
    if (kind === "slice") Object.assign(slice(group, time), { status: value[0], reason: value[1] });
    if (kind === "base") slice(group, time).base = [name, value];
    if (kind === "log") slice(group, value[3]).logs.push([name, value]);
  }
  byId("files").replaceChildren(...[notice()].filter(Boolean), el("div", { class: groups.length > 1 ? "groups" : "groups single" }, ...groups.map((group, place) => groupColumn(group, place, step, explanation))));
  slide(places);
}
function notice() {
  if (!shown.view.stopped || shown.step < shown.view.stopped[0]) return null;
  const [step, reasons] = shown.view.stopped;
  return el("p", { class: "notice" }, el("b", {}, `Step ${step} cannot happen under this rule: `), `${reasons.join("; ")}. Shown: the state before it.`);
}
function groupColumn({ name, slices }, place, step, explanation) {
  const newest = [...slices.values()].sort((one, other) => other.barrier - one.barrier);
  const needed = (each) => explanation && [explanation.slice, explanation.stop].some(([, group, barrier]) => group === place && barrier === each.barrier);
  const kept = newest.filter((each, rank) => rank < FIT.slices || needed(each)), column = el("div", { class: "group" }, el("h3", {}, name));
  let missing = 0;
  for (const each of newest) {
    if (!kept.includes(each)) { missing++; continue; }
    if (missing) column.append(el("p", { class: "more" }, `${missing} slices between`));
    missing = 0;
    const first = newest.filter(({ barrier }) => barrier !== 0).pop();
    const title = each.barrier === 0 ? (first ? `before barrier t${first.barrier}` : "no barrier yet") : `slice t${each.barrier}`;
    column.append(sliceBox(each, place, step, title), ...(each.barrier === 0 ? [] : [barrierRow(each.barrier, place)]));
  }
  if (missing) column.append(el("p", { class: "more" }, `${missing} older slices`));
  return column;
}
function barrierRow(barrier, group) {
  return el("div", { class: "barrier-line", "data-i": barrier, "data-barrier-line": barrier, "data-of": `${group}/${barrier}` }, sv("svg", {}, sv("line", { class: "barrier", x1: 0, x2: "100%", y1: 1, y2: 1 })), `barrier t${barrier}`);
}
function sliceBox({ barrier, status, reason, base, logs }, group, step, named) {
  const title = el("span", {}, el("b", {}, named));
  const few = logs.sort(byName).filter(([, value], rank) => logs.length <= FIT.chips || rank < FIT.chips - 3 || rank >= logs.length - 2 || value[2].some(([key]) => key === doc.key));
  const chips = few.map(([name, value]) => chip(name, value, step));
  if (logs.length > few.length) chips.push(el("span", { class: "more" }, `${logs.length - few.length} more logs`));
  return el("div", { class: `slice ${status}`, "data-slice": `slice ${group}/${barrier}` },
    el("div", { class: "row" }, base ? baseBlock(...base, barrier) : null, ...chips), el("header", {}, title, reason ? el("span", {}, reason) : null));
}
const breaking = at(own.answers, doc.breaking), lead = breaking && breaking[2] !== null ? nameOf(own.explanations[breaking[2]].file) : ""; // the lost row's file is first
const byName = ([one], [other]) => (nameOf(other) === lead) - (nameOf(one) === lead) || one[2] - other[2] || one[3] - other[3];
function baseBlock(name, [status, reason, rows], barrier) {
  const row = (each) => paint(el("b", { class: "mono row-of", "data-i": each[3] }, cellsOf([each])), actorOf(each[3]));
  const content = status === "pending" ? [] : rows.length ? rows.slice(0, 2).map(row) : [el("b", { class: "mono" }, nothing(name))];
  return el("div", { class: `file base ${status}`, "data-file": nameOf(name), "data-i": barrier }, ...content, el("span", { class: "at mono" }, content.length ? orderOf(rows) : ""),
    el("small", {}, `base t${barrier}`), content.length ? null : el("small", {}, reason));
}
function chip(name, [status, reason, rows], step) {
  const [, , time, version] = name;
  const completed = (at(shown.view.instants[time] || [], step) || [])[2];
  const node = el("div", { class: `file ${status}`, "data-file": nameOf(name), "data-i": time, title: `log t${time}.log.${version}` },
    el("b", { class: "mono" }, cellsOf(rows) || nothing(name)), el("span", { class: "at mono" }, orderOf(rows)), completed ? el("span", { class: "at mono" }, `@t${completed}`) : null,
    el("small", {}, `t${time}.log.${version}`), reason ? el("small", {}, reason) : null);
  return paint(node, actorOf(time));
}
const keyed = new Set(own.files.filter(([[kind], history]) => kind === "log" && history[0][1][2].length).map(([[, group]]) => group));
const nothing = ([, group]) => (keyed.size === 1 && keyed.has(group) && doc.key ? `no ${short(doc.key)}` : "other keys");
function slide(places) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const node of document.querySelectorAll("#files [data-file]")) {
    const from = places.get(node.dataset.file), to = node.getBoundingClientRect();
    if (!from || (from.left === to.left && from.top === to.top)) continue;
    node.animate([{ transform: `translate(${from.left - to.left}px,${from.top - to.top}px)` }, { transform: "none" }], { duration: 380, easing: "cubic-bezier(.2,.7,.2,1)" });
  }
}

// Why: the path in sentences; promises as chips.
function drawExplanation(explanation) {
  const panel = byId("explanation");
  byId("why-title").textContent = explanation ? `Why ${explanation.key} is wrong` : "Why";
  if (explanation) {
    const tick = sv("svg", { viewBox: "0 0 20 20" }, sv("path", { d: "M4 10.5l4 4 8-9" }));
    const stops = explanation.captions.map((caption, place) => el("li", {}, el("span", { class: "stop" }, String(place + 1)), el("span", {}, ...parts(caption))));
    panel.replaceChildren(el("ol", {}, ...stops, explanation.right ? el("li", { class: "right" }, tick, el("span", {}, ...parts(explanation.right))) : null));
  } else panel.replaceChildren(...(doc.differing.length && shown.step >= doc.breaking ? doc.differing.map(parts) : [nothingWrong()]).map((of) => el("p", {}, ...of)));
  const order = (promise) => (promise.step === null ? Infinity : promise.step), broke = shown.view.promises.some((promise) => promise.step !== null);
  byId("promises").replaceChildren(el("span", { class: "quiet" }, broke ? "Promises, as they broke:" : "Promises:"), ...[...shown.view.promises].sort((one, other) => (order(one) < order(other) ? -1 : order(one) > order(other) ? 1 : 0)).map((promise) => {
    const broken = promise.step !== null && promise.step <= shown.step;
    const button = el("button", { class: broken ? (promise.name === doc.promise ? "broken current" : "broken") : null, title: `${promise.name}: ${promise.about}${broken ? ` Broken: ${promise.message}` : ""}`, "data-promise": promise.name }, promise.step === null ? `✓ ${promise.name}` : broken ? `✕ ${promise.name} step ${promise.step}` : `${promise.name} until ${promise.step}`);
    button.onclick = () => promise.step !== null && show(promise.step);
    return button;
  }));
}

function nothingWrong() {
  const answer = at(own.answers, doc.breaking), explanation = answer && answer[2] !== null ? own.explanations[answer[2]] : null;
  const now = at(shown.view.answers, Math.min(shown.step, reach(shown.view)));
  if (shown.view === own && explanation && shown.step < doc.breaking) return !now || !now[1] ? [`The reader has not answered yet. Press b for step ${doc.breaking}.`] : [`At this step the reader gets what it must. Press b for step ${doc.breaking}.`];
  if (doc.differing.length && shown.step < doc.breaking) return [`At this step the model and the system agree. Press b for step ${doc.breaking}.`];
  if (shown.view === own) return explanation ? ["The reader gets what it must."] : parts(doc.sentence);
  return shown.step >= doc.breaking && explanation && explanation.right ? parts(explanation.right) : ["The reader gets what it must."];
}

// Steps: the interleaving, one line a step, horizontal position = actor.
const opened = new Set();
const folds = layFolds();
let lines = [];
function buildSteps() {
  const list = [];
  lines = [];
  for (let step = 1; step <= last; step++) {
    const end = folds.get(step);
    if (!end || opened.has(step)) { list.push(lines[step] = stepLine(step)); continue; }
    list.push(foldLine(step, end));
    for (; step < end; step++) lines[step] = list[list.length - 1];
    step--;
  }
  byId("steps").replaceChildren(...list);
}
function layFolds() { // first step -> step after the fold
  const found = runs().flatMap(([from, to]) => {
    const keep = from <= doc.breaking && doc.breaking < to ? doc.breaking : to - 1;
    return [[from, keep], [keep + 1, to - 1]].filter(([start, end]) => end - start >= 2);
  }).sort((one, other) => other[1] - other[0] - one[1] + one[0]);
  const folds = new Map();
  let left = last;
  for (const [start, end] of found) if (left > LINES) { folds.set(start, end); left -= end - start - 1; }
  return folds;
}
const track = (actor) => el("span", { class: "track" }, ...doc.actors.map((name, place) => paint(el("span", {}, place === actor ? name : ""), name)));
function saysOf(step) { // what became visible is said with its time
  const [, says, time] = doc.steps[step - 1], now = (own.instants[time] || []).find(([of]) => of === step);
  return doc.sentences[says] + (now && now[1] && now[1][1] === "completed" ? `: completed t${now[1][2]}` : now && now[1] && now[1][1] === "requested" ? `: t${time}` : "");
}
function stepLine(step) {
  const [actor, , time] = doc.steps[step - 1];
  const line = el("li", { "data-step": step, "data-i": time }, el("span", {}, String(step)), track(actor), el("span", {}, saysOf(step), step === doc.breaking && doc.breaks && doc.promise ? el("em", {}, `✕ ${doc.promise} breaks`) : null));
  line.onclick = () => show(step);
  return line;
}
function foldLine(from, to) { // steps `from` to before `to`; when one of them is shown, the line says it
  const [actor, , time] = doc.steps[from - 1], text = el("span"), line = el("li", { class: "fold", "data-fold": from, "data-i": time, title: "unfold" }, el("span", {}, `${from}–${to - 1}`), track(actor), text);
  line.describe = (step) => { text.textContent = step ? `${saysOf(step)} (step ${step})` : `${saysOf(from)}, ${to - from - 1} more step${to - from > 2 ? "s" : ""}`; };
  line.describe(0);
  line.onclick = () => { opened.add(from); buildSteps(); drawSteps(); };
  return line;
}
let marked = [];
function drawSteps() {
  const list = byId("steps"), line = lines[shown.step];
  marked.forEach((node) => { node.classList.remove("now"); if (node.describe) node.describe(0); });
  list.classList.toggle("other", shown.view !== own);
  marked = line ? [line] : [];
  marked.forEach((node) => { node.classList.add("now"); if (node.describe) node.describe(shown.step); });
  if (line) list.scrollTop = Math.max(0, Math.ceil((line.offsetTop - list.clientHeight * 0.6) / LINE) * LINE);
  else list.scrollTop = 0;
  byId("position").replaceChildren("step ", el("b", {}, String(shown.step)), ` of ${last}`);
}

// The path: write -> log file -> what stops it (base, barrier or the file itself); then what is read instead -> the reader's cell.
let lastExplanation = null;
function drawPath(explanation) {
  const svg = byId("path");
  svg.replaceChildren();
  drawConnectors(svg);
  if (!explanation) lastExplanation = null;
  if (!explanation) return;
  const home = svg.getBoundingClientRect();
  const box = (selector) => {
    const node = document.querySelector(selector), rect = node && node.getBoundingClientRect();
    const of = node && node.closest(".slice");
    return rect && { within: of && of.getBoundingClientRect().top - home.top, newest: of && of === of.parentNode.querySelector(".slice"), x: rect.left - home.left, y: rect.top - home.top, w: rect.width, h: rect.height, to: rect.right - home.left, low: rect.bottom - home.top };
  };
  const write = box(`#lanes .instant[data-i="${explanation.instant}"] .end`) || box(`#lanes .instant[data-i="${explanation.instant}"] .start`) || box(`#lanes .actor[data-actor="${actorOf(explanation.instant)}"]`);
  const file = box(`[data-file="${nameOf(explanation.file)}"]`), cell = box(`[data-table="reader got"] tr.wrong[data-key="${CSS.escape(explanation.key)}"]`), slice = box(`[data-slice="${nameOf(explanation.slice)}"]`);
  if (!write || !file || !cell || !slice) return;
  const [, group] = explanation.slice, barrierRow = explanation.barrier ? box(`[data-of="${group}/${explanation.barrier}"]`) : null, base = explanation.stop[0] === "base" ? box(`[data-file="${nameOf(explanation.stop)}"]`) : null;
  const along = file.x + (doc.groups.length > 1 ? 24 : 70), from = (explanation.source_file && box(`[data-file="${nameOf(explanation.source_file)}"]`)) || base || file;
  const lines = innerWidth > 980 ? [intoFile(write, file, slice), base ? intoBase(along, file, base) : barrierRow ? `M${along} ${file.y}V${barrierRow.y + barrierRow.h / 2}` : "", intoCell(from, cell, home.width)] : []; // in one column the numbers alone show the way
  const stop = base ? [Math.min(along, base.to - 16), base.low] : barrierRow ? [along, barrierRow.y + barrierRow.h / 2] : [file.to - 15, file.low];
  for (const name of ["halo", "red"]) for (const d of lines) if (d) svg.append(sv("path", { class: name, d }));
  const leads = file.x < slice.x + 24, stops = [[write.x + write.w / 2, write.y + write.h / 2], leads ? [file.x, file.y + file.h / 2] : [file.x + 12, file.y], stop, [cell.to - 26, cell.low]];
  stops.forEach(([x, y], place) => svg.append(sv("circle", { cx: x, cy: y, r: 8.5 }), sv("text", { x, y: y + 3.8 }, String(place + 1))));
  svg.classList.toggle("come", explanation !== lastExplanation);
  lastExplanation = explanation;
}
function intoFile(write, file, slice) { // never along a lane: where both ends are level the line bows
  const [wx, wy] = [write.x + write.w / 2, write.y + write.h / 2], bend = Math.max(40, (file.x - wx) * 0.45), strip = slice.y + 7, to = file.y + file.h / 2;
  if (file.x >= slice.x + 24) return `M${wx} ${wy}C${wx + bend} ${wy} ${slice.x - bend} ${strip} ${slice.x} ${strip}H${file.x + 6}Q${file.x + 12} ${strip} ${file.x + 12} ${file.y}`;
  const bow = Math.abs(to - wy) < 36 ? 44 : 0;
  return `M${wx} ${wy}C${wx + bend} ${wy + bow} ${file.x - bend} ${to + bow} ${file.x} ${to}`;
}
function intoBase(x, file, base) {
  const to = Math.min(x, base.to - 16);
  return `M${x} ${file.y}C${x} ${file.y - 20} ${to} ${base.low + 30} ${to} ${base.low}`;
}
function intoCell(from, cell, width) { // out of the file's top, along its slice, up to the reader; from an older slice by the margin
  const x = cell.to - 26, out = Math.min(from.x + from.w - 24, from.x + 90), strip = from.within + 7;
  if (from.newest) return `M${out} ${from.y}Q${out} ${strip} ${out + 8} ${strip}H${x - 8}Q${x} ${strip} ${x} ${strip - 8}V${cell.low}`;
  const edge = width + 13, turn = cell.low + 18;
  return `M${out} ${from.y}Q${out} ${strip} ${out + 8} ${strip}H${edge - 8}Q${edge} ${strip} ${edge} ${strip - 8}V${turn + 8}Q${edge} ${turn} ${edge - 8} ${turn}H${x + 8}Q${x} ${turn} ${x} ${turn - 8}V${cell.low}`;
}
function drawConnectors(svg) { // a barrier is one line: down the lanes, over to the files, through them
  const home = svg.getBoundingClientRect();
  [...document.querySelectorAll("#lanes [data-barrier]")].slice(-4).forEach((group, place) => {
    const pill = group.querySelector(".pill").getBoundingClientRect(), barrierRow = document.querySelector(`[data-barrier-line="${group.dataset.barrier}"]`);
    if (!barrierRow || innerWidth <= 980) return;
    const to = barrierRow.getBoundingClientRect(), gutter = to.left - home.left - 16 - place * 5;
    svg.append(sv("path", { class: "barrier", "data-i": group.dataset.barrier, d: `M${pill.right - home.left} ${pill.top + 9 - home.top}H${gutter}V${to.top + to.height / 2 - home.top}H${to.left - home.left}` }));
  });
}

// Keys, buttons, pointer, theme, address.
function nextSwitch() {
  const found = doc.steps.findIndex(([actor], place) => place >= shown.step && place > 0 && actor !== doc.steps[place - 1][0]);
  return found < 0 ? last : found + 1;
}
function toggleTheme() {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
}
const actions = {
  ArrowLeft: () => show(shown.step - 1), ArrowRight: () => show(shown.step + 1), Home: () => show(0), End: () => show(last),
  n: () => show(nextSwitch()), b: () => show(doc.breaking, own), t: toggleTheme, "?": () => byId("keys").showModal(),
  r: () => show(shown.step, doc.views[(doc.views.indexOf(shown.view) + 1) % doc.views.length]),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open || !actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]"), number = event.target.closest("text[data-step]");
  if (button) actions[button.dataset.do]();
  if (number) show(Number(number.dataset.step));
});
document.addEventListener("pointerover", (event) => {
  const node = event.target.closest("[data-i]"), time = node ? node.dataset.i : null;
  document.querySelectorAll(".hot").forEach((hot) => hot.classList.remove("hot"));
  document.body.classList.toggle("hovering", Boolean(time));
  if (time) document.querySelectorAll(`[data-i="${time}"]`).forEach((same) => same.classList.add("hot"));
});
byId("help").onclick = actions["?"];
byId("theme").onclick = toggleTheme;
addEventListener("hashchange", () => { fromAddress(); draw(); });
addEventListener("resize", draw);
buildSteps();
fromAddress();
draw();
