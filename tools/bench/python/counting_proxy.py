"""A proxy before an object store, which counts requests and bytes and adds latency.

objects.py and cube_requests.py use it.
"""

import multiprocessing
import socket
import sys
import threading
import time
import urllib.parse


KINDS = ("GET", "LIST", "HEAD", "PUT", "POST", "DELETE", "other")  # of requests


class Counts:
    """What the proxy shares with the script."""

    def __init__(self):
        self.requests = multiprocessing.Value("q")
        self.kinds = {kind: multiprocessing.Value("q") for kind in KINDS}
        self.sent = multiprocessing.Value("q")
        self.received = multiprocessing.Value("q")
        self.latency = multiprocessing.Value("d")

    @staticmethod
    def add(counter, number):
        with counter.get_lock():
            counter.value += number

    def read(self):
        return self.requests.value, self.sent.value + self.received.value

    def read_kinds(self):
        return {kind: counter.value for kind, counter in self.kinds.items()}


def kind_of(line):
    """Returns the kind of the request that begins with this line. A listing is a GET with such a query."""
    method, _, rest = line.decode("latin-1").partition(" ")
    query = rest.partition("?")[2]
    if method == "GET" and ("list-type=" in query or "prefix=" in query):
        return "LIST"
    return method if method in KINDS else "other"


class Ended(Exception):
    """A side has closed the connection."""


def pass_answers(client, server, counts):
    try:
        while data := server.recv(1 << 18):
            client.sendall(data)
            counts.add(counts.received, len(data))
    except OSError:
        pass
    for end in (client, server):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def pass_request(reader, server, counts):
    """The next request, its body too."""

    def line():
        found = reader.readline()
        if not found.endswith(b"\n"):
            raise Ended
        return found

    def pass_on(data):
        server.sendall(data)
        counts.add(counts.sent, len(data))

    def pass_body(size):
        while size > 0:
            data = reader.read1(min(size, 1 << 18))
            if not data:
                raise Ended
            pass_on(data)
            size -= len(data)

    head = [line()]
    while head[-1] != b"\r\n":
        head.append(line())
    fields = dict(field.lower().strip().split(b":", 1) for field in head[1:-1])
    counts.add(counts.requests, 1)
    counts.add(counts.kinds[kind_of(head[0])], 1)
    time.sleep(counts.latency.value)
    pass_on(b"".join(head))
    if b"chunked" in fields.get(b"transfer-encoding", b""):
        while True:
            size = line()
            pass_on(size)
            if int(size.split(b";")[0], 16) == 0:
                break
            pass_body(int(size.split(b";")[0], 16) + 2)
        while (trailer := line()) != b"\r\n":
            pass_on(trailer)
        pass_on(b"\r\n")
    else:
        pass_body(int(fields.get(b"content-length", b"0")))


def pass_requests(client, to, counts):
    server = socket.create_connection(to)
    for end in (client, server):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=pass_answers, args=(client, server, counts), daemon=True).start()
    reader = client.makefile("rb")
    try:
        while True:
            pass_request(reader, server, counts)
    except (Ended, OSError):
        # The answers end, and close what is left.
        try:
            server.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def serve(listener, to, counts):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=pass_requests, args=(client, to, counts), daemon=True).start()


class Proxy:
    def __init__(self, endpoint):
        parts = urllib.parse.urlsplit(endpoint)
        if parts.scheme != "http":
            sys.exit(f"the proxy goes to http:// endpoints, not to {endpoint}")
        self.counts = Counts()
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.process = multiprocessing.get_context("fork").Process(
            target=serve, args=(listener, (parts.hostname, parts.port or 80), self.counts), daemon=True
        )
        self.process.start()
