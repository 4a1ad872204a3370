"""An HTTP server of objects, with ETags, ranges, and a client that it can kill."""

import contextlib
import http.server
import os
import pathlib
import re
import signal
import threading


class Server(http.server.ThreadingHTTPServer):
    """Serves `contents`, by path. Whoever first reads an object in `deadly` dies of it."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.contents = {}
        self.deadly = set()
        self.killed = 0
        self.ranges = []

    def uri(self, path):
        return f"http://127.0.0.1:{self.server_port}{path}"

    def handle_error(self, request, client_address):
        """Clients that die close their connections."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.answer(with_body=False)

    def do_GET(self):
        self.answer(with_body=True)

    def answer(self, with_body):
        body = self.server.contents.get(self.path)
        if body is None:
            return self.head(404, 0)
        etag = f'"{hash(body)}"'
        wanted = self.headers.get("If-Match")
        if wanted is not None and wanted != etag:
            return self.head(412, 0)
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        lo, hi = (int(found[1]), int(found[2]) + 1) if found else (0, len(body))
        part = body[lo:hi]
        extra = {"ETag": etag, "Last-Modified": "Wed, 25 Nov 2026 00:00:00 GMT"}
        if found:
            extra["Content-Range"] = f"bytes {lo}-{lo + len(part) - 1}/{len(body)}"
        self.head(206 if found else 200, len(part), extra)
        if with_body:
            self.server.ranges.append((self.path, lo, hi))
            self.send(part)

    def send(self, part):
        if self.path not in self.server.deadly:
            self.wfile.write(part)
            return
        self.server.deadly.discard(self.path)
        self.wfile.write(part[: len(part) // 2])
        self.wfile.flush()
        os.kill(process_of(self.client_address[1]), signal.SIGKILL)
        self.server.killed += 1
        self.close_connection = True

    def head(self, status, length, extra=()):
        self.send_response(status)
        for name, value in dict(extra).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, *_):
        """Nothing is printed."""


def process_of(port):
    """The process of this machine whose connection has a local port."""
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if int(fields[1].rpartition(":")[2], 16) == port:
            socket = f"socket:[{fields[9]}]"
            break
    else:
        raise LookupError(f"no connection has port {port}")
    for file in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if os.readlink(file) == socket:
                return int(file.parts[2])
    raise LookupError(f"no process has port {port}")


@contextlib.contextmanager
def serving():
    """A server that runs."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
