"""Burrow's configuration as tests import it: one of everything, and the least there may be."""

from __future__ import annotations

import tomllib

from warren.settings import Settings
from warren_cli.burrow_config import Imported, import_burrow

SECRET = "whsec_" + "A" * 43 + "="
FULL = """
[general]
pidfile = "/var/run/burrow.pid"
access-control-allow-origin = "mysite.example.com"

[logging]
level = "warn"
filename = "logs/burrow.log"

[zookeeper]
servers = ["zk:2181"]

[client-profile.secured]
client-id = "burrow-lag"
kafka-version = "2.0.0"
tls = "internal"
sasl = "scram"
dial-timeout = 5
read-timeout = 20

[client-profile.unused]
client-id = "nobody"

[tls.internal]
cafile = "/etc/ssl/ca.pem"
certfile = "/etc/ssl/client.pem"
keyfile = "/etc/ssl/client.key"
noverify = true

[sasl.scram]
mechanism = "SCRAM-SHA-512"
username = "burrow"
password = "hunter2"
handshake-first = true

[cluster.Prod]
class-name = "kafka"
servers = ["k1:9093", "k2:9093"]
client-profile = "secured"
topic-refresh = 60
offset-refresh = 30

[consumer.prod]
class-name = "kafka"
cluster = "prod"
servers = ["k2:9093", "k1:9093"]
client-profile = "secured"
offsets-topic = "__other_offsets"
group-denylist = "^(console-consumer-|quick-).*$"
group-allowlist = "^team-"
start-latest = true

[consumer.prod_zk]
class-name = "kafka_zk"
cluster = "prod"
servers = ["zk1:2181", "zk2:2181"]
zookeeper-path = "/kafka-cluster"
zookeeper-timeout = 30
group-denylist = "^(console-consumer-|quick-).*$"
group-allowlist = "^team-"

[httpserver.default]
address = "10.0.0.1:8100"
timeout = 300
tls = "web"

[tls.web]
certfile = "/etc/ssl/web.pem"
keyfile = "/etc/ssl/web.key"

[httpserver.second]
address = ":8200"

[storage.default]
class-name = "inmemory"
workers = 20
intervals = 15
expire-group = 86400
min-distance = 2
group-denylist = "^burrow-"

[evaluator.mine]
class-name = "caching"
expire-cache = 10
minimum-complete = 0.5
allowed-lag = 3

[notifier.hook]
class-name = "http"
url-open = "http://10.1.2.3:1467/v1/event"
url-close = "http://10.1.2.3:1467/v1/close"
method-close = "DELETE"
interval = 30
send-interval = 600
timeout = 7
keepalive = 30
extras = { api_key = "REDACTED", app = "burrow" }
headers = { X-Team = "data" }
username = "me"
password = "secret"
extra-ca = "/etc/ssl/hooks.pem"
template-open = "open.tmpl"
template-close = "close.tmpl"
send-close = true
threshold = 3
group-allowlist = "^team-a"

[notifier.mail]
class-name = "email"
server = "smtp.example.com"
port = 465
auth-type = "plain"
username = "warren"
password = "pass"
from = "Burrow <burrow@example.com>"
to = "ops@example.com, Second Person <dev@example.com>"
send-once = true
template-open = "mail.tmpl"

[notifier.nothing]
class-name = "null"
"""


def imported(text: str) -> Imported:
    made = import_burrow(tomllib.loads(text), "home:9092", lambda: SECRET)
    Settings.model_validate(made.without_files())  # it loads
    return made


def remarks(made: Imported) -> dict[str, str]:
    return {remark.setting: remark.text for remark in made.remarks}


CLUSTER = '[cluster.local]\nclass-name = "kafka"\nservers = ["k:9092"]\n'
