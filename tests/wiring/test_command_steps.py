"""Commands on an open desk: what each waits for, submits, and reports."""

from collections.abc import Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from service_tui.desk.commands.agents import AgentAct, Govern
from service_tui.desk.commands.halt import RESUME_WORD, Halt, Resume
from service_tui.desk.slices.halt import AckState
from service_tui.desk.slices.records import Topic
from service_tui.storage.errors import DirectoryLockedError
from service_tui.wiring import agent_command, attached, halt_command
from service_tui.wiring.halt_command import HaltReport
from service_tui.wiring.options import Options

OPTIONS: Final = Options(Path("/d"), Path("/c"), Path("/l"), listen=5)


class Desk:
    """A desk that changes as a test says when something is submitted."""

    def __init__(self, **state: Any) -> None:
        given: dict[str, Any] = {
            "notices": (), "limits": None, "halt": None, "halted_since": None, "fleet": None,
            "seen": {Topic.WORLD}, "service": SimpleNamespace(embedded=True),
        }  # fmt: skip
        self.state = SimpleNamespace(**{**given, **state})
        self.submitted: list[Any] = []
        self.does: Callable[[Any], None] = lambda _: None
        self.waits: list[float] = []

    def submit(self, command: Any) -> None:
        self.submitted.append(command)
        self.does(command)


@pytest.fixture(autouse=True)
def _waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async def until(desk: Any, holds: Callable[[Any], bool], seconds: float) -> bool:
        desk.waits.append(seconds)
        return holds(desk.state)

    for module in (halt_command, agent_command):
        monkeypatch.setattr(module, "until", until)


def ack(what: str, state: AckState, detail: str = "") -> Any:
    return SimpleNamespace(what=what, state=state, detail=detail)


@pytest.mark.parametrize(
    ("second", "is_done", "last"),
    [
        (AckState.DONE, True, "ok      service (2 orders)"),
        (AckState.WAITING, False, "missing service (2 orders)"),
        (AckState.FAILED, False, "missing service (2 orders)"),
    ],
)
async def test_a_halt_names_each_source_and_is_done_when_all_have_answered(
    second: AckState, *, is_done: bool, last: str
) -> None:
    desk: Any = Desk()
    acks = (ack("gate", AckState.DONE), ack("service", second, "2 orders"))
    desk.does = lambda _: setattr(desk.state, "halt", SimpleNamespace(acks=acks, missing=()))
    report = await halt_command.halt_on(desk)
    lines = ("ok      gate", last)
    assert report == HaltReport(is_done, lines if is_done else (*lines, halt_command.KEPT))
    assert desk.submitted == [Halt()]
    assert desk.waits == [1.5, 10.0]


def notice(number: int, text: str) -> Any:
    return SimpleNamespace(notice_id=number, text=text)


async def test_where_nothing_is_halted_nothing_is_resumed() -> None:
    desk: Any = Desk()
    assert await halt_command.resume_on(desk) == HaltReport(is_done=True, lines=("nothing halted",))
    assert desk.submitted == []


@pytest.mark.parametrize(
    ("embedded", "seen"),
    [(True, {Topic.ACCOUNT}), (False, {Topic.WORLD}), (True, set()), (True, {Topic.WORLD})],
)
async def test_a_halt_is_ended_by_the_word_whether_or_not_it_is_known(
    seen: set[Topic], *, embedded: bool
) -> None:
    service = SimpleNamespace(embedded=embedded)
    is_known = embedded and Topic.WORLD in seen
    desk: Any = Desk(
        seen=seen, service=service, halted_since=9.0 if is_known else None,
        notices=(notice(3, "resumed before"),),
    )  # fmt: skip

    def resumed(_: Any) -> None:
        desk.state.halted_since = None
        desk.state.notices = (*desk.state.notices, notice(4, "resumed: entries pass"))

    desk.does = resumed
    report = await halt_command.resume_on(desk)
    assert desk.submitted == [Resume(RESUME_WORD)]
    assert report == HaltReport(is_done=True, lines=("resumed: entries pass",))


@pytest.mark.parametrize(
    ("texts", "lines"),
    [
        (["not resumed: the service refused"], ("not resumed: the service refused",)),
        (["something else"], ("not resumed, still halted: the service does not respond",)),
        ([], ("not resumed, still halted: the service does not respond",)),
    ],
)
async def test_a_halt_that_stays_says_why(texts: list[str], lines: tuple[str, ...]) -> None:
    desk: Any = Desk(halted_since=9.0)
    desk.does = lambda _: setattr(
        desk.state, "notices", tuple(notice(n, text) for n, text in enumerate(texts, 1))
    )
    assert await halt_command.resume_on(desk) == HaltReport(is_done=False, lines=lines)


def test_a_command_opens_a_desk_that_sells_nothing_and_serves_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Any] = []

    async def opened(stack: AsyncExitStack, options: Options) -> Any:
        seen.append((type(stack), options))
        return "desk"

    async def action(desk: Any) -> HaltReport:
        return HaltReport(is_done=True, lines=(desk,))

    monkeypatch.setattr(halt_command, "opened", opened)
    report = halt_command.run_on_desk(OPTIONS, action)
    assert report.lines == ("desk",)
    ((_, options),) = seen
    assert (options.exits, options.listen, options.data_dir) == (False, None, Path("/d"))
    for command, target in ((halt_command.halt, "halt_on"), (halt_command.resume, "resume_on")):
        monkeypatch.setattr(halt_command, target, action)
        assert command(OPTIONS).lines == ("desk",)


@pytest.mark.parametrize("way", ["url", "own", "beside"])
async def test_a_desk_is_opened_by_address_or_owned_or_beside_its_owner(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []

    def opens(name: str, error: Exception | None = None) -> Any:
        @asynccontextmanager
        async def entered(*words: Any) -> Any:
            called.append(f"{name} {len(words)}")
            if error is not None:
                raise error
            yield name

        return entered

    locked = DirectoryLockedError.__new__(DirectoryLockedError) if way == "beside" else None
    monkeypatch.setattr(halt_command, "first_state", lambda _: "state")
    monkeypatch.setattr(halt_command.live, "open_desk_of", opens("url"))
    monkeypatch.setattr(halt_command.live, "embedded_parts", opens("own", locked))
    monkeypatch.setattr(halt_command.attached_desk, "attached_parts", opens("beside"))
    url = "https://desk.example" if way == "url" else None
    async with AsyncExitStack() as stack:
        found: Any = await halt_command.opened(
            stack, Options(Path("/d"), Path("/c"), Path("/l"), url=url)
        )
    assert found == way
    assert called == {"url": ["url 2"], "own": ["own 4"], "beside": ["own 4", "beside 4"]}[way]


# -- agents ---------------------------------------------------------------------------------------


def member(agent_id: str, name: str, *, retired: bool = False) -> Any:
    return SimpleNamespace(agent_id=agent_id, name=name, retired=retired)


def fleet(*members: Any) -> Any:
    return SimpleNamespace(agents=members)


async def govern(desk: Any, act: str, name: str, monkeypatch: pytest.MonkeyPatch) -> HaltReport:
    works: list[Any] = []
    monkeypatch.setattr(agent_command, "run_on_desk", lambda _, work: works.append(work))
    agent_command.govern(OPTIONS, act, name)
    report: HaltReport = await works[0](desk)
    return report


@pytest.mark.parametrize("name", ["a1", "ada"])
@pytest.mark.parametrize("act", ["retire", "readmit"])
async def test_an_agent_is_retired_or_readmitted_by_its_id_or_its_name(
    name: str, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    retires = act == "retire"
    desk: Any = Desk(
        fleet=fleet(member("a2", "ben"), member("a1", "ada", retired=not retires)),
        notices=(notice(3, "ada before"),),
    )

    def done(_: Any) -> None:
        desk.state.fleet = fleet(member("a1", "ada", retired=retires))
        desk.state.notices = (
            *desk.state.notices, notice(4, "ada is so now"), notice(5, "ben as well")
        )  # fmt: skip

    desk.does = done
    report = await govern(desk, act, name, monkeypatch)
    assert desk.submitted == [Govern(AgentAct(act), "a1", "ada")]
    assert report == HaltReport(is_done=True, lines=("ada is so now",))


async def test_what_is_so_already_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    desk: Any = Desk(fleet=fleet(member("a1", "ada", retired=True)))
    report = await govern(desk, "retire", "ada", monkeypatch)
    assert (report.is_done, report.lines, desk.submitted) == (True, ("ada: nothing to do",), [])


async def test_a_name_has_to_be_that_of_one_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    members = member("a1", "ada"), member("a2", "ada", retired=True), member("a3", "ben")
    desk: Any = Desk(fleet=fleet(*members))
    two = await govern(desk, "retire", "ada", monkeypatch)
    assert two == HaltReport(
        is_done=False,
        lines=("several agents have this name: give the id", "a1  ada", "a2  ada  (retired)"),
    )
    none = await govern(desk, "retire", "cyd", monkeypatch)
    assert none.lines == ("no such agent", "a1  ada", "a2  ada  (retired)", "a3  ben")
    elsewhere: Any = Desk()
    assert await govern(elsewhere, "retire", "ada", monkeypatch) == HaltReport(
        is_done=False, lines=(agent_command.UNKNOWN,)
    )
    assert desk.submitted == elsewhere.submitted == []


async def test_an_agent_that_stays_as_it_was_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    desk: Any = Desk(fleet=fleet(member("a1", "ada")))
    desk.does = lambda _: setattr(desk.state, "notices", (notice(1, "ada: refused"),))
    report = await govern(desk, "retire", "ada", monkeypatch)
    assert report == HaltReport(is_done=False, lines=("ada: refused",))


# -- the owner of a directory ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("published", "address"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:08080", None),
        ("http://127.0.0.1:123456", None),
        ("http://127.0.0.1:8080/x", None),
        ("https://127.0.0.1:8080", None),
        ("http://10.0.0.1:8080", None),
        ("", None),
        (None, None),
    ],
)
def test_only_an_address_of_this_machine_gets_the_keys(
    published: str | None, address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder: Any = SimpleNamespace(address=published)
    assert attached.loopback_address(holder) == address
    monkeypatch.setattr(attached, "holder_of", lambda _: holder)
    assert attached.address_of(Path("/d")) == address
    monkeypatch.setattr(attached, "holder_of", lambda _: None)
    assert attached.address_of(Path("/d")) is None


def test_a_lock_that_cannot_be_read_names_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Path) -> None:
        raise attached.StorageError("unreadable")

    monkeypatch.setattr(attached, "holder_of", broken)
    assert attached.address_of(Path("/d")) is None


@pytest.mark.parametrize(
    ("since", "may"), [(None, True), (100.0, True), (90.1, True), (90.0, False), (0.0, False)]
)
def test_an_owner_may_still_begin_to_serve_for_a_while(since: float | None, *, may: bool) -> None:
    holder: Any = SimpleNamespace(since=since)
    assert attached.may_still_serve(holder, 100.0) is may


class Line:
    """A transport that notes what goes where."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.is_closed = False

    async def handle_async_request(self, request: Any) -> str:
        self.sent.append(request)
        return "answer"

    async def aclose(self) -> None:
        self.is_closed = True


async def test_a_request_goes_to_the_address_of_now_with_all_that_it_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line, addresses = Line(), ["http://127.0.0.1:81", "http://127.0.0.1:82", "http://127.0.0.1:82"]
    monkeypatch.setattr(attached, "loopback_transport", lambda: line)
    monkeypatch.setattr(attached, "address_of", lambda _: addresses.pop(0) if addresses else None)
    transport = attached.HolderTransport(Path("/d"))
    facts: list[Any] = []
    request = attached.httpx.Request(
        "POST", f"{attached.HOLDER_URL}/api/x?q=1", headers={"X-One": "1"}, content=b"body"
    )
    found: Any = await transport.handle_async_request(request)
    assert found == "answer"
    sent = line.sent[0]
    assert (sent.method, str(sent.url), sent.headers["host"], sent.headers["x-one"]) == (
        "POST", "http://127.0.0.1:81/api/x?q=1", "127.0.0.1:81", "1"
    )  # fmt: skip
    transport.report_to(facts.append, own=lambda: "http://127.0.0.1:82")
    for _ in range(2):
        await transport.handle_async_request(request)
    assert [(fact.address, fact.attached) for fact in facts] == [("http://127.0.0.1:82", False)]
    with pytest.raises(attached.httpx.ConnectError):
        await transport.handle_async_request(request)
    assert len(line.sent) == 3
    await transport.aclose()
    assert line.is_closed
