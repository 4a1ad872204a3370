// What a user does, and what he sees then: see browser.rs.

const MIB = 2 ** 20;

// Drops a file and waits until it is searched, or for `until`.
async function drop(bytes, name, until = () => false) {
  const transfer = new DataTransfer();
  transfer.items.add(new File(bytes, name));
  delete document.body.dataset.done;
  const texts = new Set();
  let [ticks, longest, last] = [0, 0, performance.now()];
  dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
  while (document.body.dataset.done === undefined && $("error").hidden && !until()) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    ticks += 1;
    texts.add($("total").textContent);
  }
  // The bytes around the matches are read after the search.
  await new Promise((resolve) => setTimeout(resolve, 300));
  return { ticks, longest, drawn: texts.size, ...saw() };
}

function saw() {
  const texts = (rows) => [...rows.rows].map((row) => [...row.cells].map((cell) => cell.textContent));
  return {
    error: $("error").hidden ? "" : $("error").textContent,
    state: $("state").textContent,
    total: $("total").textContent,
    counts: texts($("counts")),
    starts: texts($("hits")).map(([start]) => Number(start.replaceAll(",", ""))),
    marks: [...document.querySelectorAll("mark")].map((mark) => mark.textContent),
    bars: bars(),
  };
}

// Groups of painted columns of the strip.
function bars() {
  const { width, height } = $("map");
  if (width === 0) return 0;
  const pixels = $("map").getContext("2d").getImageData(0, height - 1, width, 1).data;
  let groups = 0;
  for (let x = 0; x < width; x++) {
    if (pixels[4 * x + 3] > 0 && (x === 0 || pixels[4 * (x - 1) + 3] === 0)) groups += 1;
  }
  return groups;
}

function want(patterns, format = "0", nocase = false) {
  $("patterns").value = patterns;
  $("format").value = format;
  $("nocase").checked = nocase;
}

// A file with these texts at these positions, and no others.
function filled(size, ...texts) {
  const bytes = new Uint8Array(size).fill(46);
  for (const [at, text] of texts) bytes.set(new TextEncoder().encode(text), at);
  return bytes;
}

// More than 2 GiB, of parts that the browser keeps once.
function large() {
  const part = new Blob([filled(MIB, [MIB - 20, "needle"])]);
  return [...Array(2048).fill(part), filled(20, [7, "needle"])];
}

async function all() {
  const seen = {};
  want("needle\nstraw\n<b>");
  const across = [[0, "needle"], [4 * MIB - 3, "needle"], [8 * MIB - 3, "needle"], [8 * MIB + 100, "<b>"]];
  seen.small = await drop([filled(9 * MIB, ...across)], "small");
  want("NEEdle", "0", true);
  seen.nocase = await drop([filled(100, [50, "nEEDLE"])], "nocase");
  want("2e 2E", "1");
  seen.hex = await drop([filled(3)], "hex");
  want("x");
  seen.empty = await drop([], "empty");
  want("61\n6g", "1");
  seen.bad = await drop([filled(3)], "bad");
  want("");
  seen.none = await drop([filled(3)], "none");
  want("needle\nstraw\nhaystack");
  seen.large = await drop(large(), "large");
  // Only the first matches are listed.
  seen.large.last = latest.columns.at(-1);
  seen.stopped = await drop(large(), "stopped", () => {
    if (!$("progress").hidden) $("stop").click();
    return worker === null;
  });
  return seen;
}

all().catch((error) => ({ problem: error.stack })).then((seen) => fetch(`http://127.0.0.1:${PORT}/`, { method: "POST", mode: "no-cors", body: JSON.stringify(seen) }));
