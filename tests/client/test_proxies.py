"""Proxies of the environment: for which addresses, and what is no proxy."""

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from service_tui.client.proxies import proxy_for
from service_tui.sdk.client import ServiceClient

KEY = "sk_live_0123456789abcdef"

P = "http://proxy.example:3128"
FAR = "https://desk.example/base"
CASES: dict[str, tuple[str, dict[str, str], str | None]] = {
    "none": (FAR, {}, None),
    "of the scheme": (FAR, {"HTTPS_PROXY": P, "HTTP_PROXY": "http://other"}, P),
    "of the other scheme": (FAR, {"HTTP_PROXY": P}, None),
    "plain": ("http://desk.example", {"HTTP_PROXY": P}, P),
    "of all": (FAR, {"ALL_PROXY": P}, P),
    "small letters win": (FAR, {"https_proxy": P, "HTTPS_PROXY": "http://other"}, P),
    "an empty one is none": (FAR, {"https_proxy": "", "HTTPS_PROXY": P}, None),
    "without a scheme": (FAR, {"HTTPS_PROXY": "proxy.example:3128"}, P),
    "with a password": (FAR, {"HTTPS_PROXY": "http://a:b@proxy.example:3128"}, "http://a:b@proxy.example:3128"),
    "blanks around": (FAR, {"HTTPS_PROXY": f" {P} \r\n"}, P),
    "a name of this machine": ("http://localhost:8000", {"HTTP_PROXY": P, "ALL_PROXY": P}, None),
    "a name below": ("http://a.localhost", {"ALL_PROXY": P}, None),
    "a number of this machine": ("http://127.0.0.1:8000", {"ALL_PROXY": P}, None),
    "another number of it": ("https://127.8.0.1", {"ALL_PROXY": P}, None),
    "its number of six": ("http://[::1]:8000", {"ALL_PROXY": P}, None),
    "its mapped number": ("http://[::ffff:127.0.0.1]", {"ALL_PROXY": P}, None),
    "its name with a dot": ("http://localhost.:8000", {"ALL_PROXY": P}, None),
    "a name below with a dot": ("http://a.localhost.", {"ALL_PROXY": P}, None),
    "its number with a dot": ("http://127.0.0.1.", {"ALL_PROXY": P}, None),
    "its short number": ("http://127.1:8000", {"ALL_PROXY": P}, None),
    "its whole number": ("http://2130706433", {"ALL_PROXY": P}, None),
    "its number of sixteen": ("http://0x7f.1", {"ALL_PROXY": P}, None),
    "no number": ("http://0.0.0.0:8000", {"ALL_PROXY": P}, None),
    "no number of six": ("http://[::]:8000", {"ALL_PROXY": P}, None),
    "no mapped number": ("http://[::ffff:0.0.0.0]", {"ALL_PROXY": P}, None),
    "a short number of another": ("http://10.1", {"ALL_PROXY": P}, P),
    "a name that begins so": ("http://127.1.example", {"ALL_PROXY": P}, P),
    "a broken one for this machine": ("http://127.0.0.1:1", {"ALL_PROXY": "::"}, None),
    "excepted": (FAR, {"ALL_PROXY": P, "NO_PROXY": "a.example, desk.example"}, None),
    "excepted with all below": (FAR, {"ALL_PROXY": P, "NO_PROXY": ".example"}, None),
    "excepted with a star": (FAR, {"ALL_PROXY": P, "no_proxy": "*.example"}, None),
    "excepted with all": (FAR, {"ALL_PROXY": P, "NO_PROXY": "*"}, None),
    "excepted at its port": (FAR, {"ALL_PROXY": P, "NO_PROXY": "desk.example:443"}, None),
    "excepted at another port": (FAR, {"ALL_PROXY": P, "NO_PROXY": "desk.example:444"}, P),
    "another with the same end": (FAR, {"ALL_PROXY": P, "NO_PROXY": "esk.example"}, P),
    "in capitals": (FAR, {"ALL_PROXY": P, "NO_PROXY": "DESK.Example"}, None),
    "a network": ("https://10.2.3.4", {"ALL_PROXY": P, "NO_PROXY": "10.0.0.0/8"}, None),
    "another network": ("https://11.2.3.4", {"ALL_PROXY": P, "NO_PROXY": "10.0.0.0/8"}, P),
    "nothing between commas": (FAR, {"ALL_PROXY": P, "NO_PROXY": ",,"}, P),
    "set by a caller of a script": (
        "http://desk.example", {"HTTP_PROXY": P, "REQUEST_METHOD": "GET"}, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_an_address_is_reached_by_the_proxy_of_the_environment(case: str) -> None:
    url, environ, proxy = CASES[case]
    assert proxy_for(url, environ) == proxy


@pytest.mark.parametrize(
    "given",
    ["http://", "::", "ftp://proxy:21", "http://proxy:port", "http://a b", "socks5://u:pw@p:1",
     "http://proxy/path", "http://u:pw@", "\x1b[2J", "http://u:pw@proxy:99999", "http://proxy:65536",
     "proxy:0"],
)  # fmt: skip
def test_what_is_no_proxy_is_told_in_one_sentence_without_its_text(given: str) -> None:
    with pytest.raises(ValueError, match=r"^HTTPS_PROXY names (no proxy|a SOCKS proxy)") as refused:
        proxy_for(FAR, {"HTTPS_PROXY": given})
    assert "pw" not in str(refused.value)
    assert str(refused.value).isprintable()


class Proxy(BaseHTTPRequestHandler):
    """Answers every request itself, and keeps what was asked of it."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        """Answer as a service whose list of monitors is empty."""
        self.asked.append(self.path)
        body = b'{"monitors": []}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_script_reaches_the_service_by_the_proxy_and_this_machine_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Proxy.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_address[1]}"
        monkeypatch.setenv("SERVICE_ALLOW_INSECURE_BASE_URL", "1")
        monkeypatch.setenv("HTTP_PROXY", here)
        with ServiceClient(KEY, "http://desk.example") as client:
            assert client.list_monitors() == []
        assert Proxy.asked == ["http://desk.example/api/sdk/positions/monitors"]
        # Whatever the environment says, this machine is reached itself.
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        with ServiceClient(KEY, here) as client:
            assert client.list_monitors() == []
        assert Proxy.asked[1:] == ["/api/sdk/positions/monitors"]
        server.shutdown()


def test_a_script_is_told_of_a_proxy_that_is_none_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "socks5://proxy:1080")
    with pytest.raises(ValueError, match=r"^HTTPS_PROXY names a SOCKS proxy, which is not supp"):
        ServiceClient(KEY, "https://desk.example")


@pytest.mark.process
@pytest.mark.parametrize("words", ["people list", "halt", "resume"])
def test_the_command_line_tells_of_a_proxy_that_is_none(tmp_path: Path, words: str) -> None:
    line = (*words.split(), "--url", "https://desk.example", "--data-dir", str(tmp_path))
    done = subprocess.run(
        (sys.executable, "-m", "service_tui", *line),
        env={**os.environ, "SERVICE_API_KEY": KEY, "HTTPS_PROXY": "http://u:pw@"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    told = "service-tui: HTTPS_PROXY names no proxy: give http://host:port, or unset it\n"
    assert (done.returncode, done.stderr) == (1, told)
