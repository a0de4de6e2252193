# SPDX-License-Identifier: GPL-2.0
"""Host side of the network traffic: a server on the loopback interface.

The guest reaches it through QEMU's user network. Its first line says what it
wants: "get NAME" is answered with the data of `payload`, "put NAME LENGTH" is
followed by that many bytes and answered with "done LENGTH". What came is kept
as `received[NAME] = (bytes, md5)`.
"""

import hashlib
import socketserver
import threading


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, payload):
        super().__init__(("127.0.0.1", 0), Handler)
        self.payload = payload
        self.received = {}
        self.port = self.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(socketserver.StreamRequestHandler):
    timeout = 120

    def handle(self):
        try:
            words = self.rfile.readline().decode().split()
            if words[:1] == ["get"]:
                self.wfile.write(self.server.payload)
            elif words[:1] == ["put"]:
                self.take(words[1], int(words[2]))
        except OSError:
            pass    # a guest that goes away shows in what it did not say

    def take(self, name, length):
        digest = hashlib.md5()
        left = length
        while left:
            data = self.rfile.read(min(left, 1 << 16))
            if not data:
                break
            digest.update(data)
            left -= len(data)
        self.server.received[name] = (length - left, digest.hexdigest())
        self.wfile.write(b"done %d\n" % (length - left))
