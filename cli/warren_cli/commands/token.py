"""`warren token`: tokens for the API."""

import json
import sys
from typing import Annotated

import typer
from pydantic import ValidationError
from warren.api_tokens import SHORTEST, hash_of, new_token
from warren.errors import SettingsError
from warren.settings import ApiToken, Role
from warren.settings_file import explained

from warren_cli.api_client import unsendable


def token(
    name: Annotated[str, typer.Option(help="Whose it is; appears in the API's log")],
    role: Annotated[Role, typer.Option(help="read: GET; admin: also POST and DELETE")] = "read",
    from_stdin: Annotated[
        bool, typer.Option("--stdin", help="Read the token instead of making one")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Token and setting as one JSON object on stdout")
    ] = False,
) -> None:
    """Make a token for the API and print the setting that lets it in.

    The setting goes to stdout (>> warren.toml), the token, which is kept nowhere, to stderr.
    """
    secret = _given() if from_stdin else new_token()
    try:
        entry = ApiToken(name=name, role=role, hash=hash_of(secret)).model_dump()
    except ValidationError as error:
        raise explained(error, ApiToken, ("api", "tokens")) from None
    if as_json:
        typer.echo(json.dumps({"token": secret, **entry}))
        return
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    typer.echo("\n".join(["[[api.tokens]]", *lines]))
    if not from_stdin:
        typer.echo(f"token (shown only now): {secret}", err=True)


def _given() -> str:
    secret = sys.stdin.readline().strip()  # as it is sent
    if problem := unsendable(secret):
        raise SettingsError("--stdin", problem)
    if len(secret) < SHORTEST:
        raise SettingsError(
            "--stdin", f"a token has at least {SHORTEST} ASCII characters, random ones"
        )
    return secret
