"""What all bodies of Burrow's API have in common, and the simple ones: lists and errors.

Names, types, messages and key order are those of Burrow 1.9.5
(linkedin/Burrow, core/internal/httpserver/structs.go).
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any

Body = dict[str, Any]


def request_info(path: str) -> Body:
    """`path` as the client meant it, that is decoded."""
    return {"url": path, "host": socket.gethostname()}


def error(message: str, path: str) -> Body:
    return {"error": True, "message": message, "request": request_info(path)}


def done(message: str, path: str) -> Body:
    """Something was done and there is nothing to return."""
    return {"error": False, "message": message, "request": request_info(path)}


def answer(message: str, path: str, **content: Any) -> Body:
    """Content stands between the message and the request."""
    return {"error": False, "message": message, **content, "request": request_info(path)}


def module_list(coordinator: str, modules: Sequence[str], path: str) -> Body:
    return {
        "error": False,
        "message": "module list returned",
        "request": request_info(path),
        "coordinator": coordinator,
        "modules": list(modules),
    }


def module_detail(coordinator: str, module: Body, path: str) -> Body:
    return answer(f"{coordinator} module detail returned", path, module=module)
