"""Cookies as they are set: out of reach of scripts, of other sites and, over https, of others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Jar:
    """Names and attributes. Over https names say that no other host has set the cookie
    (`__Host-`), which binds them to the path `/`.
    """

    is_https: bool

    def name(self, plain: str, path: str = "/") -> str:
        if not self.is_https:
            return plain
        return f"__Host-{plain}" if path == "/" else f"__Secure-{plain}"

    def set(self, plain: str, value: str, seconds: int, path: str = "/") -> str:
        """The value of Set-Cookie."""
        secure = "; Secure" if self.is_https else ""
        name = self.name(plain, path)
        return f"{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"

    def remove(self, plain: str, path: str = "/") -> str:
        return self.set(plain, "", 0, path)
