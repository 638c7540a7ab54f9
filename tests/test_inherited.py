"""What a program that is started gets of our environment."""

import pytest

from service_tui.inherited import inherited


@pytest.mark.parametrize(
    ("name", "value", "is_passed"),
    [
        ("PATH", "/usr/bin:/bin", True),
        ("TZ", "Europe/Rome", True),
        ("WANTED", "0.25", True),
        ("WANTED", "https://desk.example/path?a=b", True),
        ("WANTED", "https://ann:secret@desk.example", False),
        ("WANTED", "postgresql://desk:se/cret@10.0.0.1/world", False),
        ("WANTED", "x POSTGRES://token@host", False),
        ("WANTED", "host=db user=desk password=secret", False),
        ("PYTHONPATH", "https://ann:secret@desk.example", False),
        ("OTHER", "1", False),
        ("HOME", "/root", False),
        ("SERVICE_TUI_DATABASE", "/plain", False),
        ("LANG", "it_IT.UTF-8", True),
        ("LC_ALL", "C", True),
        ("LC_CTYPE", "C.UTF-8", True),
        ("LC_TIME", "de_DE@euro", True),
        ("LC_ALL", "sk_live_0123456789", False),
        ("LC_ALL", "", False),
        ("LC_TOKEN", "C", False),
        ("LC_MESSAGES", "postgresql://a:b@c", False),
    ],
)
def test_a_program_gets_what_is_named_and_no_secret(
    name: str, value: str, *, is_passed: bool
) -> None:
    passed = {name: value} if is_passed else {}
    assert inherited({name: value}, ("WANTED",)) == passed
