"""A port that a person named: taken, not there, or of another address of this machine."""

import socket

import pytest

from service_tui.server.http import loopback
from service_tui.server.http.loopback import PortTakenError, bind_named


def test_a_port_is_opened_on_the_address_that_was_named() -> None:
    with bind_named(0, "--port", "127.0.0.2") as listener:
        assert listener.getsockname()[0] == "127.0.0.2"
        assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    with bind_named(0, "--port") as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


def test_a_port_that_cannot_be_had_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with bind_named(0, "--port") as taken:
        port: int = taken.getsockname()[1]
        with pytest.raises(PortTakenError) as caught:
            bind_named(port, "--port")
    why = "Address already in use"
    assert str(caught.value) == f"cannot use port {port} ({why}); give another --port"

    def too_high(*_: object) -> socket.socket:
        raise OverflowError("bind(): port must be 0-65535.")

    monkeypatch.setattr(loopback, "bind", too_high)
    with pytest.raises(PortTakenError) as caught:
        bind_named(70_000, "--ops-port")
    assert str(caught.value) == "cannot use port 70000 (no such port); give another --ops-port"
