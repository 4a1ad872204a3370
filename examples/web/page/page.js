// The page: what to search, and what was found. A worker does the searching.

"use strict";

// Bytes shown on each side of a match.
const AROUND = 24;

const $ = (id) => document.getElementById(id);
const number = (n) => n.toLocaleString("en-US");
const counted = (n, one, many) => `${number(n)} ${n === 1 ? one : many}`;

const module = Uint8Array.from(atob($("module").textContent), (c) => c.charCodeAt(0));
const workerUrl = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));

let file = null;
let list = null;
let worker = null;
let latest = null;
let started = 0;

function size(bytes) {
  for (const [unit, name] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) {
    if (bytes >= unit) return `${(bytes / unit).toFixed(1)} ${name}`;
  }
  return `${bytes} bytes`;
}

function choose(files) {
  if (files.length === 0) return;
  file = files[0];
  $("name").textContent = file.name;
  $("size").textContent = `${number(file.size)} bytes` + (files.length > 1 ? `, the first of ${files.length} files` : "");
  start();
}

function useList(chosen) {
  list = chosen;
  $("list").hidden = list === null;
  $("patterns").hidden = list !== null;
  if (list === null) {
    $("list-file").value = "";
  } else {
    $("list").firstElementChild.textContent = `${list.name}, ${size(list.size)}`;
  }
}

function fail(message) {
  stop("");
  $("error").textContent = message;
  $("error").hidden = false;
}

function stop(state) {
  worker?.terminate();
  worker = null;
  $("stop").hidden = true;
  $("progress").hidden = true;
  $("state").textContent = state;
}

async function patterns() {
  if (list !== null) return new Uint8Array(await list.arrayBuffer());
  return new TextEncoder().encode($("patterns").value);
}

async function start() {
  stop("");
  $("error").hidden = true;
  $("results").hidden = true;
  latest = null;
  if (file === null) return fail("Choose the file to search.");
  const current = new Worker(workerUrl);
  worker = current;
  current.onmessage = ({ data }) => receive(data);
  current.onerror = (event) => fail(event.message);
  $("state").textContent = "compiling the patterns";
  $("stop").hidden = false;
  let bytes;
  try {
    bytes = await patterns();
  } catch {
    return fail(`the list ${list.name} cannot be read`);
  }
  // Another search may have begun while the list was read.
  if (worker !== current) return;
  started = performance.now();
  const [format, nocase] = [Number($("format").value), $("nocase").checked];
  current.postMessage({ module, file, patterns: bytes, format, nocase });
}

function receive({ report, done, error }) {
  if (error !== undefined) return fail(error);
  latest = report;
  const seconds = (performance.now() - started) / 1000;
  const rate = `${number(Math.round(report.bytes / 2 ** 20 / seconds))} MiB/s`;
  if (done) {
    stop(`${size(report.bytes)} in ${seconds.toFixed(2)} s, ${rate}`);
  } else {
    $("progress").hidden = false;
    $("progress").value = report.bytes / file.size;
    $("state").textContent = `${size(report.bytes)} of ${size(file.size)}, ${rate}`;
  }
  $("results").hidden = false;
  show(report);
  if (done) {
    document.body.dataset.done = "yes";
    showHits(report);
  }
}

function show(report) {
  $("total").textContent = `${counted(report.total, "match", "matches")} of ${number(report.distinct)} of ${counted(report.of, "pattern", "patterns")}`;
  $("engine").textContent = [report.engine, ...report.warnings].join("\n");
  $("end").textContent = number(file.size);
  draw(report.columns);
  $("patterns-title").textContent = title("Patterns", report.patterns.length, report.distinct);
  const rows = report.patterns.map(({ text, origin, matches }) => {
    const row = cells(text, number(matches));
    row.title = origin;
    return row;
  });
  $("counts").replaceChildren(...rows);
  $("hits-title").textContent = title("Matches", report.hits.length, report.total);
  if (report.hits.length !== $("hits").childElementCount) {
    $("hits").replaceChildren(...report.hits.map(({ start, text }) => cells(number(start), text)));
  }
}

const title = (what, shown, all) => (shown < all ? `${what}, ${number(shown)} of ${number(all)}` : what);

function cells(...texts) {
  const row = document.createElement("tr");
  for (const text of texts) {
    const cell = row.insertCell();
    cell.textContent = text;
    if (/^[\d,]+$/.test(text)) cell.className = "number";
  }
  return row;
}

// A bar for each part of the file. Heights are logarithms: one match is visible beside a million.
function draw(columns) {
  const canvas = $("map");
  canvas.width = canvas.clientWidth * devicePixelRatio;
  canvas.height = canvas.clientHeight * devicePixelRatio;
  const paint = canvas.getContext("2d");
  paint.fillStyle = getComputedStyle(document.body).getPropertyValue("--mark");
  const most = columns.reduce((a, b) => Math.max(a, b), 0);
  const width = canvas.width / columns.length;
  columns.forEach((count, i) => {
    if (count === 0) return;
    const height = canvas.height * (0.15 + 0.85 * Math.log1p(count) / Math.log1p(most));
    paint.fillRect(i * width, canvas.height - height, Math.max(width, 1), height);
  });
}

function column(event) {
  if (latest === null) return;
  const { left, width } = $("map").getBoundingClientRect();
  const count = latest.columns.length;
  const i = Math.min(Math.max(Math.floor((event.clientX - left) / width * count), 0), count - 1);
  const [from, to] = [i, i + 1].map((edge) => Math.ceil(edge * file.size / count));
  $("under").textContent = `${counted(latest.columns[i], "match", "matches")} in bytes ${number(from)} to ${number(to)}`;
}

// Reads the bytes around each match again: the search keeps only positions.
async function showHits(report) {
  const searched = file;
  const rows = await Promise.all(report.hits.map((hit) => around(searched, hit)));
  if (latest === report) $("hits").replaceChildren(...rows);
}

async function around(searched, { start, end, text }) {
  const row = cells(number(start), text);
  row.title = `${text}: bytes ${number(start)} to ${number(end)}`;
  const from = Math.max(start - AROUND, 0);
  // A pattern may have 65,535 bytes.
  const shownEnd = Math.min(end, start + 4 * AROUND);
  try {
    const bytes = new Uint8Array(await searched.slice(from, shownEnd + AROUND).arrayBuffer());
    const mark = document.createElement("mark");
    mark.textContent = printable(bytes.subarray(start - from, shownEnd - from));
    row.cells[1].className = "";
    row.cells[1].replaceChildren(printable(bytes.subarray(0, start - from)), mark, printable(bytes.subarray(shownEnd - from)));
  } catch {
    // The file changed since: the pattern's text stays.
  }
  return row;
}

const printable = (bytes) => Array.from(bytes, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");

$("form").addEventListener("submit", (event) => { event.preventDefault(); start(); });
$("stop").addEventListener("click", () => stop("stopped"));
$("file").addEventListener("change", () => choose($("file").files));
$("list-file").addEventListener("change", () => useList($("list-file").files[0] ?? null));
$("list").lastElementChild.addEventListener("click", () => useList(null));
$("map").addEventListener("pointermove", column);
addEventListener("resize", () => latest && draw(latest.columns));
addEventListener("dragover", (event) => { event.preventDefault(); $("drop").classList.add("over"); });
addEventListener("dragleave", () => $("drop").classList.remove("over"));
addEventListener("drop", (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  choose(event.dataTransfer.files);
});
