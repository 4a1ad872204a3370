// Searches a file in chunks, away from the thread that draws the page. A worker does one search.

"use strict";

// Large enough that reading costs little, small enough that progress is smooth.
const CHUNK = 4 * 1024 * 1024;

// Milliseconds between reports.
const PAUSE = 100;

let fyke;

// Bytes of the module's memory. Growing moves the memory, so no view is kept.
const view = (at, length) => new Uint8Array(fyke.memory.buffer, at, length);

const output = () => new TextDecoder().decode(view(fyke.fyke_output(), fyke.fyke_output_len()));

function write(bytes) {
  const at = fyke.fyke_input(bytes.length);
  view(at, bytes.length).set(bytes);
}

function check(status) {
  if (status !== 0) throw new Error(output());
}

function report() {
  check(fyke.fyke_report());
  return JSON.parse(output());
}

// The file may have changed since it was dropped: then reading fails, or yields too little.
async function read(file, at) {
  const wanted = Math.min(CHUNK, file.size - at);
  const buffer = await file.slice(at, at + wanted).arrayBuffer();
  if (buffer.byteLength !== wanted) throw new Error(`${file.name} ends at byte ${at + buffer.byteLength}: it changed during the search`);
  return new Uint8Array(buffer);
}

async function search({ module, file, patterns, format, nocase }) {
  fyke = (await WebAssembly.instantiate(module, {})).instance.exports;
  write(patterns);
  check(fyke.fyke_open(patterns.length, format, nocase ? 1 : 0, file.size));
  let last = performance.now();
  // The next chunk is read while this one is searched.
  let next = file.size > 0 ? read(file, 0) : null;
  for (let at = 0; next !== null;) {
    const bytes = await next;
    at += bytes.length;
    next = at < file.size ? read(file, at) : null;
    write(bytes);
    check(fyke.fyke_feed(bytes.length));
    if (performance.now() - last >= PAUSE) {
      postMessage({ report: report() });
      last = performance.now();
    }
  }
  postMessage({ report: report(), done: true });
}

function explain(error) {
  if (error instanceof WebAssembly.RuntimeError) return `the search failed, perhaps for want of memory: ${error.message}`;
  if (error.name === "NotReadableError" || error.name === "NotFoundError") return "the file cannot be read: it changed, or it is a folder";
  return error.message;
}

onmessage = ({ data }) => search(data).catch((error) => postMessage({ error: explain(error) }));
