"""An object store in memory, which counts the requests of S3 that it gets."""

import hashlib
import http.server
import os
import re
import sys
import threading
import urllib.parse
from unittest import mock
from xml.sax.saxutils import escape

TIME = "Wed, 21 Oct 2015 07:28:00 GMT"


class FakeStore:
    """Serves one bucket, "bucket", at `url` until `close`. Checks no signatures."""

    def __init__(self):
        self.objects = {}
        self.unanswered = None  # a part of the names of objects whose puts get no answer
        self.requests = []  # such as "GET weather.b2d/embed.b2e/chunks.b2frame"
        self.lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @classmethod
    def serving(cls, add_cleanup):
        """Returns a store that S3 clients of this process and its children find until the cleanup."""
        store = cls()
        add_cleanup(store.close)
        settings = {"AWS_ENDPOINT_URL": store.url, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
                    "AWS_REGION": "us-east-1"}  # fmt: skip
        environment = mock.patch.dict(os.environ, settings)
        environment.start()
        add_cleanup(environment.stop)
        return store

    def taken(self):
        """Returns the requests since the last call."""
        with self.lock:
            taken, self.requests = self.requests, []
        return taken

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # clients may be gone before the answer
            super().handle_error(request, client_address)


def _etag_of(content):
    return f'"{hashlib.md5(content).hexdigest()}"'


def _handler_of(store):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # small answers would take 40 ms

        def log_message(self, *words):
            pass

        def date_time_string(self, timestamp=None):
            return TIME

        def serve(self):
            path, _, query = self.path.partition("?")
            name = urllib.parse.unquote(path.removeprefix("/bucket").removeprefix("/"))
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if store.unanswered is not None and self.command == "PUT" and store.unanswered in name:
                self.close_connection = True
                return
            with store.lock:
                kind = "LIST" if self.command == "GET" and not name else self.command
                options = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
                store.requests.append(f"{kind} {name or options.get('prefix', '')}")
                status, headers, content = getattr(self, "on_" + kind.lower())(name, options, body)
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            if status != 204:
                self.send_header("Content-Length", headers.get("Size", str(len(content))))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_HEAD = do_PUT = do_DELETE = do_POST = serve

        def failed(self, status, code):
            return status, {}, f"<Error><Code>{code}</Code><Message>as the test wants</Message></Error>".encode()

        def on_get(self, name, options, body):
            content = store.objects.get(name)
            if content is None:
                return self.failed(404, "NoSuchKey")
            headers = {"ETag": _etag_of(content), "Last-Modified": TIME, "Accept-Ranges": "bytes"}
            if self.headers.get("If-Match", headers["ETag"]) != headers["ETag"]:
                return self.failed(412, "PreconditionFailed")
            asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            if asked is None:
                return 200, headers, content
            begin, end = int(asked[1]), min(int(asked[2] or len(content)) + 1, len(content))
            if begin >= len(content):
                return self.failed(416, "InvalidRange")
            headers["Content-Range"] = f"bytes {begin}-{end - 1}/{len(content)}"
            return 206, headers, content[begin:end]

        def on_head(self, name, options, body):
            return self.on_get(name, options, body)

        def on_put(self, name, options, body):
            there = store.objects.get(name)
            match = self.headers.get("If-Match")
            is_refused = there is not None if "If-None-Match" in self.headers else False
            if match is not None:
                is_refused = there is None or match != _etag_of(there)
            if is_refused:
                return self.failed(412, "PreconditionFailed")
            store.objects[name] = body
            return 200, {"ETag": _etag_of(body)}, b""

        def on_delete(self, name, options, body):
            store.objects.pop(name, None)
            return 204, {}, b""

        def on_post(self, name, options, body):
            for key in re.findall(r"<Key>(.*?)</Key>", body.decode()):
                store.objects.pop(key, None)
            return 200, {}, b"<DeleteResult></DeleteResult>"

        def on_list(self, name, options, body):
            prefix, after = options.get("prefix", ""), options.get("start-after", "")
            found = sorted(one for one in store.objects if one.startswith(prefix) and one > after)
            most = int(options.get("max-keys", 1000))
            listed = "".join(
                f"<Contents><Key>{escape(one)}</Key><Size>{len(store.objects[one])}</Size>"
                f"<ETag>{escape(_etag_of(store.objects[one]))}</ETag>"
                "<LastModified>2015-10-21T07:28:00.000Z</LastModified></Contents>"
                for one in found[:most]
            )
            more = str(len(found) > most).lower()
            return 200, {}, f"<ListBucketResult><IsTruncated>{more}</IsTruncated>{listed}</ListBucketResult>".encode()

    return Handler
