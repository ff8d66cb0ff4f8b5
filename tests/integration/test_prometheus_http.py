"""The manners of the metrics server, over raw sockets: what a strict or a hostile client gets."""

from __future__ import annotations

import gzip
import os
import socket
import struct
import subprocess
import sys
import threading
import time

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from workflow import metrics, profiling

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


class Answer:
    def __init__(self, raw: bytes) -> None:
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.version, status, self.reason = lines[0].split(" ", 2)
        self.status = int(status)
        self.fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}


class RawClient:
    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.buffer = b""

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def answer(self, body: bool = True) -> Answer:
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head_size = self.buffer.index(b"\r\n\r\n") + 4
        answer = Answer(self.buffer[:head_size])
        size = head_size + (int(answer.fields.get("content-length", 0)) if body else 0)
        while len(self.buffer) < size:
            self._more()
        answer = Answer(self.buffer[:size])
        self.buffer = self.buffer[size:]
        return answer

    def rest(self) -> bytes:
        while chunk := self.socket.recv(65536):
            self.buffer += chunk
        return self.buffer

    def _more(self) -> None:
        chunk = self.socket.recv(65536)
        assert chunk, f"closed after {self.buffer!r}"
        self.buffer += chunk


@pytest.fixture(scope="module")
def server():
    metrics.Counter("http_rows", "Rows.").inc()
    with profiling.start_http_server() as running:
        yield running


def ask(server, request: str, *fields: str, body: bool = True) -> Answer:
    client = RawClient(server.port)
    client.send("\r\n".join([request, "Host: localhost", *fields, "", ""]).encode("latin-1"))
    return client.answer(body)


GET = "GET /metrics HTTP/1.1"

NEGOTIATION = [
    ("", TEXT),
    ("Accept: */*", TEXT),
    ("Accept: text/html,application/xhtml+xml,*/*;q=0.8", TEXT),
    ("Accept: text/html", TEXT),
    ("Accept: application/openmetrics-text", OPENMETRICS),
    ("Accept: application/openmetrics-text;version=1.0.0,*/*;q=0.1", OPENMETRICS),
    ("Accept: application/openmetrics-text;q=0.3,text/plain;q=0.9", TEXT),
    ("Accept: application/openmetrics-text;q=0.9,text/plain;q=0.3", OPENMETRICS),
    ("Accept: application/openmetrics-text;q=0,*/*", TEXT),
    ("Accept: application/openmetrics-text;version=9.0.0,text/plain;q=0.1", TEXT),
]


@pytest.mark.parametrize(("field", "content_type"), NEGOTIATION)
def test_accept_decides_on_the_format(server, field, content_type):
    answer = ask(server, GET, *([field] if field else []))
    assert (answer.version, answer.status) == ("HTTP/1.1", 200)
    assert answer.fields["content-type"] == content_type
    assert int(answer.fields["content-length"]) == len(answer.body)
    assert "Accept" in answer.fields["vary"]
    parse = parse_openmetrics if content_type == OPENMETRICS else parse_text
    assert any(family.name == "http_rows" for family in parse(answer.body.decode()))
    assert answer.body.endswith(b"# EOF\n") == (content_type == OPENMETRICS)


ENCODINGS = [
    ("gzip", True),
    ("gzip;q=1.0, identity;q=0.5, *;q=0", True),
    ("deflate, br, gzip", True),
    ("*", True),
    ("gzip;q=0", False),
    ("gzip;q=0.2, identity;q=0.8", False),
    ("identity", False),
    ("br", False),
]


@pytest.mark.parametrize(("accepted", "zipped"), ENCODINGS)
def test_gzip_only_when_wanted_and_header_and_body_agree(server, accepted, zipped):
    answer = ask(server, GET, f"Accept-Encoding: {accepted}")
    assert answer.fields.get("content-encoding") == ("gzip" if zipped else None)
    page = gzip.decompress(answer.body) if zipped else answer.body
    assert b"http_rows_total 1\n" in page


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_head_is_the_head_of_get(server, encoding):
    get = ask(server, "GET /healthz HTTP/1.1", f"Accept-Encoding: {encoding}")
    client = RawClient(server.port)
    client.send(
        f"HEAD /healthz HTTP/1.1\r\nHost: h\r\nAccept-Encoding: {encoding}\r\nConnection: close\r\n\r\n".encode()
    )
    raw = client.rest()
    head = Answer(raw)
    assert raw.endswith(b"\r\n\r\n")
    for volatile in ("date", "connection"):
        get.fields.pop(volatile)
        head.fields.pop(volatile)
    assert head.fields == get.fields


REFUSALS = [
    ("DELETE /metrics HTTP/1.1", [], 405),
    ("POST /metrics HTTP/1.1", ["Content-Length: 0"], 405),
    ("BREW /metrics HTTP/1.1", [], 405),
    ("GET /nope HTTP/1.1", [], 404),
    ("GET / HTTP/1.1", [], 404),
    ("GET /metrics/ HTTP/1.1", [], 404),
    ("GET /metrics", [], 400),
    ("GET /metrics HTTP/3.0", [], 505),
    ("G\x01T /metrics HTTP/1.1", [], 400),
    ("GET metrics HTTP/1.1", [], 400),
    ("GET /metrics HTTP/1.1", ["no colon"], 400),
    ("GET /metrics HTTP/1.1", ["Content-Length: x"], 400),
    ("PUT /metrics HTTP/1.1", ["Transfer-Encoding: chunked"], 411),
    ("PUT /metrics HTTP/1.1", ["Content-Length: 999999999999"], 413),
    ("GET /" + "a" * 10_000 + " HTTP/1.1", [], 414),
    ("GET /metrics HTTP/1.1", ["X: " + "a" * 40_000], 431),
]


@pytest.mark.parametrize(("request_line", "fields", "status"), REFUSALS, ids=range(len(REFUSALS)))
def test_refusals_have_the_right_status_and_say_why(server, request_line, fields, status):
    answer = ask(server, request_line, *fields)
    assert answer.status == status
    assert answer.body.strip()
    if status == 405:
        assert answer.fields["allow"] == "GET, HEAD, OPTIONS"


def test_host_is_required_in_http_1_1(server):
    client = RawClient(server.port)
    client.send(b"GET /metrics HTTP/1.1\r\n\r\n")
    assert client.answer().status == 400


def test_options_lists_the_methods(server):
    for path in ("/metrics", "*"):
        answer = ask(server, f"OPTIONS {path} HTTP/1.1")
        assert (answer.status, answer.fields["allow"], answer.body) == (204, "GET, HEAD, OPTIONS", b"")


def test_connection_is_kept_and_pipelined_requests_answered_in_order(server):
    client = RawClient(server.port)
    for _ in range(5):
        client.send(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
        answer = client.answer()
        assert (answer.body, answer.fields["connection"]) == (b"ok\n", "keep-alive")
    client.send(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\nGET /nope HTTP/1.1\r\nHost: h\r\n\r\n")
    assert [client.answer().status, client.answer().status] == [200, 404]


CLOSING = [b"GET /healthz HTTP/1.0\r\n\r\n", b"GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"]


@pytest.mark.parametrize("request_bytes", CLOSING)
def test_connection_is_closed_when_asked(server, request_bytes):
    client = RawClient(server.port)
    client.send(request_bytes)
    answer = Answer(client.rest())
    assert (answer.status, answer.fields["connection"], answer.body) == (200, "close", b"ok\n")


def test_query_and_absolute_form_are_taken(server):
    assert ask(server, "GET /metrics?name[]=x HTTP/1.1").status == 200
    assert ask(server, "GET http://example.test/healthz HTTP/1.1").body == b"ok\n"


def test_trickling_client_is_cut_off_and_holds_nobody_up(server):
    tricklers = [RawClient(server.port) for _ in range(20)]
    for trickler in tricklers:
        trickler.send(b"GET /metrics HTTP/1.1\r\nX: ")
    start = time.monotonic()
    one = tricklers[0].socket
    one.settimeout(0.2)
    answer = b""
    while time.monotonic() - start < 120 and not answer:
        assert ask(server, "GET /healthz HTTP/1.1").status == 200
        try:
            one.sendall(b"a")
            answer = one.recv(65536)
        except TimeoutError:
            continue
        except OSError:
            break
    assert answer == b"" or Answer(answer).status == 408
    assert 5 < time.monotonic() - start < 120


def test_clients_that_reset_in_mid_page_are_harmless(server):
    gauge = metrics.Gauge("http_wide", "Many.", ("id",))
    for number in range(20_000):
        gauge.labels(str(number)).set(number)
    for _ in range(20):
        client = RawClient(server.port)
        client.send(b"GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n")
        client.socket.recv(100)
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.socket.close()
    for number in range(20_000):
        gauge.remove(str(number))
    assert ask(server, "GET /healthz HTTP/1.1").status == 200


def test_threads_stay_bounded_under_many_clients(server):
    before = len(os.listdir("/proc/self/task"))
    clients = [RawClient(server.port) for _ in range(50)]
    for client in clients:
        client.send(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
    assert all(client.answer().status == 200 for client in clients)
    assert len(os.listdir("/proc/self/task")) == before


def test_many_scrapers_at_once(server):
    failures = []

    def scrape():
        for _ in range(20):
            answer = ask(server, GET)
            if answer.status != 200 or len(answer.body) != int(answer.fields["content-length"]):
                failures.append(answer.status)

    threads = [threading.Thread(target=scrape) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_second_process_on_the_port_is_told_who_has_it(server):
    script = f"from workflow import profiling\nprofiling.start_http_server({server.port})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert f"port {server.port} is in use by pid {os.getpid()}" in done.stderr
