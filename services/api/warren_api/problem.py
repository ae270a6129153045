"""Errors of our own API: problem+json (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Mapping

from fastapi import Response
from pydantic import BaseModel, Field


class Problem(BaseModel):
    """RFC 9457, section 3.1. `type` is left at its default, about:blank."""

    title: str = Field(description="Short, the same for the same kind of problem")
    status: int = Field(description="HTTP status code")
    detail: str = Field(description="What is wrong with this request, and what to do")


def problem(
    status: int, title: str, detail: str, headers: Mapping[str, str] | None = None
) -> Response:
    content = Problem(title=title, status=status, detail=detail).model_dump()
    return Response(json.dumps(content), status, headers, media_type="application/problem+json")
