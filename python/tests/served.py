"""An HTTP server of objects, with ETags, ranges, and a client that it can kill.

It also lists objects as GCS and Azure do, and takes new ones.
"""

import contextlib
import http.server
import os
import pathlib
import re
import signal
import threading
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

CHANGED = "Wed, 25 Nov 2026 00:00:00 GMT"

GCS_LIST = "<ListBucketResult>{}</ListBucketResult>"
GCS_OBJECT = (
    "<Contents><Key>{}</Key><Size>{}</Size><ETag>&quot;{}&quot;</ETag>"
    "<LastModified>2026-11-25T00:00:00.000Z</LastModified></Contents>"
)

# Azure lists ETags without their quotes.
AZURE_LIST = "<EnumerationResults><Blobs>{}</Blobs><NextMarker/></EnumerationResults>"
AZURE_OBJECT = (
    "<Blob><Name>{}</Name><Properties><Content-Length>{}</Content-Length><Etag>{}</Etag>"
    f"<Last-Modified>{CHANGED}</Last-Modified><Content-Type>text/plain</Content-Type>"
    "</Properties></Blob>"
)


class Server(http.server.ThreadingHTTPServer):
    """Serves `contents`, by path, except those in `refused`.

    Whoever first reads an object in `deadly` dies of it.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.contents = {}
        self.refused = set()
        self.deadly = set()
        self.killed = 0
        self.ranges = []

    def uri(self, path):
        return f"http://127.0.0.1:{self.server_port}{quote(path)}"

    def handle_error(self, request, client_address):
        """Clients that die close their connections."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.answer(with_body=False)

    def do_GET(self):
        asked = {name: value[0] for name, value in parse_qs(urlsplit(self.path).query).items()}
        if "list-type" in asked or asked.get("comp") == "list":
            self.listing(asked)
        else:
            self.answer(with_body=True)

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.contents[self.name] = body
        self.head(201, 0, {"ETag": f'"{hash(body)}"', "Last-Modified": CHANGED})

    @property
    def name(self):
        return unquote(urlsplit(self.path).path)

    def listing(self, asked):
        """The objects of a bucket or container, as XML."""
        is_azure = "comp" in asked
        bucket = self.name.rstrip("/") + "/"
        prefix = bucket + asked.get("prefix", "")
        parts = []
        # No store promises an order of names.
        for name, body in reversed(self.server.contents.items()):
            if name.startswith(prefix):
                fields = (escape(name.removeprefix(bucket)), len(body), hash(body))
                parts.append((AZURE_OBJECT if is_azure else GCS_OBJECT).format(*fields))
        form = AZURE_LIST if is_azure else GCS_LIST
        text = form.format("".join(parts)).encode()
        self.head(200, len(text))
        self.wfile.write(text)

    def answer(self, with_body):
        body = self.server.contents.get(self.name)
        if body is None:
            return self.head(404, 0)
        if self.name in self.server.refused:
            return self.head(403, 0)
        etag = f'"{hash(body)}"'
        wanted = self.headers.get("If-Match")
        if wanted is not None and wanted != etag:
            return self.head(412, 0)
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        lo, hi = (int(found[1]), int(found[2]) + 1) if found else (0, len(body))
        part = body[lo:hi]
        extra = {"ETag": etag, "Last-Modified": CHANGED}
        if found:
            extra["Content-Range"] = f"bytes {lo}-{lo + len(part) - 1}/{len(body)}"
        self.head(206 if found else 200, len(part), extra)
        if with_body:
            self.server.ranges.append((self.name, lo, hi))
            self.send(part)

    def send(self, part):
        if self.name not in self.server.deadly:
            self.wfile.write(part)
            return
        self.server.deadly.discard(self.name)
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
