"""OAUTHBEARER with OAuth 2.0 client credentials: librdkafka's `sasl.oauthbearer.method=oidc`."""

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warren.errors import TokenRefused
from warren.logins.mechanism import Mechanism, Properties, jaas

_URL = "sasl.oauthbearer.token.endpoint.url"
_ID = "sasl.oauthbearer.client.id"
_SECRET = "sasl.oauthbearer.client.secret"
_SCOPE = "sasl.oauthbearer.scope"


class ClientCredentialsToken:
    """Access tokens from a token endpoint (RFC 6749, 4.4)."""

    def __init__(self, url: str, client_id: str, client_secret: str, scope: str | None) -> None:
        self._url = url
        self._form = {"grant_type": "client_credentials", **({"scope": scope} if scope else {})}
        basic = base64.b64encode(f"{client_id}:{client_secret}".encode()).decode()
        self._headers = {"Authorization": f"Basic {basic}"}
        self._lock = asyncio.Lock()

    async def token(self) -> str:
        """A fresh access token; asked for at each (re-)authentication. Raises TokenRefused."""
        import httpx  # a quarter of a second at the start of services that do not need it

        async with self._lock, httpx.AsyncClient(timeout=10) as client:
            try:
                response = await client.post(self._url, data=self._form, headers=self._headers)
                response.raise_for_status()
            except httpx.HTTPError as error:
                raise TokenRefused(f"the token endpoint: {error}") from error
            # What answers may be a proxy's page.
            try:
                token = response.json()["access_token"]
            except (ValueError, KeyError, TypeError):
                token = None
            if not isinstance(token, str):
                kind = response.headers.get("content-type", "no content type")
                raise TokenRefused(f"the token endpoint answers without a token ({kind})")
            return token


@dataclass(frozen=True, slots=True)
class _ClientCredentials(Mechanism):
    name: str = "OAUTHBEARER"
    needs: tuple[str, ...] = (_URL, _ID, _SECRET)
    takes: tuple[str, ...] = (_SCOPE, "sasl.oauthbearer.method")

    def aiokafka(self, properties: Properties) -> dict[str, Any]:
        tokens = ClientCredentialsToken(
            properties[_URL], properties[_ID], properties[_SECRET], properties.get(_SCOPE)
        )
        return {"sasl_oauth_token_provider": tokens}

    def faust(self, aiokafka: Mapping[str, Any]) -> Any:
        from faust import OAuthCredentials  # only the evaluator has it

        return OAuthCredentials(
            oauth_cb=aiokafka["sasl_oauth_token_provider"], ssl_context=aiokafka.get("ssl_context")
        )

    def java(self, properties: Properties) -> dict[str, str]:
        """As KIP-768 has it."""
        login = {"clientId": properties[_ID], "clientSecret": properties[_SECRET]}
        if scope := properties.get(_SCOPE):
            login["scope"] = scope
        return {
            _URL: properties[_URL],
            "sasl.jaas.config": jaas("oauthbearer.OAuthBearerLoginModule", login),
            "sasl.login.callback.handler.class": "org.apache.kafka.common.security"
            ".oauthbearer.OAuthBearerLoginCallbackHandler",
        }


CLIENT_CREDENTIALS = _ClientCredentials()
