"""A search engine that answers every request at once: `python -m loadtest.null_server K`.

It listens on a free port of 127.0.0.1, prints the port, and ends when its stdin closes, so that
it never outlives the process that started it.
"""

from __future__ import annotations

import asyncio
import re
import signal
import sys

from loadtest.null import canned_reply

END_OF_HEADERS = b"\r\n\r\n"
CONTENT_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Answer(asyncio.Protocol):
    """Sends the canned reply for every whole request that arrives."""

    def __init__(self, reply: bytes) -> None:
        self._reply = reply
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection to answer on."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each request that is now whole."""
        self._received += data
        while (end := self._received.find(END_OF_HEADERS)) >= 0:
            found = CONTENT_LENGTH.search(self._received, 0, end)
            whole = end + len(END_OF_HEADERS) + (int(found[1]) if found else 0)
            if len(self._received) < whole:
                return
            del self._received[:whole]
            self._transport.write(self._reply)


def http_reply(body: bytes) -> bytes:
    """A whole HTTP answer with this JSON body."""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    return head.encode() + END_OF_HEADERS + body


async def serve(k: int) -> None:
    """Answer until stdin closes."""
    loop = asyncio.get_running_loop()
    reply = http_reply(canned_reply(k))
    server = await loop.create_server(lambda: Answer(reply), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    closed = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(closed), sys.stdin)
    await closed.read()
    server.close()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    asyncio.run(serve(int(sys.argv[1])))
