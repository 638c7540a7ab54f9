"""The API keys of a data directory: made once, private, and read strictly."""

import json
import os
from pathlib import Path
from stat import S_IMODE

import pytest

from service_tui.credentials.api_keys import (
    DESK_FILE,
    FILE_MAX,
    PROFILES_FILE,
    ApiKeysError,
    DeskKeys,
    Profile,
    desk_keys,
    keep_desk_keys,
    keep_profile,
    profiles,
    stored_desk_keys,
)

SECRET = "sk_live_a_canary_that_sings"  # noqa: S105


def mode_of(path: Path) -> int:
    return S_IMODE(path.stat().st_mode)


def test_the_operators_key_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    api_keys = desk_keys(folder)
    assert api_keys.operator.startswith("op_")
    assert len(api_keys.operator) > 30
    assert (api_keys.agent, api_keys.agent_id) == (None, None)
    assert desk_keys(folder) == api_keys
    assert mode_of(folder / DESK_FILE) == 0o600
    assert mode_of(folder) == 0o700
    assert [path.name for path in folder.iterdir()] == [DESK_FILE]


def test_the_agents_key_is_kept_beside_it(tmp_path: Path) -> None:
    api_keys = DeskKeys("op_1", SECRET, "agent-1")
    keep_desk_keys(tmp_path, api_keys)
    assert desk_keys(tmp_path) == api_keys
    assert stored_desk_keys(tmp_path) == api_keys


def test_looking_makes_nothing(tmp_path: Path) -> None:
    assert stored_desk_keys(tmp_path / "none") is None
    assert profiles(tmp_path / "none") == {}
    assert list(tmp_path.iterdir()) == []


def test_no_repr_shows_a_key() -> None:
    shown = f"{DeskKeys(SECRET, SECRET, 'a')!r} {Profile('p', 'https://h', SECRET)!r}"
    assert SECRET not in shown


def test_profiles_are_kept_by_name_and_replaced(tmp_path: Path) -> None:
    keep_profile(tmp_path, Profile("a", "https://a", SECRET))
    keep_profile(tmp_path, Profile("b", "https://b", SECRET))
    keep_profile(tmp_path, Profile("a", "https://c", SECRET))
    assert profiles(tmp_path) == {
        "a": Profile("a", "https://c", SECRET),
        "b": Profile("b", "https://b", SECRET),
    }
    assert mode_of(tmp_path / PROFILES_FILE) == 0o600


def test_an_entry_that_is_no_profile_is_passed_over_and_kept(tmp_path: Path) -> None:
    path = tmp_path / PROFILES_FILE
    path.write_text(json.dumps({"odd": 7, "half": {"url": "https://h"}}))
    assert profiles(tmp_path) == {}
    keep_profile(tmp_path, Profile("a", "https://a", SECRET))
    assert json.loads(path.read_text())["odd"] == 7
    assert set(profiles(tmp_path)) == {"a"}


BROKEN = {
    "cut": f'{{"operator": "{SECRET}',
    "no object": "[1, 2]",
    "a number": "7",
    "deep": "[" * 30_000,
    "no text": b"\xff\xfe\x00",
    "large": json.dumps({"operator": "x" * FILE_MAX}),
    "empty": "",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_read_is_named_and_left_as_it_is(tmp_path: Path, name: str) -> None:
    content = BROKEN[name]
    raw = content if isinstance(content, bytes) else content.encode()
    for file in (DESK_FILE, PROFILES_FILE):
        (tmp_path / file).write_bytes(raw)
    for read, file in ((desk_keys, DESK_FILE), (profiles, PROFILES_FILE)):
        with pytest.raises(ApiKeysError) as caught:
            read(tmp_path)
        assert str(tmp_path / file) in str(caught.value)
        assert "move it away" in str(caught.value)
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is None
        # A traceback would show what the decoder met.
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
        assert (tmp_path / file).read_bytes() == raw


def test_a_file_of_just_the_largest_size_is_read(tmp_path: Path) -> None:
    text = json.dumps({"operator": "op_1", "padding": ""})
    full = text[:-2] + "x" * (FILE_MAX - len(text)) + text[-2:]
    (tmp_path / DESK_FILE).write_text(full)
    assert desk_keys(tmp_path).operator == "op_1"


def test_keys_without_an_operator_are_not_made_up(tmp_path: Path) -> None:
    (tmp_path / DESK_FILE).write_text('{"agent": "x"}')
    with pytest.raises(ApiKeysError, match="no operator key"):
        desk_keys(tmp_path)


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_may_write_is_refused(tmp_path: Path, mode: int) -> None:
    desk_keys(tmp_path)
    (tmp_path / DESK_FILE).chmod(mode)
    with pytest.raises(ApiKeysError, match="others may write"):
        desk_keys(tmp_path)


def test_a_link_is_no_key_file(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.write_text('{"operator": "op_1"}')
    (tmp_path / DESK_FILE).symlink_to(real)
    with pytest.raises(ApiKeysError, match="not a plain file"):
        desk_keys(tmp_path)


def test_a_folder_that_others_may_write_takes_no_keys(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(ApiKeysError, match="others may write"):
        keep_profile(tmp_path, Profile("a", "https://a", SECRET))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ApiKeysError, match="file"):
        keep_desk_keys(tmp_path / "file" / "sub", DeskKeys("op_1"))


def test_a_disk_that_fills_leaves_the_old_keys_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api_keys = desk_keys(tmp_path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ApiKeysError, match="No space left"):
        keep_desk_keys(tmp_path, DeskKeys("op_2", SECRET))
    assert desk_keys(tmp_path) == api_keys
    assert [path.name for path in tmp_path.iterdir()] == [DESK_FILE]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_profiles_that_another_systems_editor_saved_are_read_as_any_other(
    tmp_path: Path, encoding: str
) -> None:
    path = tmp_path / "profiles.json"
    keep_profile(tmp_path, Profile("mine", "https://desk.example", SECRET))
    path.write_bytes(path.read_text().replace("\n", "\r\n").encode(encoding))
    path.chmod(0o600)
    assert profiles(tmp_path)["mine"].url == "https://desk.example"
