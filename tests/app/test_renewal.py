"""Keys of a directory that another program has changed, and what an action log says of itself."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.app import renewal
from service_tui.app.renewal import client_keys, renewing
from service_tui.client.keys import Key, Keys
from service_tui.commands import log as log_command
from service_tui.commands.log import LogCommandError, verify_log
from service_tui.credentials.keys import DeskKeys, KeysError
from service_tui.storage.action_log import FILE

URL = "http://127.0.0.1:9"
OLD = DeskKeys("sk_operator", agent="sk_live_old", agent_id="own")
NEW = DeskKeys("sk_operator", agent="sk_live_new", agent_id="own")


def test_keys_of_a_directory_are_for_its_own_service() -> None:
    assert client_keys(OLD, URL) == Keys(Key("sk_live_old", URL), Key("sk_operator", URL))
    assert client_keys(DeskKeys("sk_operator"), URL) == Keys(None, Key("sk_operator", URL))


def test_keys_are_renewed_once_they_are_others(monkeypatch: pytest.MonkeyPatch) -> None:
    stored: list[Any] = [None, OLD, NEW, NEW, KeysError("unreadable"), ValueError("x"), OLD]
    given: list[Keys] = []

    def read(folder: Path) -> Any:
        assert folder == Path("/d")
        found = stored.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(renewal, "stored_desk_keys", read)
    client: Any = SimpleNamespace(renew=given.append)
    renew = renewing(Path("/d"), client, OLD, URL)
    assert [renew() for _ in range(7)] == [False, False, True, False, False, False, True]
    assert given == [client_keys(NEW, URL), client_keys(OLD, URL)]


def test_an_operators_key_that_was_renewed_counts_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    other = DeskKeys("sk_other", agent="sk_live_old", agent_id="own")
    monkeypatch.setattr(renewal, "stored_desk_keys", lambda _: other)
    given: list[Keys] = []
    client: Any = SimpleNamespace(renew=given.append)
    assert renewing(Path("/d"), client, OLD, URL)()
    assert given == [client_keys(other, URL)]


@pytest.mark.parametrize(
    ("chain", "expected", "said", "is_well"),
    [
        (("", 9, "ab12"), "", "9 entries: log verified; last hash ab12", True),
        (("line 4 differs", 3, ""), "", "line 4 differs; the 3 entries before it are", False),
        (FileNotFoundError(), "", "0 entries: nothing logged in", True),
        (FileNotFoundError(), "ab12", "does not exist: no line has the hash ab12", False),
        (PermissionError(13, "not allowed"), "", "cannot read", False),
    ],
)
def test_the_log_says_how_far_it_holds(
    monkeypatch: pytest.MonkeyPatch, chain: Any, expected: str, said: str, *, is_well: bool
) -> None:
    def verify(path: Path, wanted: str) -> Any:
        assert (path, wanted) == (Path("/d") / FILE, expected)
        if isinstance(chain, Exception):
            raise chain
        problem, count, last = chain
        return SimpleNamespace(problem=problem, count=count, last_hash=last)

    monkeypatch.setattr(log_command, "verify", verify)
    if is_well:
        assert verify_log(Path("/d"), expected).startswith(said)
    else:
        with pytest.raises(LogCommandError, match=said):
            verify_log(Path("/d"), expected)
