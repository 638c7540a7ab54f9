"""Which calls a port takes: by the machine that calls, by the name called, and by the page."""

from typing import Any, Final

import pytest
from starlette.datastructures import Headers

from service_tui.server.http.entrance import (
    LOCAL,
    Entrance,
    direct_peer_of,
    entrance_of,
    host_name,
    is_loopback,
    peer_of,
    plain_address,
)
from service_tui.server.http.refusals import Denied
from service_tui.server.http.service import EMBEDDED_HOST

NAMED: Final = Entrance(names=frozenset({"desk.example", "[fd00::1]"}), scheme="https")
BEHIND: Final = Entrance(names=frozenset({"desk.example"}), scheme="https", proxy="10.0.0.2")


def sent(*pairs: tuple[str, str]) -> Headers:
    return Headers(raw=[(name.encode(), value.encode()) for name, value in pairs])


def outcome(entrance: Entrance, *pairs: tuple[str, str], peer: str = "", own: bool = False) -> int:
    """The status with which a call is refused, 0 for one that passes."""
    try:
        entrance.check(sent(*pairs), peer, own_page=own)
    except Denied as refused:
        return refused.status
    return 0


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("desk.example", "desk.example"),
        ("desk.example:8080", "desk.example"),
        ("[::1]:80", "[::1]"),
        ("[::1]", "[::1]"),
        ("127.0.0.1:9", "127.0.0.1"),
    ],
)
def test_the_name_of_a_host_is_what_stands_before_its_port(host: str, name: str) -> None:
    assert host_name(host) == name


@pytest.mark.parametrize(
    ("host", "is_here"),
    [
        ("127.0.0.1:80", True),
        ("localhost", True),
        ("[::1]:80", True),
        (EMBEDDED_HOST, True),
        ("world.localhost:9", True),
        ("localhost.example", False),
        ("evil-localhost", False),
        ("127.0.0.2", False),
        ("", False),
    ],
)
def test_a_local_port_knows_the_names_of_this_machine(host: str, *, is_here: bool) -> None:
    assert is_loopback(host) is is_here
    assert LOCAL.knows(host) is is_here
    assert LOCAL.is_local
    assert outcome(LOCAL, ("host", host)) == (0 if is_here else 403)


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("desk.example", True),
        ("DESK.example:443", True),
        ("[fd00::1]:443", True),
        ("other.example", False),
        ("localhost", False),
    ],
)
def test_a_port_of_a_network_knows_its_own_names_alone(host: str, *, known: bool) -> None:
    assert not NAMED.is_local
    assert outcome(NAMED, ("host", host)) == (0 if known else 403)


@pytest.mark.parametrize("hosts", [(), ("desk.example", "desk.example")])
def test_a_host_is_named_once(hosts: tuple[str, ...]) -> None:
    assert outcome(NAMED, *(("host", host) for host in hosts)) == 400


@pytest.mark.parametrize(
    ("peer", "status"), [("10.0.0.2", 0), ("::ffff:10.0.0.2", 0), ("10.0.0.3", 403), ("", 403)]
)
def test_a_port_behind_a_proxy_takes_calls_of_the_proxy_alone(peer: str, status: int) -> None:
    assert outcome(BEHIND, ("host", "desk.example"), peer=peer) == status
    assert outcome(NAMED, ("host", "desk.example"), peer=peer) == 0


def test_web_pages_are_refused_unless_it_is_the_own_form() -> None:
    host = ("host", "desk.example")
    ours, others = ("origin", "https://desk.example"), ("origin", "https://evil.example")
    assert outcome(NAMED, host, ours) == 403
    assert outcome(NAMED, host, ours, own=True) == 0
    assert outcome(NAMED, host, others, own=True) == 403
    assert outcome(NAMED, host, ("origin", "http://desk.example"), own=True) == 403
    assert outcome(NAMED, host, own=True) == 403
    assert outcome(NAMED, host, ours, ours, own=True) == 403
    site = "sec-fetch-site"
    assert outcome(NAMED, host, ours, (site, "same-origin"), own=True) == 0
    assert outcome(NAMED, host, ours, (site, "cross-site"), own=True) == 403


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("10.0.0.2", "10.0.0.2"),
        ("::ffff:10.0.0.2", "10.0.0.2"),
        ("FD00:0::1", "fd00::1"),
        ("unix:", "unix:"),
    ],
)
def test_an_address_has_one_form(text: str, plain: str) -> None:
    assert plain_address(text) == plain


async def test_a_call_carries_the_entrance_by_which_it_came() -> None:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((entrance_of(scope), receive, send))

    assert LOCAL.around(app) is app
    receive, send = object(), object()
    await NAMED.around(app)({"type": "http"}, receive, send)  # pyright: ignore[reportArgumentType]
    assert seen == [(NAMED, receive, send)]
    assert entrance_of({}) is LOCAL


@pytest.mark.parametrize(
    ("forwarded", "peer"),
    [
        (["1.1.1.1, 2.2.2.2"], "2.2.2.2"),
        (["3.3.3.3"], "3.3.3.3"),
        # HAProxy adds a line of its own, below that of the caller.
        (["1.1.1.1", "2.2.2.2"], "2.2.2.2"),
        (["1.1.1.1, "], "10.0.0.2"),
        ([""], "10.0.0.2"),
        ([], "10.0.0.2"),
    ],
)
async def test_behind_a_proxy_the_caller_is_the_last_one_that_the_proxy_names(
    forwarded: list[str], peer: str
) -> None:
    seen: list[tuple[str, str]] = []

    async def app(scope: Any, *_: object) -> None:
        headers = sent(*(("x-forwarded-for", line) for line in forwarded))
        seen.append((peer_of(scope, headers), direct_peer_of(scope)))

    for entrance in (BEHIND, NAMED):
        call: Any = entrance.around(app)
        await call({"type": "http", "client": ("10.0.0.2", 1)}, None, None)
    assert seen == [(peer, "10.0.0.2"), ("10.0.0.2", "10.0.0.2")]
    assert direct_peer_of({}) == ""
    assert direct_peer_of({"client": None}) == ""
