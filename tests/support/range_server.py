"""A web server that answers requests for ranges of the files in a folder."""

import hashlib
import http.server
import os
import re
import threading
import urllib.parse


class _Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self._answer(with_body=False)

    def do_GET(self):
        self._answer(with_body=True)

    def _answer(self, with_body):
        path = os.path.join(self.server.folder, os.path.basename(urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)))
        self.server.requests.append(f"{self.command} {self.path}")
        if not os.path.isfile(path):
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        with open(path, "rb") as file:
            content = file.read()
        begin, end, status = 0, len(content), 200
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if asked:
            status = 206
            first, last = asked.groups()
            begin = int(first) if first else max(len(content) - int(last), 0)
            end = min(int(last) + 1, len(content)) if first and last else len(content)
            if begin >= end:
                status = 416
        self.send_response(status)
        if status == 416:
            self.send_header("Content-Range", f"bytes */{len(content)}")
            begin = end = 0
        elif status == 206:
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("Content-Length", str(end - begin))
        self.end_headers()
        if with_body:
            self.wfile.write(content[begin:end])

    def log_message(self, format, *args):
        pass


class RangeServer:
    """Serves `folder` at `url` until it is closed; `requests` are those so far."""

    def __init__(self, folder):
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
        self._server.daemon_threads = True
        self._server.folder = folder
        self._server.requests = self.requests = []
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
