"""Making a client: its arguments, its environment, and its key."""

import subprocess
import sys

import pytest

from service_tui import ServiceClient
from service_tui.sdk.opening import opening_of

KEY = "sk_test_0815_0816"
URL = "http://127.0.0.1:9"
NAMES = (
    "SERVICE_API_KEY",
    "SERVICE_API_URL",
    "SERVICE_ALLOW_INSECURE_BASE_URL",
    "EXPOSURE_CAP_USD",
)


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def test_construction_sends_nothing_and_starts_nothing() -> None:
    # Nothing listens on port 9: any request would fail.
    client = ServiceClient(KEY, URL)
    assert client.venue == "sim"
    assert client.live
    client.close()


def test_key_and_address_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", KEY)
    monkeypatch.setenv("SERVICE_API_URL", URL)
    with ServiceClient() as client:
        assert client.live


@pytest.mark.parametrize(
    ("key", "url", "said"),
    [
        (None, URL, "SERVICE_API_KEY"),
        (KEY, None, "SERVICE_API_URL"),
        (KEY[:4] + "\n" + KEY[4:], URL, "line breaks"),
        (KEY[:4] + " " + KEY[4:], URL, "spaces"),
        (KEY, "ftp://127.0.0.1", "https"),
        (KEY, "http://example.org", "unencrypted"),
        (KEY, "http://10.0.0.1:8000", "unencrypted"),
        (KEY, "http://notlocalhost", "unencrypted"),
        (KEY, "https://:word@example.org", "more than scheme, host, port and path"),
    ],
)
def test_what_is_missing_or_wrong_is_named(key: str | None, url: str | None, said: str) -> None:
    with pytest.raises(ValueError, match=said) as raised:
        ServiceClient(key, url)
    assert KEY not in str(raised.value)


def test_an_empty_key_is_none() -> None:
    for key in (None, ""):
        with pytest.raises(ValueError, match="no API key: pass api_key or set SERVICE_API_KEY"):
            opening_of(key, URL, {"SERVICE_API_KEY": ""})


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:1", "http://[::1]:1", "http://a.localhost:1/", "http://localhost:1//",
        "http://localhost:65535",
    ],
)  # fmt: skip
def test_plain_http_goes_to_loopback(url: str) -> None:
    ServiceClient(KEY, url).close()


@pytest.mark.parametrize("word", ["1", "true", "yes", "YES"])
def test_plain_http_goes_elsewhere_when_a_person_said_so(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_ALLOW_INSECURE_BASE_URL", word)
    ServiceClient(KEY, "http://example.org").close()


def test_another_word_is_no_consent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_ALLOW_INSECURE_BASE_URL", "on")
    with pytest.raises(ValueError, match="unencrypted"):
        ServiceClient(KEY, "http://example.org")


@pytest.mark.parametrize(
    ("word", "skips"),
    [("1", True), ("True", True), ("yes", True), ("0", False), ("no", False), ("", False)],
)
def test_the_checks_before_a_trade_are_skipped_at_a_yes_alone(word: str, *, skips: bool) -> None:
    assert opening_of(KEY, URL, {"SERVICE_SKIP_PREFLIGHT": word}).skip_preflight is skips
    assert opening_of(KEY, URL, {"SERVICE_ALLOW_INSECURE_BASE_URL": word}).allow_insecure is skips


def test_without_a_word_nothing_is_skipped_and_no_cap_is_set() -> None:
    opening = opening_of(KEY, URL, {})
    assert (opening.skip_preflight, opening.allow_insecure, opening.exposure_cap) == (
        False, False, None
    )  # fmt: skip


def test_what_is_passed_stands_before_the_environment() -> None:
    environ = {"SERVICE_API_KEY": "sk_other", "SERVICE_API_URL": "http://127.0.0.1:1"}
    opening = opening_of(KEY, URL, environ)
    assert (opening.api_key, opening.base_url) == (KEY, URL)


@pytest.mark.parametrize("cap", ["nan", "-1", "0", "inf", "much"])
def test_a_cap_that_is_no_amount_is_refused(cap: str) -> None:
    with pytest.raises(ValueError, match="EXPOSURE_CAP_USD"):
        opening_of(KEY, URL, {"EXPOSURE_CAP_USD": cap})


def test_the_cap_is_read() -> None:
    assert opening_of(KEY, URL, {"EXPOSURE_CAP_USD": "250"}).exposure_cap == 250.0


def test_the_key_shows_in_no_repr() -> None:
    assert KEY not in repr(opening_of(KEY, URL, {}))


def test_a_venue_is_known_by_each_of_its_names() -> None:
    with ServiceClient(KEY, URL, venue="polymarket") as client:
        assert client.venue == "evm_venue"
    with pytest.raises(ValueError, match="venue is one of sim"):
        ServiceClient(KEY, URL, venue="moon")


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", code],
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.process
def test_the_package_alone_loads_nothing_heavy() -> None:
    done = run("import service_tui, sys; print('httpx' in sys.modules, 'pydantic' in sys.modules)")
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.process
def test_the_client_loads_no_server_no_database_and_no_console() -> None:
    done = run("from service_tui import ServiceClient; import sys; print(' '.join(sys.modules))")
    roots = {name.partition(".")[0] for name in done.stdout.split()}
    assert "httpx" in roots
    assert not roots & {"starlette", "uvicorn", "sqlmodel", "sqlalchemy", "textual"}


@pytest.mark.process
def test_the_package_has_no_other_attribute() -> None:
    done = run("from service_tui import Client")
    assert "ImportError" in done.stderr


@pytest.mark.parametrize(
    "key",
    ["sk_live_01234567", " 'sk_live_01234567'\n", "Bearer sk_live_01234567",
     "export SERVICE_API_KEY=sk_live_01234567"],
)  # fmt: skip
def test_a_key_is_read_as_it_was_pasted(key: str) -> None:
    environ = {"SERVICE_API_KEY": key, "SERVICE_API_URL": "http://127.0.0.1:1"}
    assert opening_of(None, None, environ).api_key == "sk_live_01234567"
    assert opening_of(key, None, environ | {"SERVICE_API_KEY": ""}).api_key == "sk_live_01234567"
