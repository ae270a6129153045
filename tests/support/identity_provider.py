"""An identity provider on loopback that takes nothing but what the standard asks for, and lies as
it is told to.
"""

import base64
import functools
import hashlib
import json
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from support.waiting import eventually
from warren_local.server import free_port

CLIENT_ID = "warren"
CLIENT_SECRET = "s3cret/with:odd+characters%"

Claims = dict[str, Any]


@functools.cache
def new_key(kid: str) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig", "alg": "RS256"})


@dataclass
class IdentityProvider:
    """`claims`: what it says of whoever logs in, at once and without asking. `lies` changes the
    claims of an ID token, `sign` makes the token.
    """

    public_url: str
    port: int = field(default_factory=free_port)
    claims: Claims = field(default_factory=lambda: {"sub": "u-1", "preferred_username": "ada"})
    info: Claims = field(default_factory=dict)
    secret: str = CLIENT_SECRET
    now: Callable[[], int] = lambda: 0
    lies: Callable[[Claims], Claims] = lambda claims: claims
    sign: Callable[[Claims], str] | None = None
    discovery: Claims = field(default_factory=dict)
    denies: dict[str, str] | None = None
    keys: list[RSAKey] = field(default_factory=lambda: [new_key("first")])
    asked: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    authorizations: list[dict[str, str]] = field(default_factory=list)
    hangs: threading.Event | None = None

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}/realms/ops"

    def token(self, claims: Claims) -> str:
        key = self.keys[-1]
        return jwt.encode({"alg": "RS256", "kid": key.kid}, claims, key)

    def _discover(self, _: Request) -> Response:
        self.asked.append("discovery")
        if self.hangs is not None:
            self.hangs.wait()
        at = self.issuer
        return JSONResponse(
            {
                "issuer": at,
                "authorization_endpoint": f"{at}/authorize",
                "token_endpoint": f"{at}/token",
                "jwks_uri": f"{at}/keys",
                "userinfo_endpoint": f"{at}/userinfo",
                "end_session_endpoint": f"{at}/logout",
                **self.discovery,
            }
        )

    def _keys(self, _: Request) -> Response:
        self.asked.append("keys")
        return JSONResponse({"keys": [key.as_dict(private=False) for key in self.keys]})

    def _authorize(self, request: Request) -> Response:
        """Somebody is logged in here already."""
        asked = dict(request.query_params)
        self.authorizations.append(asked)
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT_ID
        assert asked["redirect_uri"] == f"{self.public_url}/login/callback"
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        answer = {"state": asked["state"], "iss": self.issuer}
        if self.denies is not None:
            answer |= self.denies
        else:
            answer["code"] = secrets.token_urlsafe(16)
            self.codes[answer["code"]] = asked
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(answer)}", 302)

    async def _token(self, request: Request) -> Response:
        self.asked.append("token")
        form = dict(parse_qsl((await request.body()).decode()))
        scheme, _, value = request.headers.get("Authorization", "").partition(" ")
        given = base64.b64decode(value).decode() if scheme == "Basic" else ""
        user, _, password = given.partition(":")
        if (unquote(user), unquote(password)) != (CLIENT_ID, self.secret):
            return JSONResponse({"error": "invalid_client"}, 401)
        asked = self.codes.pop(form.get("code", ""), None)  # once
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            asked is None
            or challenge != asked["code_challenge"]
            or form.get("redirect_uri") != asked["redirect_uri"]
            or form.get("grant_type") != "authorization_code"
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        claims = self.lies(
            {
                "iss": self.issuer,
                "aud": CLIENT_ID,
                "iat": self.now(),
                "exp": self.now() + 300,
                "nonce": asked["nonce"],
                **self.claims,
            }
        )
        id_token = (self.sign or self.token)(claims)
        return JSONResponse(
            {"access_token": "an-access-token", "token_type": "Bearer", "id_token": id_token}
        )

    def _userinfo(self, request: Request) -> Response:
        self.asked.append("userinfo")
        if request.headers.get("Authorization") != "Bearer an-access-token":
            return JSONResponse({}, 401)
        return JSONResponse({"sub": self.claims["sub"], **self.info})

    def _logout(self, request: Request) -> Response:
        asked = dict(request.query_params)
        self.asked.append(f"logout {json.dumps(asked)}")
        back = asked["post_logout_redirect_uri"]
        return HTMLResponse(f'<h1>Gone</h1><a href="{back}">back</a>')

    @contextmanager
    def serving(self) -> Iterator[None]:
        routes = [
            Route("/realms/ops/.well-known/openid-configuration", self._discover),
            Route("/realms/ops/keys", self._keys),
            Route("/realms/ops/authorize", self._authorize),
            Route("/realms/ops/token", self._token, methods=["POST"]),
            Route("/realms/ops/userinfo", self._userinfo),
            Route("/realms/ops/logout", self._logout),
        ]
        routes.append(Route("/favicon.ico", lambda _: Response(status_code=204)))
        config = uvicorn.Config(
            Starlette(routes=routes),
            port=self.port,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        eventually(lambda: server.started, message="the identity provider listens")
        try:
            yield
        finally:
            if self.hangs is not None:
                self.hangs.set()
            server.should_exit = True
            thread.join(60)
        assert not thread.is_alive()
