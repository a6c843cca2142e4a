"""Cost of our client: `python tests/benchmarks/bench_client.py [REQUESTS [K]]`.

One user in a closed loop against a server that answers at once, by turns over a raw socket, over
the connections of the load process, and through a whole searcher with its parsing, all in one
process. Prints p50 of each in µs, and what each needs above the raw socket.
"""

from __future__ import annotations

import os
import socket
import sys
from time import perf_counter

from loadtest.process import QUIET

os.environ.update(QUIET)  # the load process's own, before gevent reads it

import numpy as np

from indexers.address import address
from indexers.backends._engine_search import EngineSearcher
from loadtest.asker import Asker
from loadtest.opening import http_to
from loadtest.profile import LoadProfile
from loadtest.runner import _null_server
from loadtest.tally import Tally

TURN = 50
PROFILE = LoadProfile(rate_per_s=1.0, users=1)
GOAL_US = 150


class Raw:
    """The same exchange over a socket of the system, every byte of the reply read."""

    def __init__(self, host: str, port: int, request: bytes) -> None:
        self._socket = socket.create_connection((host, port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._request = request
        self._length = 0

    def __call__(self, _: int) -> None:
        self._socket.sendall(self._request)
        received = self._socket.recv(65536)
        if not self._length:
            head = received.partition(b"\r\n\r\n")[0]
            size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            self._length = len(head) + 4 + size
        while len(received) < self._length:
            received += self._socket.recv(65536)


class OneUser:
    """A crew of one."""

    remote = True

    def search(self, searcher, query):
        return searcher.search(query)

    def report(self, *_):
        pass


def main(requests: int, k: int) -> None:
    query = b'{"bool":{"filter":{"terms":{"h12":["0:%b"]}}}}' % b'","1:'.join([b"abc"] * 50)
    body = b'{"size":%d,"query":%b}' % (k, query)
    with _null_server(k) as url:
        host, port = url.removeprefix("http://").split(":")
        http = http_to(address("opensearch", url), PROFILE)
        ids = [str(n) for n in range(k)]
        searcher = EngineSearcher("null", [body] * TURN, ids, http, lambda: None)
        request = searcher.request(0)
        head = (
            f"POST {request.target} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: {len(body)}"
        )
        raw = Raw(host, int(port), head.encode() + b"\r\n\r\n" + body)
        asker = Asker(OneUser(), searcher, PROFILE, Tally(TURN, k))
        ways = {
            "raw socket": raw,
            "connections": lambda n: http(searcher.request(n)),
            "searcher": searcher.search,
            "asked and tallied": asker.ask,
        }
        times = {name: [] for name in ways}
        for turn in range(2 + requests // TURN):
            for name, ask in ways.items():
                for n in range(TURN):
                    began = perf_counter()
                    ask(n)
                    took = perf_counter() - began
                    if turn >= 2:  # the first ones warm up
                        times[name].append(took)
    p50 = {name: 1e6 * float(np.median(values)) for name, values in times.items()}
    print(f"{'':20}{'p50 µs':>9}{'above':>9}   k={k}, {len(times['searcher'])} requests each")
    for name, value in p50.items():
        print(f"{name:20}{value:9.1f}{value - p50['raw socket']:9.1f}")
    above = p50["searcher"] - p50["raw socket"]
    print(
        f"goal: at most {GOAL_US} µs above a raw socket: {'met' if above <= GOAL_US else 'MISSED'}"
    )


if __name__ == "__main__":
    main(*(int(n) for n in (sys.argv[1:] + ["3000", "10"][len(sys.argv) - 1 :])))
