"""What governing an agent asks of the service, and what is told of it."""

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import sample_state
from service_tui.client.errors import Called, NotFoundError, RefusalReason, UnreachableError
from service_tui.desk.agents.handlers import OWN_KEY, govern
from service_tui.desk.changes import Changed
from service_tui.desk.commands.agents import AgentAct, Govern
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.agents import RevealedView
from service_tui.desk.slices.topics import Topic
from service_tui.terms import Plan
from service_tui.wire.base import timestamp
from service_tui.wire.desk import AccountPatch, DeskAgentPatch
from service_tui.wire.endpoints.desk import (
    DESK_CLAIM,
    DESK_CLAIM_CODE,
    DESK_NEW_KEY,
    DESK_PATCH_ACCOUNT,
    DESK_PATCH_AGENT,
)

HERON = {"agent_id": "a-2"}
AT = datetime(2027, 1, 15, 8, 30, tzinfo=UTC)
OWN_TOPICS = [Topic.AGENTS, Topic.ACCOUNT, Topic.WALLET]


def desk() -> Offline:
    made = Offline(sample_state(8))
    made.answers = {
        DESK_CLAIM: None,
        DESK_CLAIM_CODE: SimpleNamespace(code="CODE-7", claim_url="http://claim", expires_at=AT),
        DESK_NEW_KEY: SimpleNamespace(api_key="sk_live_new"),
        DESK_PATCH_AGENT: None,
        DESK_PATCH_ACCOUNT: SimpleNamespace(plan=Plan.ELITE),
    }
    return made


@pytest.mark.parametrize(
    ("act", "patch", "text"),
    [
        (AgentAct.PAUSE, {"trading_paused": True}, "heron paused: sales only"),
        (AgentAct.RESUME, {"trading_paused": False}, "heron may buy again"),
        (AgentAct.SUSPEND, {"suspended": True}, "heron suspended: all orders refused"),
        (AgentAct.READMIT, {"suspended": False}, "heron may trade again"),
        (AgentAct.RETIRE, {"retired": True}, "heron retired: slot free, history kept"),
        (AgentAct.PLAN, {"plan": Plan.ELITE}, "heron: plan changed"),
    ],
)
async def test_each_act_changes_one_thing_of_one_agent(
    act: AgentAct, patch: dict[str, object], text: str
) -> None:
    on = desk()
    await govern(Govern(act, "a-2", "heron", Plan.ELITE), on.ports)
    assert on.asked == [Asked(DESK_PATCH_AGENT, HERON, DeskAgentPatch.model_validate(patch))]
    assert on.asked[0].body.model_fields_set == set(patch)
    assert on.words == [("good", text)]
    assert on.woken == [Topic.AGENTS]


async def test_a_plan_without_an_agent_is_that_of_new_ones() -> None:
    on = desk()
    await govern(Govern(AgentAct.PLAN, plan=Plan.ELITE), on.ports)
    assert on.asked == [Asked(DESK_PATCH_ACCOUNT, body=AccountPatch(plan=Plan.ELITE))]
    assert on.words == [("good", "new agents: plan elite")]


async def test_a_claim_is_told() -> None:
    on = desk()
    await govern(Govern(AgentAct.CLAIM, "a-2", "heron"), on.ports)
    assert on.asked == [Asked(DESK_CLAIM, HERON)]
    assert on.words == [("good", "heron claimed")]


async def test_a_code_is_shown_with_its_agent_and_its_end_and_is_no_notice() -> None:
    on = desk()
    await govern(Govern(AgentAct.CODE, "a-2", "heron"), on.ports)
    assert on.asked == [Asked(DESK_CLAIM_CODE, HERON)]
    shown = RevealedView(
        "a-2",
        "heron",
        is_key=False,
        secret="CODE-7",  # noqa: S106
        claim_url="http://claim",
        expires_at=timestamp(AT),
    )
    assert on.facts == [Changed(shown)]
    assert timestamp(AT) == AT.timestamp()


async def test_a_new_key_of_another_agent_is_shown_once_and_said_without_it() -> None:
    on = desk()
    await govern(Govern(AgentAct.NEW_KEY, "a-2", "heron"), on.ports)
    assert on.asked == [Asked(DESK_NEW_KEY, HERON)]
    shown = RevealedView("a-2", "heron", is_key=True, secret="sk_live_new")  # noqa: S106
    assert on.facts[0] == Changed(shown)
    assert on.words == [("good", "heron has a new key; the old one is revoked")]
    assert (on.renewed, on.woken) == (0, [Topic.AGENTS])


async def test_the_own_new_key_is_loaded_and_never_shown() -> None:
    on = desk()
    assert on.state.account is not None
    await govern(Govern(AgentAct.NEW_KEY, on.state.account.agent_id, "desk"), on.ports)
    assert on.facts == on.told
    assert on.words == [("good", OWN_KEY)]
    assert (on.renewed, on.woken) == (1, OWN_TOPICS)


async def test_what_is_done_to_the_own_agent_is_read_anew() -> None:
    on = desk()
    await govern(Govern(AgentAct.PAUSE, "a-1", "desk"), on.ports)
    assert on.woken == OWN_TOPICS
    on = desk()
    on.state = replace(on.state, account=None)
    await govern(Govern(AgentAct.PAUSE, "a-1", "desk"), on.ports)
    assert on.woken == [Topic.AGENTS]


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"embedded": False}, "only agents of the embedded service are managed here"),
        ({"read_only": True}, READ_ONLY),
    ],
)
@pytest.mark.parametrize("act", AgentAct)
async def test_a_desk_that_may_not_govern_asks_nothing(
    act: AgentAct, other: dict[str, bool], why: str
) -> None:
    on = desk()
    on.state = replace(on.state, service=replace(on.state.service, **other))
    await govern(Govern(act, "a-2", "heron"), on.ports)
    assert (on.asked, on.woken) == ([], [])
    assert on.words == [("warn", why)]


async def test_a_failure_names_the_command_and_what_to_do() -> None:
    on, called = desk(), Called("PATCH", "/x")
    refusal = RefusalReason("no such agent", "look again")
    on.answers[DESK_PATCH_AGENT] = [
        NotFoundError(refusal, called, status=404),
        UnreachableError("no connection", called),
    ]
    for _ in range(2):
        await govern(Govern(AgentAct.PAUSE, "a-2", "heron"), on.ports)
    assert on.words == [
        ("bad", "pause heron: refused with 404: no such agent (PATCH /x); look again"),
        ("bad", "pause heron: no connection (PATCH /x)"),
    ]
    assert on.woken == [Topic.AGENTS] * 2
