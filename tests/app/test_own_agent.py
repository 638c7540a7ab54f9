"""The desk's own agent: found again, registered once, given another key where its own is lost."""

from pathlib import Path

import pytest

from kit.service.stage import OPERATOR, Stage, open_stage
from service_tui.app.own_agent import keys_of_own_agent, own_key_writer
from service_tui.credentials.api_keys import (
    DESK_FILE,
    ApiKeysError,
    DeskKeys,
    keep_desk_keys,
    stored_desk_keys,
)
from service_tui.server.http.access import hash_of
from service_tui.storage.errors import StorageError


async def keys_of(stage: Stage, api_keys: DeskKeys) -> DeskKeys:
    return await keys_of_own_agent(stage.sim, stage.database, api_keys, stage.clock)


def opens(stage: Stage, api_keys: DeskKeys) -> bool:
    """Whether its key opens its agent."""
    assert api_keys.agent_id is not None
    return stage.world.agents[api_keys.agent_id].key_hash == hash_of(api_keys.agent or "")


@pytest.mark.slow
async def test_a_first_start_registers_and_a_lost_key_costs_the_key_and_not_the_account(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        folder = stage.database.path.parent
        first = await keys_of(stage, DeskKeys(OPERATOR))
        assert (first.operator, first.is_renewed, opens(stage, first)) == (OPERATOR, False, True)
        assert stored_desk_keys(folder) == first
        names = [agent.settings.name for agent in stage.world.agents.values()]
        assert names == ["tester", "desk"]
        # A working key is kept.
        assert await keys_of(stage, first) == first
        for lost in (
            DeskKeys(OPERATOR, "sk_live_wrong", first.agent_id),
            DeskKeys(OPERATOR, None, first.agent_id),
            # What is known of it here counts, not the file's word.
            DeskKeys(OPERATOR, first.agent, "a-gone"),
            DeskKeys(OPERATOR, "sk_live_wrong", stage.agent_id),
            DeskKeys(OPERATOR),
        ):
            found = await keys_of(stage, lost)
            assert (found.agent_id, found.is_renewed, opens(stage, found)) == (
                first.agent_id, True, True,
            )  # fmt: skip
            kept = stored_desk_keys(folder)
            assert kept is not None
            assert (kept.agent, kept.agent_id) == (found.agent, found.agent_id)
        assert len(stage.world.agents) == 2
        with pytest.raises(ApiKeysError, match="invalid operator key in "):
            await keys_of(stage, DeskKeys("two words"))


def test_a_new_key_is_stored_for_every_desk_of_the_directory(tmp_path: Path) -> None:
    keep = own_key_writer(tmp_path)
    with pytest.raises(StorageError, match="is missing"):
        keep("sk_live_new")
    keep_desk_keys(tmp_path, DeskKeys(OPERATOR, "sk_live_old", "a-1"))
    keep("sk_live_new")
    assert stored_desk_keys(tmp_path) == DeskKeys(OPERATOR, "sk_live_new", "a-1")
    (tmp_path / DESK_FILE).write_text("[")
    with pytest.raises(StorageError):
        keep("sk_live_other")
