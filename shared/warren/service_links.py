"""Variables that Kubernetes gives every pod for each service (`enableServiceLinks`).

Beside a service called `warren-api` they begin with `WARREN_API_`, as if they were settings.
https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
"""

import re
from collections.abc import Mapping

_ADDRESS = re.compile(r"(tcp|udp|sctp)://.+")
# The rest of the name says what it is, except `…_PORT`, which may be a misspelt setting.
_NAME = re.compile(
    r"WARREN(_[A-Z0-9]+)*_"
    r"(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)"
)
_PORT = re.compile(r"WARREN(_[A-Z0-9]+)*_PORT")


def service_links(environ: Mapping[str, str]) -> list[str]:
    """Names of the service links that could be taken for settings of Warren's, sorted."""
    return sorted(
        name
        for name, value in environ.items()
        if _NAME.fullmatch(name) or (_PORT.fullmatch(name) and _ADDRESS.fullmatch(value))
    )
