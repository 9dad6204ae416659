//===- ExplainPage.cpp - a page that shows decisions ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/Explain.h"

#include "llvm/Support/FormatVariadic.h"

using namespace heddle;

/// Everything before the record.
static constexpr const char *head = R"page(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Decisions of the compiler</title>
<style>
:root { color-scheme: light dark; --text: #1c1c1c; --soft: #6b6b6b; --line: #d8d8d8; --page: #fff;
  --panel: #f6f6f4; --edge: #9aa4b2; --pick: #2a62b8; --cool: #eef1f5; --ink: #1c1c1c; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e6e6; --soft: #9a9a9a; --line: #3a3a3a;
  --page: #161616; --panel: #1e1e1e; --edge: #5d6775; --pick: #7fb0ff; --cool: #2c323b; } }
* { box-sizing: border-box; }
body { margin: 0; font: 14px/1.45 system-ui, sans-serif; color: var(--text); background: var(--page);
  display: grid; grid-template: auto 1fr / 19rem 1fr 24rem; height: 100vh; }
header { grid-column: 1 / 4; padding: .6rem 1rem; border-bottom: 1px solid var(--line); display: flex;
  gap: 1.2rem; align-items: baseline; flex-wrap: wrap; }
h1 { font-size: 1.05rem; margin: 0; } h2 { font-size: .95rem; margin: .2rem 0 .5rem; overflow-wrap: anywhere; }
h3 { font-size: .8rem; margin: 1rem 0 .3rem; color: var(--soft); font-weight: 600; }
header span, .soft { color: var(--soft); }
aside { overflow: auto; background: var(--panel); padding: .7rem .9rem; }
aside.left { border-right: 1px solid var(--line); } aside.right { border-left: 1px solid var(--line); }
main { overflow: auto; position: relative; }
select, input { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line);
  border-radius: 4px; padding: .15rem .4rem; }
input { width: 100%; margin-bottom: .5rem; }
.row { position: relative; padding: .18rem .4rem; cursor: pointer; border-radius: 3px; display: flex;
  justify-content: space-between; gap: .5rem; font-size: .82rem; }
.row i { position: absolute; inset: 1px auto 1px 0; border-radius: 3px; opacity: .35; }
.row b { font-weight: normal; position: relative; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.row u { text-decoration: none; position: relative; font-variant-numeric: tabular-nums; white-space: nowrap; }
.row:hover, .row.on { outline: 1px solid var(--pick); }
table { border-collapse: collapse; width: 100%; font-size: .82rem; }
td, th { text-align: left; padding: .16rem .5rem .16rem 0; vertical-align: top; font-weight: normal; overflow-wrap: anywhere; }
th { color: var(--soft); white-space: nowrap; } td.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
pre { font: 12px/1.4 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0;
  background: var(--page); border: 1px solid var(--line); border-radius: 4px; padding: .4rem; }
code { font: 12px ui-monospace, monospace; }
a { color: var(--pick); cursor: pointer; text-decoration: none; }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink); pointer-events: none; }
svg text.port { fill: var(--soft); }
.node { cursor: pointer; } .node rect { stroke: #0003; } .node.on rect, .node:hover rect { stroke: var(--pick); stroke-width: 2.5; }
.edge { fill: none; stroke: var(--edge); stroke-opacity: .55; cursor: pointer; }
.edge:hover, .edge.on { stroke: var(--pick); stroke-opacity: 1; }
.faded .node:not(.near) { opacity: .25; } .faded .edge:not(.on) { stroke-opacity: .25; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin: 0 .3em 0 .8em; }
</style></head><body>
<header><h1>Decisions of the compiler</h1><select id="function" aria-label="function"></select>
<span id="summary"></span><span id="keys"></span></header>
<aside class="left"><input id="find" placeholder="Find a step or value" aria-label="find"><div id="list"></div></aside>
<main><svg id="graph" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="steps and values"></svg></main>
<aside class="right" id="details"></aside>
<script type="application/json" id="record">)page";

/// Everything after it: lays the steps out in layers and draws them. Texts are set as text, never
/// as HTML.
static constexpr const char *tail = R"page(</script>
<script>
"use strict";
const record = JSON.parse(document.getElementById("record").textContent);
const byId = id => document.getElementById(id);
const colors = { arithmetic: "#d9822b", accesses: "#c9a227", issue: "#c9a227", latency: "#b5651d",
  loops: "#8a6fb0", l2: "#4f9d8f", l3: "#3f83b5", memory: "#2f5fa8" };
const other = "#8b939e";

function element(name, attributes, ...children) {
  const svg = ["svg", "g", "rect", "text", "path", "title"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    key.startsWith("on") ? made.addEventListener(key.slice(2), value) : made.setAttribute(key, value);
  made.append(...children.filter(each => each !== null && each !== undefined));
  return made;
}
function time(seconds) {
  if (seconds === undefined || seconds === null) return "–";
  for (const [unit, name] of [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]])
    if (seconds >= unit) return +(seconds / unit).toPrecision(3) + " " + name;
  return +(seconds * 1e9).toPrecision(3) + " ns";
}
function size(bytes) {
  if (!isFinite(bytes)) return bytes;
  for (const [unit, name] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]])
    if (bytes >= unit) return +(bytes / unit).toPrecision(3) + " " + name;
  return bytes + " bytes";
}
const short = text => text.length > 24 ? text.slice(0, 23) + "…" : text;
const place = location => location.replace(/^.*\//, "");

let shown = null;

/// Steps in layers: a step is below all steps whose values it reads, and below the ones that read
/// or wrote memory that it overwrites.
function layOut(f) {
  const writer = new Map(), steps = f.steps, edges = [];
  const layer = new Array(steps.length).fill(0);
  let floor = 0;
  steps.forEach((step, s) => {
    layer[s] = floor;
    if (step.control === "control flow") {
      layer[s] = floor = Math.max(floor, ...layer.slice(0, s).map(each => each + 1));
      floor += 1;
    }
    for (const v of step.reads)
      if (writer.has(v)) {
        const from = writer.get(v);
        layer[s] = Math.max(layer[s], layer[from] + 1);
        edges.push({ from, to: s, value: v });
      }
    for (const v of step.writes) {
      if (writer.has(v)) layer[s] = Math.max(layer[s], layer[writer.get(v)] + 1);
      writer.set(v, s);
    }
  });
  const layers = [];
  steps.forEach((_, s) => (layers[layer[s]] = layers[layer[s]] || []).push(s));
  return { layer, layers: layers.filter(Boolean), edges };
}

/// Orders each layer by the mean place of the neighbours, down and up again.
function order(layers, edges, count) {
  const around = Array.from({ length: count }, () => ({ up: [], down: [] }));
  for (const e of edges) { around[e.to].up.push(e.from); around[e.from].down.push(e.to); }
  const at = new Array(count).fill(0);
  const place = layer => layer.forEach((s, i) => at[s] = i - (layer.length - 1) / 2);
  layers.forEach(place);
  for (let sweep = 0; sweep < 6; ++sweep) {
    const side = sweep % 2 ? "down" : "up";
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      const mean = s => { const near = around[s][side]; return near.length ? near.reduce((sum, each) => sum + at[each], 0) / near.length : at[s]; };
      const key = new Map(layer.map(s => [s, mean(s)]));
      layer.sort((a, b) => key.get(a) - key.get(b) || a - b);
      place(layer);
    }
  }
}

function draw(f) {
  const { layers, edges } = layOut(f);
  order(layers, edges, f.steps.length);
  const most = Math.max(1e-12, ...f.steps.map(s => s.seconds || 0));
  const gap = 22, across = 14, boxes = [];
  const measure = s => {
    const share = Math.sqrt((f.steps[s].seconds || 0) / most);
    return { w: 92 + 96 * share, h: 24 + 34 * share };
  };
  let y = 20, widest = 0;
  const rows = layers.map(layer => {
    const sizes = layer.map(measure);
    const row = { layer, sizes, y, h: Math.max(...sizes.map(b => b.h)), w: sizes.reduce((sum, b) => sum + b.w + across, -across) };
    y += row.h + gap + Math.min(40, 2 * layer.length);
    widest = Math.max(widest, row.w);
    return row;
  });
  const width = Math.max(widest + 60, 420), svg = byId("graph");
  for (const row of rows) {
    let x = (width - row.w) / 2;
    row.layer.forEach((s, i) => {
      const b = row.sizes[i];
      boxes[s] = { x, y: row.y + (row.h - b.h) / 2, ...b };
      x += b.w + across;
    });
  }
  svg.replaceChildren();
  svg.setAttribute("width", width); svg.setAttribute("height", y + 10);
  const lines = element("g"), nodes = element("g");
  svg.append(lines, nodes);
  const seen = new Set(edges.map(e => e.from + ">" + e.to + ">" + e.value));
  for (const e of edges.filter(e => seen.delete(e.from + ">" + e.to + ">" + e.value))) {
    const a = boxes[e.from], b = boxes[e.to], v = f.values[e.value];
    const x1 = a.x + a.w / 2, y1 = a.y + a.h, x2 = b.x + b.w / 2, y2 = b.y, bend = Math.max(14, (y2 - y1) / 2);
    const thick = Math.max(.8, Math.min(9, Math.log2(Math.max(2, +v.bytes || 1024)) / 3 - 1.6));
    lines.append(element("path", { class: "edge", "data-value": e.value, "data-from": e.from, "data-to": e.to,
      d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`, "stroke-width": thick.toFixed(1),
      onclick: () => pickValue(f, e.value) },
      element("title", {}, `${v.name} ${v.layout}, ${size(v.bytes)}`)));
  }
  f.steps.forEach((step, s) => {
    const b = boxes[s], share = (step.seconds || 0) / most;
    const mix = Math.round(18 + 72 * Math.sqrt(share));
    const fill = step.seconds === undefined ? "var(--cool)" : `color-mix(in oklab, ${colors[step.limit] || other} ${mix}%, #f4f4f2)`;
    const node = element("g", { class: "node", "data-step": s, onclick: () => pickStep(f, s) },
      element("rect", { x: b.x, y: b.y, width: b.w, height: b.h, rx: 5, style: "fill:" + fill }),
      element("text", { x: b.x + b.w / 2, y: b.y + b.h / 2 + (b.h > 36 ? -3 : 4), "text-anchor": "middle",
        ...(step.seconds === undefined ? { class: "port" } : {}) }, short(step.name).slice(0, Math.floor(b.w / 6.2))),
      element("title", {}, `${step.name}: ${time(step.seconds)}${step.limit ? ", limited by " + step.limit : ""}\n${step.location}`));
    if (b.h > 36)
      node.append(element("text", { x: b.x + b.w / 2, y: b.y + b.h / 2 + 12, "text-anchor": "middle" }, time(step.seconds)));
    nodes.append(node);
  });
}

function facts(rows) {
  return element("table", {}, ...rows.filter(r => r[1] !== undefined && r[1] !== "").map(([name, value]) =>
    element("tr", {}, element("th", {}, name), element("td", {}, value))));
}
function link(text, go) { return element("a", { onclick: go, tabindex: 0 }, text); }
function others(list, chosen) {
  const rows = [element("tr", {}, element("td", {}, element("code", {}, chosen)), element("td", { class: "n" }, "chosen"))];
  for (const each of list || [])
    rows.push(element("tr", {}, element("td", {}, element("code", {}, each.what)), element("td", { class: "n" },
      (each.more < 0 ? "−" : "+") + time(Math.abs(each.more)))));
  return element("table", {}, ...rows);
}
function schedule(of) {
  return [element("pre", {}, of.schedule.replace(/, (?=[a-z]+ )/g, ",\n  ")),
    ...(of.other_schedules ? [others(of.other_schedules, "this schedule")] : [])];
}
function fusion(f, step) {
  const places = new Set([step.location, ...(step.nests || []).map(n => n.location)]);
  return f.fusion.filter(each => places.has(each.location)).map(each => element("tr", {},
    element("td", {}, `${each.nest} ${each.chosen}`), element("td", {}, each.other), element("td", { class: "n" },
    (each.more < 0 ? "−" : "+") + time(Math.abs(each.more)))));
}
function part(title, ...content) { return [element("h3", {}, title), ...content]; }

function highlight(steps, values, test) {
  const svg = byId("graph");
  svg.classList.toggle("faded", steps.size > 0);
  for (const node of svg.querySelectorAll(".node")) {
    node.classList.toggle("near", steps.has(+node.dataset.step));
    node.classList.toggle("on", test === +node.dataset.step);
  }
  for (const edge of svg.querySelectorAll(".edge"))
    edge.classList.toggle("on", values.has(+edge.dataset.value) && steps.has(+edge.dataset.from) && steps.has(+edge.dataset.to));
  for (const row of document.querySelectorAll(".row")) row.classList.toggle("on", test === +row.dataset.step);
}

function pickStep(f, s) {
  const step = f.steps[s], near = new Set([s]), values = new Set([...step.reads, ...step.writes]);
  f.steps.forEach((each, i) => {
    if (each.writes.some(v => step.reads.includes(v)) && i < s || each.reads.some(v => step.writes.includes(v)) && i > s) near.add(i);
  });
  highlight(near, values, s);
  const list = numbers => element("table", {}, ...numbers.map(v => element("tr", {},
    element("td", {}, link(f.values[v].name, () => pickValue(f, v))), element("td", {}, element("code", {}, f.values[v].layout)),
    element("td", { class: "n" }, size(f.values[v].bytes)))));
  byId("details").replaceChildren(element("h2", {}, step.name), element("p", { class: "soft" }, step.location),
    facts([["predicted", step.seconds === undefined ? undefined : time(step.seconds) + (step.typical ? ", for typical sizes" : "")],
      ["at least", step.bound === undefined ? undefined : `${time(step.bound)} (${Math.round(100 * step.bound / step.seconds)} % of it)`],
      ["limited by", step.limit], ["operations", step.flops ? step.flops.toPrecision(4) : undefined],
      ["reads and writes", step.bytes ? size(step.bytes) : undefined],
      ["chunks", step.control ? undefined : step.serial ? step.chunks + ", in one thread" : String(step.chunks)],
      ["barrier before it", step.control ? undefined : step.waits ? "yes" : "no"], ["kind", step.control]]),
    ...(step.lanes ? part("Vector lanes", others(step.others, step.lanes)) : []),
    ...(step.schedule ? part("Schedule", ...schedule(step)) : []),
    ...(step.nests ? part("Computes at each step of its loops", ...step.nests.flatMap(n => [
      element("p", {}, n.name, " ", element("span", { class: "soft" }, place(n.location))), ...schedule(n)])) : []),
    ...(fusion(f, step).length ? part("Fusion, and the other choice", element("table", {}, ...fusion(f, step))) : []),
    ...part("Reads", list(step.reads)), ...part("Writes", list(step.writes)));
  const node = byId("graph").querySelector(`[data-step="${s}"]`);
  if (node) node.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function pickValue(f, v) {
  const value = f.values[v], users = new Set();
  f.steps.forEach((step, s) => { if (step.reads.includes(v) || step.writes.includes(v)) users.add(s); });
  highlight(users, new Set([v]), null);
  byId("details").replaceChildren(element("h2", {}, value.name), element("p", { class: "soft" }, value.location),
    facts([["kind", value.kind], ["type", value.type], ["memory", size(value.bytes)]]),
    ...part(value.given ? "Layout, given by the caller" : "Layout", others(value.others, value.layout)),
    ...part("Steps", element("table", {}, ...[...users].map(s => element("tr", {},
      element("td", {}, link(f.steps[s].name, () => pickStep(f, s))), element("td", {}, f.steps[s].writes.includes(v) ? "writes" : "reads"),
      element("td", { class: "n" }, time(f.steps[s].seconds)))))),
    ...(value.uses && value.uses.length ? part("Costs of its accesses, beside arithmetic", element("table", {}, ...value.uses.map(use => element("tr", {},
      element("td", {}, use.nest, element("br"), element("span", { class: "soft" }, place(use.location))),
      element("td", {}, use.copy ? "through a copy in " : "", use.copy ? element("code", {}, use.copy) : ""),
      element("td", { class: "n" }, time(use.seconds)))))) : []));
}

function list(f, wanted) {
  const most = Math.max(1e-12, ...f.steps.map(s => s.seconds || 0)), words = wanted.toLowerCase();
  const has = text => text.toLowerCase().includes(words);
  const steps = f.steps.map((step, s) => [step, s]).filter(([step]) => step.seconds !== undefined && (has(step.name) || has(step.location)))
    .sort((a, b) => b[0].seconds - a[0].seconds);
  const values = words ? f.values.map((value, v) => [value, v]).filter(([value]) => has(value.name)).slice(0, 50) : [];
  byId("list").replaceChildren(
    ...steps.map(([step, s]) => element("div", { class: "row", "data-step": s, onclick: () => pickStep(f, s), title: step.location },
      element("i", { style: `width:${100 * step.seconds / most}%;background:${colors[step.limit] || other}` }),
      element("b", {}, step.name + " ", element("span", { class: "soft" }, place(step.location).replace(/:\d+$/, ""))), element("u", {}, time(step.seconds)))),
    ...(values.length ? part("Values", ...values.map(([value, v]) => element("div", { class: "row", onclick: () => pickValue(f, v) },
      element("b", {}, value.name), element("u", {}, value.layout)))) : []));
}

function show(f) {
  shown = f;
  const known = f.steps.filter(s => s.seconds !== undefined);
  const sum = name => known.reduce((total, s) => total + s[name], 0);
  byId("summary").textContent = `${f.steps.length} step${f.steps.length === 1 ? "" : "s"}, predicted ${time(sum("seconds"))} on one thread, at least ${time(sum("bound"))}; arena ${size(f.arena)}`;
  const by = {};
  for (const s of known) by[s.limit] = (by[s.limit] || 0) + s.seconds;
  byId("keys").replaceChildren("limited by", ...Object.entries(by).sort((a, b) => b[1] - a[1]).flatMap(([limit, seconds]) => [
    element("span", { class: "key", style: `background:${colors[limit] || other}` }), `${limit} ${Math.round(100 * seconds / sum("seconds"))} %`]));
  draw(f); list(f, "");
  byId("find").value = "";
  const slowest = f.steps.reduce((best, s, i) => (s.seconds || 0) > (f.steps[best].seconds || 0) ? i : best, 0);
  if (f.steps.length) pickStep(f, slowest); else byId("details").replaceChildren();
  byId("graph").classList.remove("faded"); // until the reader picks one
}

record.functions.forEach((f, i) => byId("function").append(element("option", { value: i }, "@" + f.name + (f.role ? " of " + f.role : ""))));
byId("function").addEventListener("change", event => show(record.functions[event.target.value]));
byId("find").addEventListener("input", event => list(shown, event.target.value));
if (record.functions.length) show(record.functions[0]);
</script></body></html>
)page";

std::string heddle::explanationPage(const llvm::json::Value &record) {
  std::string page = head;
  for (char c : llvm::formatv("{0}", record).str())
    page += c == '<' ? "\\u003c" : std::string(1, c); // no text ends the script
  return page + tail;
}
