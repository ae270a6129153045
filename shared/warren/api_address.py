"""Where the API is reached from its own machine: for settings, and for commands that need no other
setting.
"""

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8000
_ALL_ADDRESSES = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}


def api_address(host: str = DEFAULT_HOST, port: int = DEFAULT_PORT, *, tls: bool = False) -> str:
    """`host`: that it listens on."""
    reached = _ALL_ADDRESSES.get(host, host)
    return f"{'https' if tls else 'http'}://{f'[{reached}]' if ':' in reached else reached}:{port}"
