"""Each setting as a line and as JSON: what is set, even to nothing, and no secret."""

import json
from pathlib import Path
from typing import Any

import pytest

from service_tui.commands.config import as_json, as_lines
from service_tui.settings import BY_KEY, EffectiveSetting

SECRET = "sk_live_a_canary_that_sings"  # noqa: S105


def one_of(key: str, value: Any, source: str = "config.toml, line 2") -> dict[str, Any]:
    (text,) = as_json([EffectiveSetting(BY_KEY[key], value, source)])
    (one,) = json.loads(text)
    return one


@pytest.mark.parametrize(
    ("key", "value"), [("seed", 0), ("speed", 0), ("read_only", False), ("url", "")]
)
def test_a_setting_of_nothing_is_set_and_one_without_a_value_is_not(
    key: str, value: str | float
) -> None:
    assert (one_of(key, value)["value"], one_of(key, value)["is_set"]) == (value, True)
    assert (one_of(key, None)["value"], one_of(key, None)["is_set"]) == (None, False)


def test_a_secret_is_said_to_be_set_and_is_not_shown() -> None:
    assert (one_of("api_key", SECRET)["value"], one_of("api_key", SECRET)["is_set"]) == (None, True)
    assert not one_of("api_key", None)["is_set"]
    secret = EffectiveSetting(BY_KEY["api_key"], SECRET, "config.toml, line 2")
    assert SECRET not in "".join((*as_lines([secret], ""), *as_json([secret])))


def test_a_path_is_text() -> None:
    assert one_of("data_dir", Path("/srv/desk"))["value"] == "/srv/desk"


def test_values_and_sources_stand_below_each_other_and_a_note_behind() -> None:
    lines = as_lines(
        [
            EffectiveSetting(BY_KEY["seed"], 7, "--seed"),
            EffectiveSetting(BY_KEY["data_dir"], None, "default"),
            EffectiveSetting(BY_KEY["log_level"], "debug", "SERVICE_TUI_LOG_LEVEL", "not line 3"),
        ],
        "/srv/desk",
    )
    assert lines == (
        "seed       7          --seed",
        "data_dir   /srv/desk  default",
        "log_level  debug      SERVICE_TUI_LOG_LEVEL (not line 3)",
    )
