"""The wallet panel without an app: what it shows, hides and confirms, and what its keys do."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.alone import Alone, Part
from kit.samples.desk import NOW, sample_state
from kit.samples.wallet import ADDRESS, wallet_of
from service_tui.console.chain_text import key_text
from service_tui.console.keys import cap
from service_tui.console.messages import Copied
from service_tui.console.screens.wallet import panel as module
from service_tui.console.screens.wallet.panel import BESIDE_FROM, WalletPanel, _in_lines  # pyright: ignore[reportPrivateUsage]
from service_tui.console.screens.wallet.text import checklist_text, wallet_text
from service_tui.desk.commands.wallet import LockWallet
from service_tui.desk.slices.wallet import ChallengeView, KeyState, WalletJob
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STATE = replace(sample_state(), wallet=wallet_of(), preferences={})


JOB = next(iter(WalletJob))


def on(**wallet: Any) -> DeskState:
    return replace(STATE, wallet=replace(STATE.wallet, **wallet))


def panel(state: DeskState = STATE, width: int = BESIDE_FROM) -> Alone:
    form = Alone(WalletPanel(state, NOW))
    kind: Any = form.dialog.__class__
    kind.size = Part().size
    kind.size.width = width
    form.dialog.on_mount()
    return form


@pytest.fixture(autouse=True)
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing a code takes longer than all the rest of the panel."""

    def code(address: str, *, on_dark: bool) -> str:
        return f"code of {address}, {'dark' if on_dark else 'light'}"

    monkeypatch.setattr(module, "qr_text", code)


def test_the_panel_shows_the_wallet_its_steps_and_its_code() -> None:
    form = panel()
    assert ADDRESS[:6] in form.text("wallet-text")
    assert form.text("wallet-checks")
    assert form.text("wallet-approvals")
    assert form.part("wallet-code").display
    assert form.text("wallet-code") == f"code of {ADDRESS}, dark"


def test_the_page_says_that_withdrawals_are_made_on_the_dashboard() -> None:
    for state in (STATE, on(ownership=None)):
        shown = " ".join(wallet_text(state).plain.split())
        assert "withdrawals on the service's dashboard only" in shown


@pytest.mark.parametrize("case", ["private", "not linked", "narrow"])
def test_no_code_is_shown_of_an_address_that_is_masked_not_linked_or_without_room(
    case: str,
) -> None:
    private = replace(STATE, preferences={"privacy": "on"})
    state = {"private": private, "not linked": on(address=""), "narrow": STATE}[case]
    form = panel(state, BESIDE_FROM - 1 if case == "narrow" else BESIDE_FROM)
    assert not form.part("wallet-code").display
    assert form.text("wallet-code") == ""
    if case == "private":
        assert ADDRESS[:6] not in form.text("wallet-text")
    if case == "not linked":
        assert form.text("wallet-approvals") == ""


def test_the_code_is_drawn_again_only_for_another_address() -> None:
    form = panel()
    form.part("wallet-code").text = "as before"
    form.dialog.take(on(gas=None), NOW)
    assert form.text("wallet-code") == "as before"
    other = "0x" + "9a" * 20
    form.dialog.take(on(address=other), NOW)
    assert form.text("wallet-code") == f"code of {other}, dark"


@pytest.mark.parametrize(
    ("wallet", "asked"),
    [
        ({"approvals_at": Timestamp(NOW + 1)}, 1),
        ({"approvals_at": Timestamp(NOW + 1), "job": JOB}, 0),
        ({}, 0),
    ],
)
def test_requested_approvals_are_confirmed_once_when_they_have_come(
    monkeypatch: pytest.MonkeyPatch, wallet: Any, asked: int
) -> None:
    opened: list[Any] = []
    monkeypatch.setattr(module, "confirm_approvals", opened.append)
    form = panel(on(approvals_at=NOW))
    form.dialog.take(on(approvals_at=Timestamp(NOW - 1)), NOW)
    assert opened == []
    form.dialog.take(on(approvals_at=NOW), NOW)
    form.dialog.confirms_approvals = True
    form.dialog.take(on(**{"approvals_at": NOW, **wallet}), NOW)
    assert len(opened) == asked
    assert form.dialog.confirms_approvals is not bool(asked)
    form.dialog.take(on(approvals_at=Timestamp(NOW + 2)), NOW)
    assert len(opened) <= 1 + (not asked)


def challenge(nonce: str) -> ChallengeView:
    return ChallengeView(ADDRESS, nonce, "signed text", Timestamp(NOW + 60))


@pytest.mark.parametrize(
    ("before", "after", "job", "asked"),
    [
        (None, "a", None, 1),
        ("a", "b", None, 1),
        ("a", "a", None, 0),
        ("a", None, None, 0),
        (None, "a", JOB, 0),
    ],
)
def test_a_requested_link_is_confirmed_with_a_new_challenge_alone(
    monkeypatch: pytest.MonkeyPatch, before: Any, after: Any, job: Any, *, asked: int
) -> None:
    opened: list[Any] = []
    monkeypatch.setattr(module, "confirm_link", opened.append)
    known = {None: None, "a": challenge("a"), "b": challenge("b")}
    form = panel(on(challenge=known[before]))
    form.dialog.confirms_link = True
    form.dialog.take(on(challenge=known[after], job=job), NOW)
    assert len(opened) == asked
    assert form.dialog.confirms_link is not bool(asked)


def test_a_key_runs_its_own_action_or_says_why_not() -> None:
    form = panel()
    form.dialog.action_perform("wallet.unlock")
    assert form.given == [LockWallet()]
    none = panel(on(address="", key_address="", stored=()))
    none.dialog.action_perform("wallet.code")
    assert none.given == none.opened == []
    assert len(none.toasts) == 1


def test_the_panel_copies_opens_and_leaves() -> None:
    form = panel()
    form.dialog.copy("text", "the name")
    (copied,) = form.posted
    assert isinstance(copied, Copied)
    got: list[str] = []
    for answer in (None, "yes"):
        form.dialog.open_dialog("a dialog", got.append)
        form.answer(answer)
    assert (form.opened, got) == (["a dialog"] * 2, ["yes"])
    form.dialog.action_lines(10)
    assert form.part("wallet-body").done == [{"y": 10, "animate": False}]
    form.dialog.action_close()
    assert form.left == [None]


@pytest.mark.parametrize("width", [1, 30, 60, 400])
def test_the_keys_fill_their_lines_and_none_is_broken(width: int) -> None:
    whole = _in_lines(10_000)
    lines = _in_lines(width).splitlines()
    assert "   ".join(lines) == whole
    assert all(len(line) <= width or "   " not in line for line in lines)
    pairs = [line.split("   ") for line in lines]
    for line, after in zip(lines, pairs[1:], strict=False):
        assert len(f"{line}   {after[0]}") > width


def test_the_keys_stand_below_once_the_width_is_known() -> None:
    form = panel()
    form.dialog._show_keys()
    assert form.text("wallet-keys").replace("\n", "   ") == _in_lines(10_000)


def test_the_steps_of_the_setup_are_listed_once_all_of_them_are_read() -> None:
    # The approvals are missing, and this desk sends no real money.
    missing = checklist_text(wallet_of(), 100).plain
    assert missing.startswith("setup: 2 missing\n✓ agent claimed")
    signs = [line[0] for line in missing.splitlines() if line[:2] in {"✓ ", "✗ "}]
    assert signs.count("✗") == 2
    assert signs[:4] == ["✓", "✓", "✗", "✓"]
    unread = checklist_text(wallet_of(is_read=False), 100).plain
    assert "not loaded yet" in unread
    assert not any(glyph in unread for glyph in "✓✗?")


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (KeyState.UNLOCKED, "key unlocked"),
        (KeyState.LOCKED, f"key locked  {cap('wallet.unlock')}"),
        (KeyState.NONE, "key no key here"),
    ],
)
def test_the_key_says_whether_this_machine_signs(state: KeyState, told: str) -> None:
    assert key_text(wallet_of(key_state=state)).plain == told
