"""What the environment says, and what is left of a wallet's key in it."""

import ctypes
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from platformdirs import PlatformDirs

from service_tui import config
from service_tui.config import KEY_VARIABLE, Environment, read_environment

KEY = "0xsecret"


def test_every_variable_has_its_field() -> None:
    folders = PlatformDirs("service-tui")
    environ = {
        "SERVICE_API_KEY": "key", "SERVICE_API_URL": "https://there", "WALLET_PRIVATE_KEY": KEY,
        "SERVICE_ALLOW_INSECURE_BASE_URL": "Yes", "SERVICE_TUI_DATA_DIR": "/somewhere",
        "SERVICE_POLYMARKET_EXCHANGE_VERSION": "v2", "OTHER": "stays",
    }  # fmt: skip
    assert read_environment(environ) == Environment(
        "key", "https://there", True, Path("/somewhere"), folders.user_config_path, KEY, "v2"  # noqa: FBT003 - a row
    )  # fmt: skip
    assert "WALLET_PRIVATE_KEY" not in environ
    assert len(environ) == 6


@pytest.mark.parametrize("said", ["", None])
def test_a_variable_that_is_empty_says_nothing(said: str | None) -> None:
    names = (
        "SERVICE_API_KEY", "SERVICE_API_URL", "WALLET_PRIVATE_KEY", "SERVICE_TUI_DATA_DIR",
        "SERVICE_ALLOW_INSECURE_BASE_URL", "SERVICE_POLYMARKET_EXCHANGE_VERSION",
    )  # fmt: skip
    folders = PlatformDirs("service-tui")
    assert read_environment({} if said is None else dict.fromkeys(names, said)) == Environment(
        None, None, False, folders.user_data_path, folders.user_config_path  # noqa: FBT003 - a row
    )  # fmt: skip


def test_only_the_environment_of_this_process_is_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    wiped: list[str] = []
    monkeypatch.setattr(config, "_wipe", wiped.append)
    monkeypatch.delenv("WALLET_PRIVATE_KEY", raising=False)
    read_environment(os.environ)
    read_environment({"WALLET_PRIVATE_KEY": KEY})
    assert wiped == []
    monkeypatch.setenv("WALLET_PRIVATE_KEY", KEY)
    assert read_environment(os.environ).wallet_key == KEY
    assert wiped == ["WALLET_PRIVATE_KEY"]
    assert "WALLET_PRIVATE_KEY" not in os.environ


def library_with(place: int | None, asked: list[object]) -> SimpleNamespace:
    def getenv(name: bytes) -> int | None:
        asked.append(name)
        return place

    def prctl(*words: int) -> None:
        asked.append(words)

    return SimpleNamespace(getenv=getenv, prctl=prctl)


def test_a_wiped_variable_is_overwritten_whole_and_its_memory_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = ctypes.create_string_buffer(b"secret\0beside")
    asked: list[object] = []
    library = library_with(ctypes.addressof(memory), asked)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    config._wipe("NAME")
    assert memory.raw == b"******\0beside\0"
    # An address has more bits than the whole number that a library returns by itself.
    assert library.getenv.restype is ctypes.c_void_p
    assert asked == [b"NAME", (4, 0, 0, 0, 0)]


def test_a_variable_that_is_not_there_leaves_nothing_to_overwrite(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library_with(None, asked))
    config._wipe("NAME")
    assert asked == [b"NAME", (4, 0, 0, 0, 0)]


def test_a_key_is_read_as_it_was_pasted() -> None:
    for text in ('"sk_live_01234567"', "Bearer sk_live_01234567\r\n", " sk_live_01234567 "):
        assert read_environment({KEY_VARIABLE: text}).api_key == "sk_live_01234567"
