"""A proxy that counts the network traffic between git and a server."""
import socket, threading, time
from contextlib import suppress

from sandbox import run

class Wire:
    """A proxy between git and a server that counts bytes, connections and round trips. A round trip is a message of
    the client after one of the server."""

    def __init__(self, port):
        self.port, self.lock = port, threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.near = self.listener.getsockname()[1]
        self.url = f"git://127.0.0.1:{self.near}"
        self.reset()
        threading.Thread(target=self.accept, daemon=True).start()

    def reset(self): self.sent = self.received = self.connections = self.turns = 0

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.port))
            self.connections += 1
            spoken = [None]
            for source, sink, isClient in ((client, server, True), (server, client, False)):
                threading.Thread(target=self.pump, args=(source, sink, isClient, spoken), daemon=True).start()

    def pump(self, source, sink, isClient, spoken):
        while part := source.recv(1 << 16):
            with self.lock:
                if isClient:
                    self.sent += len(part)
                    self.turns += spoken[0] != isClient
                else:
                    self.received += len(part)
                spoken[0] = isClient
            sink.sendall(part)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def counted(self, argv, clock):
        self.reset()
        run(argv, clock)
        time.sleep(0.1)
        return self.connections, self.turns, self.sent, self.received
