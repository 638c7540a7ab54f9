"""What the commands of the wallet show, store and ask, and what they refuse."""

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from kit.desk.offline import Asked, Offline
from kit.desk.redeeming import CountingSigner
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import Called, UnreachableError
from service_tui.desk.changes import Changed, changed
from service_tui.desk.commands.wallet import (
    APPROVE_WORD,
    LIVE_WORD,
    TAIL,
    KeepKey,
    LinkWallet,
    RemoveKey,
    RequestLink,
    SetApprovals,
    SetLive,
    UnlockWallet,
)
from service_tui.desk.reasons import Reason
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.wallet import (
    ApprovalView,
    ChallengeView,
    KeyState,
    Ownership,
    StoredKeyView,
    WalletJob,
    WalletView,
)
from service_tui.desk.vault import KeyView
from service_tui.desk.wallet import handlers
from service_tui.desk.wallet.handlers import WalletHandlers
from service_tui.signing.approvals import approvals
from service_tui.signing.errors import KeystoreError, LockedError
from service_tui.signing.link import Challenge
from service_tui.signing.policy import SigningPolicy
from service_tui.storage.errors import StorageError
from service_tui.wire.base import timestamp
from service_tui.wire.endpoints.public import PATCH_SETTINGS
from service_tui.wire.endpoints.wallet import (
    CHECK_CREDENTIALS,
    DERIVE_CREDENTIALS,
    LINK_CHALLENGE,
    LINK_WALLET,
)
from service_tui.wire.settings import SettingsPatch
from service_tui.wire.wallet import ChallengeQuery, DeriveRequest, LinkRequest

SIGNER = CountingSigner()
SIGNATURE = "0x" + "5a" * 65
CALLED = Called("POST", "/x")
SILENT = UnreachableError("no connection", CALLED)
VIEW = KeyView(
    "0xKEY", KeyState.UNLOCKED, "keystore", (StoredKeyView("0xKEY", "mine"),), ("odd file",)
)
AFTER = [Topic.WALLET, Topic.REDEMPTIONS, Topic.ACCOUNT]


class FakeVault:
    """A vault that notes what was asked of it."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.problem: Exception | None = None

    def _ask(self, *words: str) -> None:
        self.asked.append(words)
        if self.problem is not None:
            raise self.problem

    def look(self) -> None:
        self._ask("look")

    def lock(self) -> None:
        self._ask("lock")

    def unlock(self, address: str, passphrase: str) -> None:
        self._ask("unlock", address, passphrase)

    def keep(self, passphrase: str, secret: str) -> None:
        self._ask("keep", passphrase, secret)

    def remove(self, address: str) -> None:
        self._ask("remove", address)

    def view(self) -> KeyView:
        return VIEW

    def signer_of(self, address: str) -> CountingSigner:
        self._ask("signer", address)
        return SIGNER


class Work:
    """The handlers on a desk without a service."""

    def __init__(self, *, executes: bool = True) -> None:
        self.on = Offline(sample_state(8), skew_s=4.0)
        self.on.ports.client.host = "service.example"  # type: ignore[misc]
        self.vault = FakeVault()
        gateway = SimpleNamespace(vault=self.vault, policy=SigningPolicy())
        self.handlers = WalletHandlers(
            self.on.ports,
            gateway,
            executes=lambda: executes,  # type: ignore[arg-type]
        )
        self.wallet(problem="of before", fix="of before", address="0xLINKED")

    def wallet(self, **other: Any) -> None:
        self.on.state = replace(self.on.state, wallet=replace(self.on.state.wallet, **other))

    def only_reads(self) -> None:
        self.on.state = replace(
            self.on.state, service=replace(self.on.state.service, read_only=True)
        )

    @property
    def shown(self) -> list[WalletView]:
        return [row for fact in self.on.facts if (row := changed(fact, WalletView)) is not None]

    @property
    def jobs(self) -> list[tuple[WalletJob | None, str]]:
        return [(one.job, one.job_text) for one in self.shown]


# -- the key ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "asked", "job"),
    [
        (
            UnlockWallet("words", "0xA"),
            ("unlock", "0xA", "words"),
            (WalletJob.UNLOCK, "checking the passphrase"),
        ),
        (
            UnlockWallet("words"),
            ("unlock", "0xKEY", "words"),
            (WalletJob.UNLOCK, "checking the passphrase"),
        ),
        (
            KeepKey("words", "secret"),
            ("keep", "words", "secret"),
            (WalletJob.KEY, "encrypting the key"),
        ),
    ],
)
async def test_a_key_is_opened_or_kept_and_its_state_is_shown(
    order: UnlockWallet | KeepKey, asked: tuple[str, ...], job: tuple[WalletJob, str]
) -> None:
    it = Work()
    before = it.on.state.wallet
    work = it.handlers.unlock if isinstance(order, UnlockWallet) else it.handlers.keep
    await work(order)  # type: ignore[arg-type]
    assert it.vault.asked == [asked]
    begun, done = it.shown
    assert begun == replace(before, job=job[0], job_text=job[1], problem="", fix="")
    assert done == replace(
        before,
        key_address="0xKEY",
        key_state=KeyState.UNLOCKED,
        key_source="keystore",
        stored=VIEW.stored,
        passed_over=("odd file",),
        problem="",
        fix="",
    )
    assert it.on.told == []


@pytest.mark.parametrize("problem", [KeystoreError("wrong passphrase"), OSError("disk full")])
async def test_a_passphrase_that_is_wrong_is_told_and_asked_for_again(problem: Exception) -> None:
    it = Work()
    it.vault.problem = problem
    await it.handlers.unlock(UnlockWallet("words"))
    wallet = it.on.state.wallet
    assert (wallet.job, wallet.problem) == (None, str(problem))
    assert wallet.fix == "enter the passphrase again"
    assert it.on.words == [("bad", str(problem))]


async def test_looking_and_locking_show_the_key_as_it_is_then() -> None:
    it = Work()
    await it.handlers.look()
    await it.handlers.lock()
    assert it.vault.asked == [("look",), ("lock",)]
    assert it.jobs == [(None, "")] * 2


ADDRESS = "0x" + "Ab" * 20


async def test_a_key_is_removed_when_the_end_of_its_address_was_typed() -> None:
    it = Work()
    await it.handlers.remove(RemoveKey(ADDRESS, ADDRESS[-TAIL:].lower()))
    assert it.vault.asked == [("remove", ADDRESS)]
    for tail in (ADDRESS[-TAIL + 1 :], "", ADDRESS[:TAIL]):
        await it.handlers.remove(RemoveKey(ADDRESS, tail))
    text = f"not removed: type the last {TAIL} letters of the address"
    assert it.on.words == [("warn", text)] * 3
    it.only_reads()
    await it.handlers.remove(RemoveKey(ADDRESS, ADDRESS[-TAIL:]))
    assert it.on.words[-1] == ("warn", "this desk is read-only: nothing removed")
    assert it.vault.asked == [("remove", ADDRESS)]


# -- the link -----------------------------------------------------------------------------------

ENDS = datetime(2027, 1, 15, 8, 5, tzinfo=UTC)
BODY = SimpleNamespace(address="0xsaid", nonce="n-1", message="sign me", expires_at=ENDS)
READ = ChallengeView(SIGNER.address, "n-1", "sign me", timestamp(ENDS))


async def test_a_challenge_is_checked_by_the_services_clock_and_shown_for_the_own_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    it, checked = Work(), list[tuple[object, ...]]()

    def check(challenge: Challenge, own: str, *, host: str, now_s: float) -> None:
        checked.append((challenge, own, host, now_s))

    monkeypatch.setattr(handlers, "check_challenge", check)
    it.wallet(challenge=replace(READ, nonce="old"))
    it.on.answers[LINK_CHALLENGE] = BODY
    await it.handlers.request_link(RequestLink("0xA"))
    assert it.on.asked == [Asked(LINK_CHALLENGE, query=ChallengeQuery(address=SIGNER.address))]
    signed = Challenge(address="0xsaid", nonce="n-1", message="sign me", expires_s=READ.expires_at)
    assert checked == [(signed, SIGNER.address, "service.example", NOW - 4.0)]
    assert it.vault.asked == [("signer", "0xA")]
    assert it.jobs[0] == (WalletJob.LINK, "requesting the challenge")
    assert [one.challenge for one in it.shown[1:]] == [None, READ, READ]
    assert (it.on.state.wallet.job, it.on.state.wallet.problem) == (None, "")


async def test_a_challenge_that_is_none_is_not_shown() -> None:
    it = Work()
    it.on.answers[LINK_CHALLENGE] = BODY
    await it.handlers.request_link(RequestLink("0xA"))
    assert it.on.state.wallet.challenge is None
    ((tone, text),) = it.on.words
    assert (tone, text) == ("bad", f"wallet: {it.on.state.wallet.problem}")
    it.on.answers[LINK_CHALLENGE] = SILENT
    await it.handlers.request_link(RequestLink("0xA"))
    assert it.on.state.wallet.problem == str(SILENT)


async def test_a_challenge_is_signed_once_for_what_was_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    it, signed = Work(), list[tuple[object, ...]]()

    def sign(challenge: Challenge, signer: object, *, host: str, now_s: float) -> str:
        signed.append((challenge.nonce, challenge.message, signer, host, now_s))
        return SIGNATURE

    monkeypatch.setattr(handlers, "sign_challenge", sign)
    it.wallet(challenge=READ, ownership=Ownership.MANAGED)
    it.on.answers[LINK_WALLET] = SimpleNamespace(success=True)
    await it.handlers.link(LinkWallet("0xA", "n-1"))
    assert signed == [("n-1", "sign me", SIGNER, "service.example", NOW - 4.0)]
    body = LinkRequest(
        address=SIGNER.address, signature=SIGNATURE, nonce="n-1", confirm_replace_managed=True
    )
    assert it.on.asked == [Asked(LINK_WALLET, body=body)]
    wallet = it.on.state.wallet
    assert (wallet.address, wallet.ownership) == (SIGNER.address, Ownership.EXTERNAL)
    assert (wallet.challenge, wallet.job) == (None, None)
    assert it.on.words == [("good", "wallet: linked")]
    assert it.on.woken == AFTER
    await it.handlers.link(LinkWallet("0xA", "n-1"))
    assert it.on.words[-1] == ("warn", "wallet: nothing signed, request the challenge first")
    assert len(signed) == 1


async def test_another_challenge_than_the_one_that_was_read_is_not_signed() -> None:
    it = Work()
    it.wallet(challenge=READ)
    await it.handlers.link(LinkWallet("0xA", "n-2"))
    assert it.vault.asked == []
    assert it.on.state.wallet.challenge == READ
    assert it.on.words == [("warn", "wallet: nothing signed, request the challenge first")]


@pytest.mark.parametrize(
    ("error", "fix", "problem"),
    [
        ("taken", "unlink it there", Reason("taken", "unlink it there").plain()),
        ("", "", Reason("the service did not link the wallet", "").plain()),
    ],
)
async def test_a_link_that_the_service_refuses_changes_no_wallet(
    monkeypatch: pytest.MonkeyPatch, error: str, fix: str, problem: str
) -> None:
    it = Work()
    monkeypatch.setattr(handlers, "sign_challenge", lambda *_, **__: SIGNATURE)
    it.wallet(challenge=READ, ownership=Ownership.MANAGED)
    it.on.answers[LINK_WALLET] = SimpleNamespace(success=False, error=error, fix=fix)
    await it.handlers.link(LinkWallet("0xA", "n-1"))
    wallet = it.on.state.wallet
    assert (wallet.address, wallet.ownership) == ("0xLINKED", Ownership.MANAGED)
    assert (wallet.problem, wallet.challenge) == (problem, None)
    assert it.on.words == [("bad", f"wallet: {problem}")]
    assert it.on.woken == AFTER


# -- credentials --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"success": True, "message": "kept"}, ("good", "venue credentials stored at the service")),
        ({"success": False, "message": "the venue is down"}, ("bad", "the venue is down")),
        ({"success": False, "message": ""}, ("bad", "refused by the service")),
    ],
)
async def test_credentials_are_derived_from_a_proof_of_the_linked_wallet(
    monkeypatch: pytest.MonkeyPatch, answer: dict[str, object], words: tuple[str, str]
) -> None:
    it, signed = Work(), list[tuple[object, ...]]()

    def sign(signer: object, *, now_s: int, skew_s: float) -> SimpleNamespace:
        signed.append((signer, now_s, skew_s))
        return SimpleNamespace(
            poly_address="0xA", poly_signature="0xB", poly_timestamp="12", poly_nonce=3
        )

    monkeypatch.setattr(handlers, "sign_credentials", sign)
    monkeypatch.setattr(handlers, "DeriveRequest", DeriveRequest.model_construct)
    it.on.answers = {
        CHECK_CREDENTIALS: SimpleNamespace(has_credentials=False),
        DERIVE_CREDENTIALS: SimpleNamespace(**answer),
    }
    await it.handlers.make_credentials()
    assert it.vault.asked == [("signer", "0xLINKED")]
    assert signed == [(SIGNER, int(NOW) - 4, 4.0)]
    body = DeriveRequest.model_construct(
        poly_address="0xA", poly_signature="0xB", poly_timestamp="12", poly_nonce=3
    )
    assert it.on.asked == [Asked(CHECK_CREDENTIALS), Asked(DERIVE_CREDENTIALS, body=body)]
    assert it.on.words == [(words[0], f"wallet: {words[1]}")]
    assert it.jobs[0] == (WalletJob.CREDENTIALS, "signing a proof for the venue")
    assert it.on.woken == AFTER


async def test_credentials_that_are_there_are_not_derived_again() -> None:
    it = Work()
    it.on.answers[CHECK_CREDENTIALS] = SimpleNamespace(has_credentials=True)
    await it.handlers.make_credentials()
    assert (it.vault.asked, len(it.on.asked)) == ([], 1)
    assert it.on.words == [("good", "wallet: venue credentials stored at the service")]


async def test_credentials_need_the_open_key() -> None:
    it = Work()
    it.on.answers[CHECK_CREDENTIALS] = SimpleNamespace(has_credentials=False)
    it.vault.problem = LockedError("the wallet is locked")
    await it.handlers.make_credentials()
    assert it.on.words == [("bad", "wallet: the wallet is locked")]
    assert it.on.state.wallet.problem == "the wallet is locked"


# -- approvals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "executes", "read_only", "words"),
    [
        ("approve", True, False, f"nothing signed: the word is {APPROVE_WORD}"),
        ("", True, False, f"nothing signed: the word is {APPROVE_WORD}"),
        (APPROVE_WORD, False, False, "approve in the program that owns the data directory"),
        (APPROVE_WORD, True, True, "approve in the program that owns the data directory"),
    ],
)
async def test_approvals_are_given_by_their_word_where_this_desk_may_sign(
    word: str, words: str, *, executes: bool, read_only: bool
) -> None:
    it = Work(executes=executes)
    if read_only:
        it.only_reads()
    await it.handlers.set_approvals(SetApprovals(("k",), word))
    assert (it.on.asked, it.vault.asked, it.shown) == ([], [], [])
    assert it.on.words == [("warn", words)]


async def test_approvals_that_cannot_be_read_are_told() -> None:
    it = Work()
    it.on.answers = dict.fromkeys([handlers.ALLOWANCES], SILENT)
    await it.handlers.read_approvals()
    assert it.on.state.wallet.job is None
    await it.handlers.set_approvals(SetApprovals(("k",), APPROVE_WORD))
    assert it.on.words == [("bad", f"approvals: {SILENT}")] * 2
    assert (it.on.state.wallet.problem, it.on.state.wallet.job) == (str(SILENT), None)
    assert [job for job in it.jobs if job[0] is not None] == [
        (WalletJob.APPROVE, "checking approvals"),
        (WalletJob.APPROVE, "signing approvals one by one"),
    ]
    assert {one.path["address"] for one in it.on.asked} == {"0xLINKED"}


@pytest.mark.parametrize("problem", [SILENT, LockedError(), StorageError("the disk is full")])
async def test_approvals_that_break_off_end_their_job_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    it = Work()

    async def give(_: object) -> None:
        raise problem

    monkeypatch.setattr(it.handlers, "_give", give)
    await it.handlers.set_approvals(SetApprovals(("k",), APPROVE_WORD))
    assert it.on.words == [("bad", f"approvals: {problem}")]
    assert (it.on.state.wallet.job, it.on.state.wallet.problem) == (None, str(problem))


async def test_an_approval_names_its_contracts_by_the_book() -> None:
    it = Work()
    policy = SigningPolicy()
    needed = approvals(policy.book, policy.exchange)
    set_ones = {one.key: place % 2 == 0 for place, one in enumerate(needed)}
    it.handlers._price_of = _no_price  # type: ignore[method-assign]
    it.on.answers[handlers.ALLOWANCES] = SimpleNamespace(
        allowances={key.upper(): is_set for key, is_set in set_ones.items()}
    )
    await it.handlers.read_approvals()
    wallet = it.on.state.wallet
    assert wallet.approvals == tuple(
        ApprovalView(
            key=one.key,
            token=policy.book.name_of(one.to) or one.to,
            spender=policy.book.name_of(one.spender) or one.spender,
            spender_address=one.spender,
            is_set=set_ones[one.key],
        )
        for one in needed
    )
    assert wallet.approvals_at == NOW
    assert all(not one.token.startswith("0x") for one in wallet.approvals)


async def _no_price(*_: object) -> None:
    return None


# -- real money ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("on", "word", "read_only", "live", "words"),
    [
        (True, LIVE_WORD, False, True, ("warn", "live trading is ON for this session")),
        (True, "live", False, None, ("warn", f"live trading stays off: the word is {LIVE_WORD}")),
        (
            True,
            LIVE_WORD,
            True,
            None,
            ("warn", "this desk is read-only: live trading stays off"),
        ),
        (False, "", False, False, ("good", "live trading is off")),
        (False, "", True, False, ("good", "live trading is off")),
    ],
)
async def test_real_money_is_switched_on_by_its_word_alone(
    word: str, words: tuple[str, str], *, on: bool, read_only: bool, live: bool | None
) -> None:
    it = Work()
    it.wallet(live=not on)
    if read_only:
        it.only_reads()
    before = it.on.state.wallet
    await it.handlers.set_live(SetLive(on=on, word=word))
    after = before if live is None else replace(before, live=live)
    assert it.on.state.wallet == after
    assert it.on.words == [words]


async def test_real_trades_are_allowed_when_the_service_says_so() -> None:
    it = Work()
    it.on.answers[PATCH_SETTINGS] = [
        SettingsPatch(sdk_real_trading_enabled=True),
        SettingsPatch(sdk_real_trading_enabled=False),
        SILENT,
    ]
    for _ in range(3):
        await it.handlers.allow_real()
    patch = SettingsPatch(sdk_real_trading_enabled=True)
    assert it.on.asked == [Asked(PATCH_SETTINGS, body=patch)] * 3
    assert it.on.words == [
        ("good", "real trades allowed for this agent"),
        ("bad", "real trades not allowed: the service leaves them off"),
        ("bad", f"real trades not allowed: {SILENT}"),
    ]
    assert it.on.woken == [Topic.WALLET]
    it.only_reads()
    await it.handlers.allow_real()
    assert it.on.words[-1] == ("warn", "this desk is read-only: nothing allowed")
    assert len(it.on.asked) == 3


def test_an_unexpected_error_ends_the_job_with_its_text() -> None:
    it = Work()
    it.wallet(job=WalletJob.KEY, job_text="encrypting the key")
    before = it.on.state.wallet
    it.handlers.fail("no idea")
    ended = replace(before, job=None, job_text="", problem="no idea")
    assert it.on.facts == [Changed(ended)]
