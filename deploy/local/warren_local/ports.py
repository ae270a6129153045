"""TCP ports of this machine."""

import random
import socket
from dataclasses import dataclass

from warren_local.errors import StartRefused

HOST = "127.0.0.1"
# Below the range from which systems take ports for outgoing connections (32768 on Linux, 49152
# elsewhere): a port that is free now is not taken by somebody's client a moment later.
LOWEST, HIGHEST = 20_000, 32_000


@dataclass(frozen=True, slots=True)
class Port:
    """A port that is needed, and how another one is chosen."""

    number: int
    purpose: str
    flag: str
    variable: str

    def require_free(self) -> None:
        """Raise StartRefused when something listens on it."""
        if not is_free(self.number):
            raise StartRefused(
                f"port {self.number} for {self.purpose} is taken by another program: "
                f"choose another one with {self.flag} or {self.variable}"
            )


def is_free(port: int) -> bool:
    """Whether a server could listen on the port of the loopback address."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        # As servers do: connections of a server that just ended do not count.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
            listener.listen(1)
        except OSError:
            return False
    return True


_given: set[int] = set()


def free_port() -> int:
    """A port that nothing listens on, and that this process was not given before."""
    candidates = random.SystemRandom().sample(range(LOWEST, HIGHEST), 200)
    port = next(port for port in candidates if port not in _given and is_free(port))
    _given.add(port)
    return port


def accepts_connections(port: int) -> bool:
    """Whether something listens on the port of the loopback address."""
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True
