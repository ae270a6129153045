"""docs/channels.md from the kinds of channels."""

from warren.settings.notifier import ChannelSettings
from warren_notifier.channels.configured import kinds

from warren_docs.settings_page import first_paragraph, section

INTRODUCTION = """# Channels

Generated from `warren_notifier.channels.kinds`; do not edit.

A channel is a table `[notifier.channels.<name>]`. What all have (`timeout`, `rate`, `ca` and so on)
is in [settings.md](settings.md); this page has what each `type` has beside it.

| type | |
|---|---|
"""


def pages() -> dict[str, str]:
    """File contents by path below docs/."""
    listed = "".join(
        f"| [`{name}`](#{name}) | {first_paragraph(kind.settings)} |\n"
        for name, kind in kinds().items()
    )
    path, shared = ("notifier", "channels", "<name>"), ChannelSettings.model_fields
    sections = [section(kind.type, path, kind.settings, shared) for kind in kinds().values()]
    return {"channels.md": "\n".join([INTRODUCTION + listed, *sections])}
