"""A server of objects behind HTTP: the files of a folder, whole or by ranges.

    python benchmarks/http_objects.py FOLDER PORT
"""

from __future__ import annotations

import http.server
import mmap
import pathlib
import re
import sys
import threading
import time

# Bytes that are written at a time.
PIECE = 1 << 20


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers requests of a `Server`."""

    protocol_version = "HTTP/1.1"

    def answer(self, send):
        with (self.server.folder / pathlib.PurePosixPath(self.path).name).open("rb") as file:
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        lo, hi = (int(found[1]), int(found[2]) + 1) if found else (0, len(whole))
        self.send_response(206 if found else 200)
        self.send_header("ETag", f'"{len(whole)}"')
        self.send_header("Last-Modified", "Wed, 25 Nov 2026 00:00:00 GMT")
        self.send_header("Content-Length", str(hi - lo))
        if found:
            self.send_header("Content-Range", f"bytes {lo}-{hi - 1}/{len(whole)}")
        self.end_headers()
        if send:
            self.send(whole, lo, hi)

    def send(self, whole, lo, hi):
        start, rate = time.perf_counter(), self.server.rate
        for at in range(lo, hi, PIECE):
            self.wfile.write(whole[at : min(at + PIECE, hi)])
            if rate is not None:
                due = start + (at + PIECE - lo) / rate
                time.sleep(max(due - time.perf_counter(), 0))

    def do_HEAD(self):
        self.answer(send=False)

    def do_GET(self):
        self.answer(send=True)

    def log_message(self, *_):
        """Nothing is printed."""


class Server(http.server.ThreadingHTTPServer):
    """Serves a folder, each connection at `rate` bytes per second, or as fast as it can."""

    daemon_threads = True
    # Each task opens connections: a short queue would make some wait for seconds.
    request_queue_size = 128

    def __init__(self, folder, rate=None, host="127.0.0.1", port=0):
        super().__init__((host, port), Handler)
        self.folder, self.rate = pathlib.Path(folder), rate

    def start(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def handle_error(self, request, client_address):
        """Clients that are killed close their connections."""


if __name__ == "__main__":
    Server(sys.argv[1], host="0.0.0.0", port=int(sys.argv[2])).serve_forever()
