"""A relay before a real server that cuts connections now and then, as networks do."""

import contextlib
import socket
import struct
import threading

AT_ONCE = struct.pack("ii", 1, 0)  # closing sends a reset


class ResettingProxy:
    """Listens on 127.0.0.1 and relays to the server at a URL.

    Args:
        url: of the server.
        cut: bytes of a request -> None to relay it, "before" to cut its connection in place of
            sending it, or "after" to send it and cut before its answer.
    """

    def __init__(self, url, cut):
        host, _, port = url.removeprefix("http://").partition(":")
        self._to, self._cut = (host, int(port)), cut
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def stop(self):
        self._listening.close()

    def _listen(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client):
        with contextlib.suppress(OSError), client, socket.create_connection(self._to) as server:
            doomed = threading.Event()
            back = threading.Thread(target=self._answers, args=(server, client, doomed))
            back.daemon = True
            back.start()
            while data := client.recv(1 << 16):
                how = self._cut(data)
                if how == "after":
                    doomed.set()
                elif how == "before":
                    break
                server.sendall(data)
            self._close(client)

    def _answers(self, server, client, doomed):
        with contextlib.suppress(OSError):
            while data := server.recv(1 << 16):
                if doomed.is_set():
                    break
                client.sendall(data)
        self._close(client)

    @staticmethod
    def _close(client):
        with contextlib.suppress(OSError):
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            client.shutdown(socket.SHUT_RDWR)
        client.close()
