"""Why nobody was logged in."""

from __future__ import annotations


class LoginFailed(Exception):
    """The text is for whoever wanted to log in; `detail` for the log."""

    def __init__(self, text: str, detail: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.detail = detail


class ProviderAway(LoginFailed):
    """The identity provider does not answer, or nothing that can be used."""

    def __init__(self, detail: str) -> None:
        super().__init__("The identity provider does not answer as it should.", detail)


class UnknownKey(Exception):
    """An ID token is signed with a key that was not published when keys were last read."""
