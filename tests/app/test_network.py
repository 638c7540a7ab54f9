"""A service on a network: what may start, who gets in by which name, and what stays at home."""

import asyncio
import os
import ssl
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from kit.engine.topics import TOPICS
from kit.service.certificates import Certificate, certificate
from kit.service.stage import ANSWER_S, OPERATOR, Stage, open_directory, open_stage
from service_tui.app.network import NetworkError, check_network, entrance_on, leader_tls
from service_tui.app.options import Options
from service_tui.clock import ManualClock
from service_tui.server.embedded import SimSettings, open_sim
from service_tui.server.http import connections
from service_tui.server.http.entrance import LOCAL, Entrance, plain_address
from service_tui.server.http.loopback import bind, listen

NAME = "desk.example"
START_S = 120


def options(path: Path, **given: Any) -> Options:
    return Options(data_dir=path, config_dir=path / "c", log_path=path / "log", **given)


@pytest.fixture
def made(tmp_path: Path) -> Certificate:
    return certificate(tmp_path / "tls", NAME, "localhost")


# -- what may start ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"host": "0.0.0.0"}, "open to the network without encryption: give --tls-cert"),  # noqa: S104 - refused
        ({"host": "10.0.0.7", "public_names": (NAME,)}, "open to the network without encryption"),
        ({"host": "nowhere", "trusted_proxy": "10.0.0.1"}, "--host is no address"),
        ({"trusted_proxy": "proxy.example"}, "--trusted-proxy is no address"),
        ({"host": "0.0.0.0", "trusted_proxy": "10.0.0.1"}, "give --public-name NAME"),  # noqa: S104 - refused
        ({"trusted_proxy": "10.0.0.1", "public_names": ("https://x",)}, "no name of a host"),
        ({"trusted_proxy": "10.0.0.1", "tls_cert": Path("c")}, "leave --tls-cert out"),
        ({"tls_cert": Path("c")}, "belong together"),
        ({"tls_key": Path("k")}, "belong together"),
        ({"public_names": (NAME,)}, "--public-name is for a network"),
        (
            {"host": "10.0.0.7", "trusted_proxy": "10.0.0.1", "database": "postgresql://x"},
            "needs a --host on loopback",
        ),
    ],
)
def test_what_is_not_safe_is_one_line(tmp_path: Path, given: dict[str, Any], why: str) -> None:
    with pytest.raises(NetworkError, match=why) as refused:
        check_network(options(tmp_path, **given))
    assert "\n" not in str(refused.value)


def test_files_that_cannot_be_used_are_one_line_each(tmp_path: Path, made: Certificate) -> None:
    other = certificate(tmp_path / "other", NAME)
    sealed = certificate(tmp_path / "sealed", NAME, passphrase=b"a canary that sings")
    odd, binary = tmp_path / "odd.pem", tmp_path / "binary.pem"
    odd.write_text("-----BEGIN NOTHING-----\n")
    binary.write_bytes(b"\xff\x00")
    for cert, key, why in (
        (tmp_path / "missing", made.key, "cannot read the certificate"),
        (tmp_path, made.key, "cannot read the certificate"),
        (made.cert, tmp_path / "missing", "cannot read the key"),
        (odd, made.key, "is no certificate in PEM form"),
        (binary, made.key, "is no certificate in PEM form"),
        (made.cert, odd, "is no private key in PEM form"),
        (made.cert, made.cert, "is no private key in PEM form"),
        (made.cert, other.key, "does not fit the certificate"),
        (sealed.cert, sealed.key, "wants a passphrase"),
    ):
        with pytest.raises(NetworkError, match=why) as refused:
            check_network(options(tmp_path, tls_cert=cert, tls_key=key))
        assert "\n" not in str(refused.value)
        assert "PRIVATE" not in str(refused.value)


def test_on_loopback_nothing_is_asked_for(tmp_path: Path) -> None:
    for host in ("", "localhost", "127.0.0.1", "::1"):
        plain = options(tmp_path, host=host)
        check_network(plain)
        assert (plain.is_on_network, plain.needs_invitation) == (False, False)
    assert options(tmp_path, invitations=True).needs_invitation
    on_network = options(tmp_path, trusted_proxy="10.0.0.1")
    assert (on_network.is_on_network, on_network.needs_invitation) == (True, True)
    assert not options(tmp_path, trusted_proxy="10.0.0.1", invitations=False).needs_invitation


# -- names, pages, peers -------------------------------------------------------------------


@asynccontextmanager
async def at(stage: Stage, entrance: Entrance, port: int = 0) -> AsyncGenerator[int]:
    """The port of a stage's service behind an entrance."""
    listener = bind(port)
    async with listen(stage.sim.app, listener=listener, entrance=entrance):
        yield listener.getsockname()[1]


@asynccontextmanager
async def encrypted(stage: Stage, made: Certificate) -> AsyncGenerator[httpx.AsyncClient]:
    """A client of a stage's service, by TLS and by its name."""
    given = options(
        stage.database.path.parent, tls_cert=made.cert, tls_key=made.key, public_names=(NAME,)
    )
    async with (
        at(stage, entrance_on(given, 0)) as port,
        httpx.AsyncClient(
            verify=made.trusted(), base_url=f"https://127.0.0.1:{port}", timeout=ANSWER_S,
            headers={"Host": NAME}, trust_env=False,
        ) as http,
    ):  # fmt: skip
        yield http


@pytest.mark.slow
async def test_a_call_goes_and_comes_back_encrypted(tmp_path: Path, made: Certificate) -> None:
    async with open_stage(tmp_path / "d") as stage, encrypted(stage, made) as http:
        key = {"Authorization": f"Bearer {stage.key}"}
        assert (await http.get("/api/sdk/agents/me", headers=key)).json()["name"] == "tester"
        order = {"market_id": stage.open_markets()[0].market_id, "side": "yes", "amount": 5}
        assert (await http.post("/api/sdk/trade", headers=key, json=order)).json()["success"]
        assert await ready(http)


@pytest.mark.slow
async def test_who_never_begins_to_encrypt_takes_no_room(
    tmp_path: Path, made: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "backlog", lambda: 4)
    monkeypatch.setattr(connections, "HANDSHAKE_S", 0.3)
    async with open_stage(tmp_path / "d") as stage, encrypted(stage, made) as http:
        port = http.base_url.port or 0
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(12)]
        async with asyncio.timeout(ANSWER_S):
            # Of too many the oldest go at once, the others a moment later.
            assert [await rest_of(pair) for pair in held] == [b""] * 12
        assert (await http.get("/api/sdk/health")).status_code == 200


async def rest_of(pair: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> bytes:
    """What comes until the line ends, by whichever way."""
    reader, writer = pair
    try:
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.transport.abort()


async def ready(http: httpx.AsyncClient) -> bool:
    """Whether the stream of events begins."""
    operator = {"Authorization": f"Bearer {OPERATOR}"}
    async with http.stream("GET", "/api/desk/events", headers=operator) as events:
        told = events.aiter_lines()
        return "event: ready" in [await anext(told) for _ in range(4)]


@pytest.mark.slow
async def test_what_is_not_encrypted_is_not_answered(tmp_path: Path, made: Certificate) -> None:
    async with (
        open_stage(tmp_path / "d") as stage,
        encrypted(stage, made) as http,
        httpx.AsyncClient() as plain,
    ):
        with pytest.raises(httpx.HTTPError):
            await plain.get(f"{str(http.base_url).replace('https', 'http')}/api/sdk/health")
    given = options(tmp_path, tls_cert=made.cert, tls_key=made.key)
    tls = entrance_on(given, 0).tls
    assert tls is not None
    assert tls.minimum_version is ssl.TLSVersion.TLSv1_2
    assert not tls.options & ssl.OP_NO_TLSv1_3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("host", "status"),
    [
        (NAME, 200),
        (f"{NAME.upper()}:8443", 200),
        ("127.0.0.1", 403),
        ("localhost", 403),
        ("embedded.localhost", 403),
        (f"x.{NAME}", 403),
        (f"{NAME}.evil.example", 403),
        ("evil.example", 403),
        ("", 403),
    ],
)
async def test_only_the_given_names_are_served(
    tmp_path: Path, made: Certificate, host: str, status: int
) -> None:
    async with open_stage(tmp_path / "d") as stage, encrypted(stage, made) as http:
        for path in ("/api/sdk/health", "/api/sdk/skills", "/openapi.json", "/claim/reef-1"):
            answer = await http.get(path, headers={"Host": host})
            assert (answer.status_code == 403) is (status == 403), path


@pytest.mark.slow
async def test_web_pages_are_refused_but_for_the_form_of_this_name(
    tmp_path: Path, made: Certificate
) -> None:
    async with open_stage(tmp_path / "d") as stage, encrypted(stage, made) as http:
        for origin in (f"https://{NAME}", "https://evil.example", "null"):
            answer = await http.get("/api/sdk/health", headers={"Origin": origin})
            assert answer.status_code == 403
        page, form = f"/claim/{stage.agent.claim_code}", {"code": "wrong"}
        for origin, status in (
            (f"https://{NAME}", 403),
            (f"http://{NAME}", 403),
            ("https://evil.example", 403),
        ):
            answer = await http.post(page, data=form, headers={"Origin": origin})
            assert answer.status_code == status
            # The page itself refuses the code; the door refuses the form.
            assert ("Tries left" in answer.text or "not good" in answer.text) is (
                origin == f"https://{NAME}"
            )


@pytest.mark.slow
@pytest.mark.parametrize(("proxy", "is_taken"), [("127.0.0.1", True), ("10.0.0.1", False)])
async def test_plain_calls_come_from_the_proxy_alone(
    tmp_path: Path, proxy: str, *, is_taken: bool
) -> None:
    given = options(tmp_path, trusted_proxy=proxy, public_names=(NAME,))
    async with (
        open_stage(tmp_path) as stage,
        at(stage, entrance_on(given, 0)) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http,
    ):
        for path in ("/api/sdk/health", "/api/desk/events", "/claim/reef-1", "/nowhere"):
            answer = await http.get(path, headers={"Host": NAME, "X-Forwarded-For": "127.0.0.1"})
            assert (answer.status_code != 403) is is_taken, path


def test_an_address_has_one_spelling() -> None:
    assert plain_address("::ffff:10.0.0.1") == "10.0.0.1"
    assert plain_address("nowhere") == "nowhere"


@pytest.mark.slow
async def test_callers_without_a_key_are_counted_each_for_themselves(tmp_path: Path) -> None:
    given = options(tmp_path, trusted_proxy="127.0.0.1", public_names=(NAME,))
    async with (
        open_stage(tmp_path) as stage,
        at(stage, entrance_on(given, 0)) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http,
    ):
        stage.sim.service.needs_invitation = True

        async def register(peer: str) -> int:
            headers = {"Host": NAME, "X-Forwarded-For": peer}
            answer = await http.post(
                "/api/sdk/agents/register", json={"name": "heron"}, headers=headers
            )
            return answer.status_code

        # What stands before the proxy's own word the caller has made up.
        tried = [await register(f"10.9.9.{count}, 10.0.0.1") for count in range(11)]
        assert tried == [403] * 10 + [429]
        assert await register("10.0.0.2") == 403


# -- what stays at home --------------------------------------------------------------------


@pytest.mark.slow
async def test_what_is_for_this_machine_is_not_for_a_network(
    tmp_path: Path, made: Certificate
) -> None:
    async with open_stage(tmp_path / "d") as stage, encrypted(stage, made) as http:
        key = {"Authorization": f"Bearer {stage.key}"}
        asked = [(await http.get("/api/sdk/portfolio", headers=key)).status_code for _ in range(40)]
        # Of the console's own agent readings are not counted where it comes from this machine.
        assert 429 in asked
        async with (
            at(stage, LOCAL) as port,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as near,
        ):
            asked = [
                (await near.get("/api/sdk/portfolio", headers=key)).status_code for _ in range(40)
            ]
            assert set(asked) == {200}


@pytest.mark.slow
@pytest.mark.parametrize("is_on_network", [False, True])
async def test_webhooks_of_the_own_agent_reach_this_machine_from_this_machine_alone(
    tmp_path: Path, *, is_on_network: bool
) -> None:
    clock = ManualClock()
    settings = SimSettings(
        seed=7, topics=TOPICS, operator_key=OPERATOR, is_on_network=is_on_network
    )
    async with (
        open_directory(tmp_path, clock) as database,
        open_sim(database, clock, settings) as sim,
    ):
        sim.service.operator_agent = "agent-own"
        assert sim.service.courier.allows_loopback("agent-own") is not is_on_network
        assert not sim.service.courier.allows_loopback("agent-other")


# -- the program ---------------------------------------------------------------------------


def surroundings(path: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return kept | {"HOME": str(path)}


def run(path: Path, *words: str, **variables: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "service_tui", *words, "--data-dir", str(path / "data")],
        env=surroundings(path) | variables,
        capture_output=True,
        text=True,
        timeout=START_S,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@contextmanager
def serving(path: Path, *words: str) -> Generator[str]:
    """The address of a `serve` in a process of its own."""
    with subprocess.Popen(
        [sys.executable, "-m", "service_tui", "serve", "--data-dir", str(path / "data"), *words],
        env=surroundings(path),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip().removeprefix("serving ")
        finally:
            process.terminate()
            process.wait(START_S)


@pytest.mark.process
def test_without_encryption_nothing_starts(tmp_path: Path) -> None:
    code, _, problem = run(tmp_path, "serve", "--host", "0.0.0.0")  # noqa: S104 - refused
    assert code == 1
    assert problem.startswith("service-tui: --host 0.0.0.0 is open to the network")
    assert not list((tmp_path / "data").glob("*.sqlite3"))


@pytest.mark.process
def test_people_and_agents_come_over_tls(tmp_path: Path, made: Certificate) -> None:
    tls = ("--tls-cert", str(made.cert), "--tls-key", str(made.key))
    names = ("--public-name", "localhost", "--public-name", NAME)
    with serving(tmp_path, *tls, *names) as url:
        assert url.startswith("https://localhost:")
        code, said, _ = run(tmp_path, "people", "add", "ada", "--role", "observer")
        key = said.splitlines()[-1]
        invited, said, _ = run(tmp_path, "invite", "--budget", "20", "--for", "ada")
        assert (code, invited) == (0, 0)
        body = {"name": "heron", "invitation": said.splitlines()[-1]}
        with httpx.Client(verify=made.trusted(), base_url=url, timeout=ANSWER_S) as http:
            assert http.post("/api/sdk/agents/register", json={"name": "x"}).status_code == 403
            born = http.post("/api/sdk/agents/register", json=body).json()
            assert born["claim_url"].startswith(url)
            mine = http.get("/api/desk/me", headers={"Authorization": f"Bearer {key}"}).json()
            assert (mine["name"], mine["role"], mine["world"]) == ("ada", "observer", "main")
        with_key = {"SERVICE_API_KEY": key, "SSL_CERT_FILE": str(made.cert)}
        code, said, problem = run(tmp_path, "people", "list", "--url", url, **with_key)
        assert (code, problem) == (0, "")
        assert "ada    observer" in said
        wanted = ("people", "add", "eve", "--role", "owner", "--url", url)
        code, _, problem = run(tmp_path, *wanted, **with_key)
        assert code == 1
        assert "this needs the role owner; ada is observer" in problem
    log = (tmp_path / "data" / "service-tui.log").read_text()
    assert not [one for one in (key, body["invitation"], born["api_key"]) if one in log]


# -- calls to the process that leads -----------------------------------------------------------


def test_a_process_on_a_network_trusts_its_own_certificate_and_asks_for_the_first_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    context = SimpleNamespace(
        verify_flags=ssl.VERIFY_X509_TRUSTED_FIRST, load_verify_locations=read.append
    )
    monkeypatch.setattr(ssl, "create_default_context", lambda: context)
    cert, key = tmp_path / "cert", tmp_path / "key"
    given = {"tls_cert": cert, "tls_key": key}
    for names, host, name in (
        (("a.example", "b.example"), "0.0.0.0", "a.example"),  # noqa: S104 - not opened
        ((), "10.0.0.7", "10.0.0.7"),
        ((), "::1", "::1"),
    ):
        tls = leader_tls(options(tmp_path, host=host, public_names=names, **given))
        assert tls is not None
        assert (tls.context, tls.name) == (context, name)
    assert read == [cert] * 3
    # It is no authority, and is trusted as it is.
    assert context.verify_flags & ssl.VERIFY_X509_PARTIAL_CHAIN
    assert context.verify_flags & ssl.VERIFY_X509_TRUSTED_FIRST


@pytest.mark.parametrize("given", [{}, {"trusted_proxy": "10.0.0.1", "tls_cert": Path("c")}])
def test_a_process_that_does_not_encrypt_itself_calls_its_leader_plainly(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    assert leader_tls(options(tmp_path, **given)) is None


@pytest.mark.slow
def test_a_certificate_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    given = options(tmp_path, host="10.0.0.7", tls_cert=tmp_path / "none", tls_key=tmp_path / "k")
    with pytest.raises(NetworkError, match="cannot read the certificate"):
        leader_tls(given)
