"""Names of groups that attack whoever shows them."""

HOSTILE = {
    "mention": "<!channel> <@U123> <!here|x>",
    "link": "[pay](https://evil.example) <https://evil.example|pay>",
    "markup": "*b* _i_ ~s~ `c` ```x``` > q # h :boom: @everyone",
    "html": "<script>alert(1)</script><img src=x onerror=alert(1)>&amp;",
    "json": '","text":"owned","x":"\\',
    "template": "{{ 7 * 7 }} ${7*7} {% raw %}",
    "control": "a\r\nb\u2028c\u202ed\x00e\x1b[31m",
    "rtl": "\u200f\u061cabc\u2067def\u202e\u200fghi",
    "long": "n" * 1_000,
    "wide": "\U0001f600" * 1_000,
}
# As large as a group's name may be on the wire, in bytes as they are and as JSON has them.
LARGE = {
    "64 KB": "g" * 65_535,
    "64 KB, four bytes each": "\U0001f600" * 16_383,
    "64 KB, six bytes each": "\x01" * 65_535,
}
EVERY = HOSTILE | LARGE
