"""Encrypted key files and the vault."""

import base64
import copy
import io
import json
import os
import random
import stat
import traceback
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from eth_account import Account
from hypothesis import given
from hypothesis import strategies as st

from kit.examples import examples
from service_tui.app.options import Options
from service_tui.app.vault import vault_of
from service_tui.cli import main as cli
from service_tui.cli.terminal import read_secret
from service_tui.commands.keys import KeyReport, KeyRequest, KeysCommandError, run_command
from service_tui.credentials.wallet_keys import KEYS_MAX, WalletKeys
from service_tui.desk.slices.wallet import KeyState
from service_tui.desk.vault import Vault
from service_tui.signing import keystore
from service_tui.signing.errors import KeyFormatError, KeystoreError
from service_tui.signing.keystore import WORK, address_in, opened, sealed

KEY = "4c" * 32
WORDS = "correct horse battery"
ADDRESS = Account.from_key(KEY).address
LIGHT = 2**10
SEALED = sealed(KEY, WORDS, work=LIGHT)


class FakeKeyring:
    """A system's keyring in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service_name: str, username: str, /) -> str | None:
        return self.kept.get((service_name, username))

    def set_password(self, service_name: str, username: str, password: str, /) -> None:
        self.kept[service_name, username] = password

    def delete_password(self, service_name: str, username: str, /) -> None:
        del self.kept[service_name, username]


def test_a_file_made_here_opens_elsewhere_and_the_other_way_round() -> None:
    assert bytes(Account.decrypt(SEALED, WORDS)).hex() == KEY
    theirs = Account.encrypt(KEY, WORDS, kdf="scrypt", iterations=LIGHT)
    assert opened(theirs, WORDS).address == ADDRESS
    other = Account.encrypt(KEY, WORDS, kdf="pbkdf2", iterations=1_000)
    assert opened(other, WORDS).address == ADDRESS


@pytest.mark.slow
def test_the_published_key_file_opens() -> None:
    # Source: Web3 Secret Storage Definition, test vector for scrypt.
    published = {
        "crypto": {
            "cipher": "aes-128-ctr",
            "cipherparams": {"iv": "83dbcc02d8ccb40e466191a123791e0e"},
            "ciphertext": "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c",
            "kdf": "scrypt",
            "kdfparams": {
                "dklen": 32,
                "n": 262144,
                "p": 8,
                "r": 1,
                "salt": "ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19",
            },
            "mac": "2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097",
        },
        "id": "3198bc9c-6672-5ab3-d995-4942343ae5b6",
        "version": 3,
    }
    signer = opened(published, "testpassword")
    known = "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d"
    assert signer.address == Account.from_key(known).address
    assert address_in(published) is None


def test_a_file_holds_neither_key_nor_passphrase() -> None:
    text = json.dumps(SEALED)
    assert KEY not in text
    assert WORDS not in text
    assert address_in(SEALED) == ADDRESS
    assert WORK == 262_144


@pytest.mark.parametrize("passphrase", ["", "wrong horse", WORDS + " ", WORDS.upper()])
def test_a_wrong_passphrase_opens_nothing(passphrase: str) -> None:
    with pytest.raises(KeystoreError, match="passphrase is wrong") as refused:
        opened(SEALED, passphrase)
    shown = "".join(traceback.format_exception(refused.value))
    assert KEY not in shown


def changed(path: str, value: object) -> dict[str, object]:
    content = copy.deepcopy(SEALED)
    *parents, name = path.split(".")
    place: object = content
    for parent in parents:
        assert isinstance(place, dict)
        place = place[parent]
    assert isinstance(place, dict)
    place[name] = value
    return content


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"version": 3},
        changed("version", 4),
        changed("version", "3"),
        changed("crypto", []),
        changed("crypto.kdf", "argon2"),
        changed("crypto.cipher", "aes-256-cbc"),
        changed("crypto.kdfparams.n", 2**30),
        changed("crypto.kdfparams.n", 1_000),
        changed("crypto.kdfparams.n", "1024"),
        changed("crypto.kdfparams.n", 0),
        changed("crypto.kdfparams.r", 2**20),
        changed("crypto.kdfparams.p", 2**20),
        changed("crypto.kdfparams.p", -1),
        changed("crypto.kdfparams.dklen", 64),
        changed("crypto.kdfparams.salt", "zz"),
        changed("crypto.kdfparams.salt", None),
        changed("crypto.ciphertext", "00"),
        changed("crypto.ciphertext", 5),
        changed("crypto.mac", "00"),
        changed("crypto.cipherparams", {}),
        changed("crypto", {"kdf": "pbkdf2", "kdfparams": {"c": 10**9}}),
        changed("address", "11" * 20),
    ],
)
def test_a_garbled_or_costly_file_is_refused(content: dict[str, object]) -> None:
    with pytest.raises(KeystoreError) as refused:
        opened(content, WORDS)
    assert KEY not in str(refused.value)


LEAF = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
RECORD = st.dictionaries(st.sampled_from(["kdf", "kdfparams", "n", "c", "cipher"]), LEAF)


@pytest.mark.slow
@examples()
@given(st.dictionaries(st.sampled_from(["version", "crypto", "address"]), LEAF | RECORD))
def test_any_other_file_is_refused(content: Mapping[str, object]) -> None:
    with pytest.raises(KeystoreError):
        opened(content, WORDS)
    address_in(content)


@pytest.mark.parametrize("secret", ["", "00" * 32, "4c" * 31, "not a key"])
def test_only_a_key_is_sealed(secret: str) -> None:
    with pytest.raises(KeyFormatError):
        sealed(secret, WORDS, work=LIGHT)


def test_a_short_passphrase_is_refused() -> None:
    with pytest.raises(KeystoreError, match="8 letters"):
        sealed(KEY, "short", work=LIGHT)


@pytest.mark.slow
def test_keys_are_kept_listed_opened_and_removed(tmp_path: Path) -> None:
    keys = WalletKeys(tmp_path / "desk", work=LIGHT)
    assert keys.stored() == ()
    kept, made = keys.keep(WORDS, KEY), keys.keep(WORDS, "")
    assert {key.address for key in keys.stored()} == {kept.address, made.address}
    assert keys.opened(kept.address, WORDS).address == ADDRESS
    assert keys.opened(made.address, WORDS).address == made.address
    for path in tmp_path.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert len(list(tmp_path.rglob("*.json"))) == 2
    keys.remove(made.address)
    assert [key.address for key in keys.stored()] == [ADDRESS]
    for again in (keys.remove, lambda address: keys.opened(address, WORDS)):
        with pytest.raises(KeystoreError):
            again(made.address)


def test_a_key_is_not_written_over(tmp_path: Path) -> None:
    keys = WalletKeys(tmp_path / "desk", work=LIGHT)
    keys.keep(WORDS, KEY)
    with pytest.raises(KeystoreError, match="is stored already"):
        keys.keep("another passphrase", KEY)
    assert keys.opened(ADDRESS, WORDS).address == ADDRESS


def test_files_of_others_and_of_another_name_are_passed_over(tmp_path: Path) -> None:
    keys = WalletKeys(tmp_path / "desk", work=LIGHT)
    kept = keys.keep(WORDS, KEY)
    folder = tmp_path / "desk" / "wallets"
    (folder / "other.json").write_text(json.dumps(SEALED))
    (folder / "torn.json").write_text('{"version": 3')
    (folder / "list.json").write_text("[]")
    assert [key.name for key in keys.stored()] == [kept.name]
    (folder / kept.name).chmod(0o666)
    assert keys.stored() == ()
    with pytest.raises(KeystoreError):
        keys.opened(ADDRESS, WORDS)


SECRET = "5ec2e7" * 10
"""Stands in every bad file below, and may stand in no sentence."""

OTHER = f"0x{'22' * 20}.json"
BAD_FILES: dict[str, tuple[str, str]] = {
    "torn.json": ('{"version": 3, "x": "' + SECRET, "is malformed; repair it or move it away"),
    "deep.json": ("[" * 60_000 + SECRET, "is malformed; repair it or move it away"),
    "list.json": (f'["{SECRET}"]', "is malformed; repair it or move it away"),
    OTHER: (f'{{"address": "{"22" * 20}", "key": "{SECRET}"}}', "no key file of version 3; repair"),
    "notes.txt": (f"my key: {SECRET}", "is malformed"),
    "huge.json": (json.dumps({"key": SECRET * 2_000}), "too large for a key file; move it away"),
    "copy.json": (json.dumps({**SEALED, "id": SECRET}), f"rename it to {ADDRESS.lower()}.json"),
    "nobody.json": (
        json.dumps({**{k: v for k, v in SEALED.items() if k != "address"}, "id": SECRET}),
        "names no address; move it away, and import its key",
    ),
    "dear.json": (
        json.dumps(SEALED).replace(f'"n": {LIGHT}', f'"n": {2**40}, "id": "{SECRET}"'),
        "asks for more memory or time than an honest one; repair it or move it away",
    ),
    "evil\x1b[2J\u202ename\n.json": (SECRET, "evilname .json is malformed"),
}  # fmt: skip


def test_nobody_is_told_to_lay_one_file_over_the_other(tmp_path: Path) -> None:
    keys = WalletKeys(tmp_path / "desk", work=LIGHT)
    good = keys.keep(WORDS, "")
    folder = tmp_path / "desk" / "wallets"
    (kept,) = folder.iterdir()
    beside = folder / f"{kept.name}.bak"
    beside.write_bytes(kept.read_bytes())
    beside.chmod(0o600)
    (told,) = keys.passed_over()
    assert told.endswith(f"names the address of {kept.name}, which is stored here; move it away")
    assert [key.address for key in keys.stored()] == [good.address]


NO_NAME = {k: v for k, v in SEALED.items() if k != "address"}


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("copy.json", SEALED, f"is not named after its key; rename it to {ADDRESS.lower()}.json"),
        (f"{ADDRESS}.json", SEALED, f"is not named after its key; rename it to {ADDRESS.lower()}"),
        (
            f"{ADDRESS.lower()}.json", {**SEALED, "version": 2},
            "cannot be opened: that is no key file of version 3; repair it or move it away",
        ),
        ("nobody.json", NO_NAME, "names no address; move it away, and import its key"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_a_key_is_none_and_says_what_to_do(
    tmp_path: Path, name: str, content: object, sentence: str
) -> None:
    keys, folder = WalletKeys(tmp_path, work=LIGHT), tmp_path / "wallets"
    folder.mkdir(mode=0o700)
    (folder / name).write_text(json.dumps(content))
    (folder / name).chmod(0o600)
    assert keys.stored() == ()
    (told,) = keys.passed_over()
    assert told.startswith(f"{folder / name} {sentence}")


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD_FILES)
@pytest.mark.process
def test_a_bad_file_among_the_keys_is_named_and_hides_no_good_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    keys = WalletKeys(tmp_path / "desk", work=LIGHT)
    good = keys.keep(WORDS, "")
    content, sentence = BAD_FILES[name]
    bad = tmp_path / "desk" / "wallets" / name
    bad.write_text(content)
    bad.chmod(0o600)
    assert [key.address for key in keys.stored()] == [good.address]
    (told,) = keys.passed_over()
    assert sentence in told
    assert told.isprintable()
    assert str(tmp_path / "desk" / "wallets") in told
    if name.isprintable():
        assert name in told
    vault = Vault(keys)
    vault.look()
    assert (vault.view().state, vault.view().passed_over) == (KeyState.LOCKED, (told,))
    assert cli.run(["keys", "list", "--data-dir", str(tmp_path / "desk")]) == cli.CANNOT
    said_by_cli = capsys.readouterr()
    assert said_by_cli.out == f"{good.address}\ninvalid file: {told}\n"
    assert said_by_cli.err == "service-tui: 1 problem(s) with the keys\n"
    assert SECRET[:12] not in said_by_cli.out + said_by_cli.err
    bad.unlink()
    assert cli.run(["keys", "list", "--data-dir", str(tmp_path / "desk")]) == cli.OK
    assert capsys.readouterr().out == f"{good.address}\n"


def test_what_is_no_plain_file_of_ours_is_named_and_no_pipe_is_waited_for(tmp_path: Path) -> None:
    keys = WalletKeys(tmp_path / "desk", work=LIGHT)
    kept = keys.keep(WORDS, KEY)
    folder = tmp_path / "desk" / "wallets"
    (folder / ".left.json").write_text("a draft of ours")
    (folder / "folder.json").mkdir()
    os.mkfifo(folder / "pipe.json", 0o600)
    shared = folder / "shared.json"
    shared.write_text("{}")
    shared.chmod(0o666)
    assert keys.passed_over() == (
        f"{folder}/folder.json is not a plain file; move it away",
        f"{folder}/pipe.json is not a plain file; move it away",
        f"others may write {folder}/shared.json; chmod go-w {folder}/shared.json",
    )
    assert [key.name for key in keys.stored()] == [kept.name]
    assert run_command(keys, asked("list", [])).trouble_count == 3


def test_a_key_that_others_may_read_stays_listed_with_what_to_do(tmp_path: Path) -> None:
    keys = WalletKeys(tmp_path / "desk", work=LIGHT)
    path = tmp_path / "desk" / "wallets" / keys.keep(WORDS, KEY).name
    path.chmod(0o640)
    told = f"others may read {path}: chmod 600 it first"
    assert run_command(keys, asked("list", [])) == KeyReport((ADDRESS, f"invalid file: {told}"), 1)
    path.chmod(0o600)
    assert run_command(keys, asked("list", [])) == KeyReport((ADDRESS,))


def test_files_beyond_the_bound_are_told_as_a_number_and_displace_no_key(tmp_path: Path) -> None:
    keys = WalletKeys(tmp_path / "desk", work=LIGHT)
    keys.keep(WORDS, KEY)
    for number in range(KEYS_MAX + 4):
        (tmp_path / "desk" / "wallets" / f"0{number:03}.txt").write_text("x")
    assert [key.address for key in keys.stored()] == [ADDRESS]
    *_, last = told = keys.passed_over()
    assert len(told) == KEYS_MAX
    assert last.startswith("5 more files in ")


def test_a_removal_names_the_broken_file_of_its_own_address(tmp_path: Path) -> None:
    keys = WalletKeys(tmp_path / "desk", work=LIGHT)
    path = tmp_path / "desk" / "wallets" / keys.keep(WORDS, KEY).name
    (path.parent / "0.json").write_text("{")
    path.write_text("{")
    with pytest.raises(KeysCommandError, match=f"{path.name} is malformed") as refused:
        run_command(keys, asked("remove", [ADDRESS[-6:]], address=ADDRESS))
    assert "/0.json" not in str(refused.value)
    assert path.is_file()


def test_a_keyring_holds_a_passphrase_that_opens(tmp_path: Path) -> None:
    ring = FakeKeyring()
    keys = WalletKeys(tmp_path / "desk", keyring=lambda: ring, work=LIGHT)
    keys.keep(WORDS, KEY)
    with pytest.raises(KeystoreError):
        keys.remember_passphrase(ADDRESS, "wrong horse")
    assert ring.kept == {}
    keys.remember_passphrase(ADDRESS, WORDS)
    assert keys.opened(ADDRESS, "").address == ADDRESS
    keys.remove(ADDRESS)
    assert ring.kept == {}


def test_without_a_keyring_nothing_is_held(tmp_path: Path) -> None:
    keys = WalletKeys(tmp_path / "desk", work=LIGHT)
    keys.keep(WORDS, KEY)
    with pytest.raises(KeystoreError, match="keyring"):
        keys.remember_passphrase(ADDRESS, WORDS)
    with pytest.raises(KeystoreError):
        keys.opened(ADDRESS, "")


def asked(action: str, answers: list[str], **changes: object) -> KeyRequest:
    values = {"address": None, "wallet_key": None, "in_keyring": False, **changes}
    return KeyRequest(action=action, read_secret=lambda _: answers.pop(0), **values)  # pyright: ignore[reportArgumentType]


def test_the_words_make_take_in_list_and_remove(tmp_path: Path) -> None:
    ring = FakeKeyring()
    keys = WalletKeys(tmp_path / "desk", keyring=lambda: ring, work=LIGHT)
    assert "create" in run_command(keys, asked("list", [])).lines[0]
    made = run_command(keys, asked("create", [WORDS, WORDS])).lines[0]
    told = run_command(keys, asked("import", [KEY, WORDS, WORDS], in_keyring=True)).lines
    assert told[0] == ADDRESS
    assert keys.remembered_passphrase(ADDRESS) == WORDS
    listed = run_command(keys, asked("list", [])).lines
    assert len(listed) == 2
    tail = made[-6:].lower()
    assert run_command(keys, asked("remove", [tail], address=made.lower())).lines == (
        f"removed {made}",
    )
    assert KEY not in "".join([*told, *listed])


def test_the_key_of_the_environment_is_taken_in_without_asking_for_it(tmp_path: Path) -> None:
    keys = WalletKeys(tmp_path / "desk", work=LIGHT)
    assert run_command(keys, asked("import", [WORDS, WORDS], wallet_key=KEY)).lines[0] == ADDRESS


@pytest.mark.parametrize(
    "wish",
    [
        asked("create", [WORDS, WORDS + "x"]),
        asked("create", ["short", "short"]),
        asked("import", [""]),
        asked("import", [KEY[:-1], WORDS, WORDS]),
        asked("import", [KEY + KEY, WORDS, WORDS]),
        asked("remove", []),
        asked("remove", [], address="0x12"),
        asked("remove", [], address="0x" + "11" * 20),
        asked("remove", ["wrong"], address=ADDRESS),
        asked("create", [WORDS, WORDS], in_keyring=True),
    ],
)
def test_what_cannot_be_done_says_why_without_a_secret(tmp_path: Path, wish: KeyRequest) -> None:
    keys = WalletKeys(tmp_path / "desk", work=LIGHT)
    if wish.address == ADDRESS:
        keys.keep(WORDS, KEY)
    with pytest.raises(KeysCommandError) as refused:
        run_command(keys, wish)
    assert KEY[:-1] not in str(refused.value)
    assert WORDS not in str(refused.value)


def options(tmp_path: Path, **changes: object) -> Options:
    plain = Options(data_dir=tmp_path / "desk", config_dir=tmp_path, log_path=tmp_path / "log")
    return replace(plain, **changes)  # pyright: ignore[reportArgumentType]


def test_the_desks_vault_opens_with_the_key_of_the_environment(tmp_path: Path) -> None:
    given_key = options(tmp_path, wallet_key=KEY)
    assert KEY not in repr(given_key)
    vault = vault_of(given_key)
    vault.look()
    assert (vault.view().address, vault.view().state) == (ADDRESS, KeyState.UNLOCKED)
    with pytest.raises(KeyFormatError):
        vault_of(options(tmp_path, wallet_key=KEY[:-1]))


def test_the_desks_vault_opens_a_key_file_with_its_passphrase(tmp_path: Path) -> None:
    WalletKeys(tmp_path / "desk", work=LIGHT).keep(WORDS, KEY)
    vault = vault_of(options(tmp_path))
    vault.look()
    assert vault.view().state is KeyState.LOCKED
    with pytest.raises(KeystoreError):
        vault.unlock(ADDRESS, "wrong horse")
    assert vault.signer is None
    vault.unlock(ADDRESS, WORDS)
    assert vault.signer_of(ADDRESS).address == ADDRESS


def test_a_desk_that_only_reads_has_no_key(tmp_path: Path) -> None:
    WalletKeys(tmp_path / "desk", work=LIGHT).keep(WORDS, KEY)
    vault = vault_of(options(tmp_path, wallet_key=KEY, read_only=True))
    vault.look()
    assert vault.view().state is KeyState.NONE


def spellings(secret: str) -> tuple[str, ...]:
    """A secret in the encodings in which it could turn up."""
    raw = bytes.fromhex(secret) if len(secret) == 64 else secret.encode()
    return (
        secret,
        secret.upper(),
        raw.hex(),
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode(),
        str(int.from_bytes(raw, "big")),
        repr(raw)[2:-1],
        raw.decode("latin-1"),
    )


@pytest.mark.slow
@pytest.mark.parametrize("action", ["import", "list", "remove"])
def test_no_word_of_the_program_shows_a_secret(
    action: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(action)
    key, words = rng.randbytes(32).hex(), f"canary {rng.random()}"
    address = Account.from_key(key).address
    desk = tmp_path / "desk"
    typed = {"import": f"{key}\n{words}\n{words}\n", "list": "", "remove": f"{address[-6:]}\n"}
    if action != "import":
        WalletKeys(desk, work=LIGHT).keep(words, key)
    monkeypatch.setattr("sys.stdin", io.StringIO(typed[action]))
    given = [action, *([address] if action == "remove" else [])]
    assert cli.run(["keys", *given, "--data-dir", str(desk)]) == cli.OK
    said_there = capfd.readouterr()
    assert address in said_there.out
    seen = [said_there.out, said_there.err]
    seen += [path.read_text("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    for secret in (key, words):
        assert not [text for text in seen for way in spellings(secret) if way in text]


@pytest.mark.slow
def test_a_key_of_the_environment_is_taken_out_of_it_and_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    canary = "5e" * 31
    monkeypatch.setenv("WALLET_PRIVATE_KEY", canary)
    assert cli.run(["keys", "list", "--data-dir", str(tmp_path / "desk")]) == cli.CANNOT
    said_there = capfd.readouterr()
    assert "WALLET_PRIVATE_KEY" in said_there.err
    assert canary not in said_there.err + said_there.out
    assert "WALLET_PRIVATE_KEY" not in os.environ


def test_a_folder_that_is_a_link_and_a_file_that_others_read_are_refused(tmp_path: Path) -> None:
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    data.mkdir(mode=0o700)
    elsewhere.mkdir(mode=0o700)
    (data / "wallets").symlink_to(elsewhere)
    keys = WalletKeys(data, work=2)
    with pytest.raises(KeystoreError, match="is a link"):
        keys.keep(WORDS, KEY)
    assert not list(elsewhere.iterdir())
    # What lies behind the link is neither told, nor opened, nor removed.
    other = WalletKeys(tmp_path / "other", work=2)
    far = other.keep(WORDS, KEY)
    (tmp_path / "other" / "wallets" / far.name).rename(elsewhere / far.name)
    assert keys.stored() == ()
    link = f"{data / 'wallets'} is a link; move it away: key files are never links"
    assert keys.passed_over() == (link,)
    assert run_command(keys, asked("list", [])) == KeyReport(
        ("no keys stored; 'service-tui keys create' makes one", f"invalid file: {link}"), 1
    )
    with pytest.raises(KeysCommandError, match="is a link"):
        run_command(keys, asked("remove", [ADDRESS[-6:]], address=ADDRESS))
    for act in (lambda: keys.opened(ADDRESS, WORDS), lambda: keys.remove(ADDRESS)):
        with pytest.raises(KeystoreError, match="is a link"):
            act()
    assert (elsewhere / far.name).is_file()
    (data / "wallets").unlink()
    kept = keys.keep(WORDS, KEY)
    assert keys.passed_over() == ()
    (path,) = (data / "wallets").iterdir()
    path.chmod(0o644)
    with pytest.raises(KeystoreError, match="chmod 600"):
        keys.opened(kept.address, WORDS)


def test_a_link_in_place_of_a_key_is_told_and_neither_opened_nor_removed(tmp_path: Path) -> None:
    ring = FakeKeyring()
    keys = WalletKeys(tmp_path / "data", keyring=lambda: ring, work=2)
    kept = keys.keep(WORDS, KEY)
    keys.remember_passphrase(ADDRESS, WORDS)
    path, target = tmp_path / "data" / "wallets" / kept.name, tmp_path / "elsewhere.json"
    path.rename(target)
    path.symlink_to(target)
    vault = Vault(keys)
    vault.look()
    view = vault.view()
    assert (view.state, view.stored) == (KeyState.NONE, ())
    assert view.passed_over == (f"{path} is a link; move it away: key files are never links",)
    assert run_command(keys, asked("list", [])).lines[1] == f"invalid file: {view.passed_over[0]}"
    with pytest.raises(KeysCommandError, match="is a link"):
        run_command(keys, asked("remove", [ADDRESS[-6:]], address=ADDRESS))
    for act in (
        lambda: vault.remove(ADDRESS),
        lambda: vault.unlock(ADDRESS, WORDS),
        lambda: vault.keep(WORDS, KEY),
    ):
        with pytest.raises(KeystoreError, match="is a link"):
            act()
    assert path.is_symlink()
    assert target.is_file()
    assert ring.kept


@pytest.mark.parametrize(
    ("typed", "key_is_taken"), [(b"  two blanks \r\n", True), (b"\xff\xfe broken\n", False)]
)
def test_a_passphrase_is_taken_as_it_is_handed_in_blanks_and_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: bytes, *, key_is_taken: bool
) -> None:
    text = io.TextIOWrapper(io.BytesIO(f"  {KEY} \n".encode() + typed * 2), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", text)
    keys = WalletKeys(tmp_path / "desk", work=LIGHT)
    wish = replace(asked("import", []), read_secret=read_secret)
    if not key_is_taken:
        with pytest.raises(cli.CannotError, match="not UTF-8 text"):
            run_command(keys, wish)
        assert keys.stored() == ()
        return
    assert run_command(keys, wish).lines[0] == ADDRESS
    with pytest.raises(KeystoreError):
        keys.opened(ADDRESS, "two blanks")
    assert keys.opened(ADDRESS, "  two blanks ").address == ADDRESS


def scrypt(**changes: object) -> dict[str, object]:
    parameters = {"n": 8_192, "r": 8, "p": 1, "dklen": 32} | changes
    return {
        "version": 3,
        "crypto": {"cipher": "aes-128-ctr", "kdf": "scrypt", "kdfparams": parameters},
    }


def rounds(count: int) -> dict[str, object]:
    parameters = {"c": count, "prf": "hmac-sha256", "dklen": 32}
    return {
        "version": 3,
        "crypto": {"cipher": "aes-128-ctr", "kdf": "pbkdf2", "kdfparams": parameters},
    }


MOST = keystore._MEMORY_MAX // 128


@pytest.mark.parametrize(
    "content",
    [
        scrypt(),
        scrypt(n=2, r=1),
        scrypt(n=MOST, r=1, p=1),
        scrypt(n=2, r=1, p=keystore._WORK_MAX // 2),
        rounds(1),
        rounds(keystore._ROUNDS_MAX),
    ],
)
def test_a_file_that_asks_for_what_an_honest_one_may_is_tried(content: dict[str, object]) -> None:
    keystore.check_form(content)


@pytest.mark.parametrize(
    "content",
    [
        scrypt(n=1),
        scrypt(n=0),
        scrypt(r=0),
        scrypt(p=0),
        scrypt(n=8_191),
        scrypt(n=MOST, r=2),
        scrypt(n=2, r=1, p=keystore._WORK_MAX // 2 + 1),
        scrypt(n=2, r=keystore._WORK_MAX // 2, p=2),
        rounds(0),
        rounds(keystore._ROUNDS_MAX + 1),
    ],
)
def test_a_file_that_asks_for_more_is_not_tried(content: dict[str, object]) -> None:
    with pytest.raises(KeystoreError):
        keystore.check_form(content)


def test_a_passphrase_of_the_least_length_is_taken() -> None:
    assert sealed("4c" * 32, "p" * 8, work=2)
    with pytest.raises(KeystoreError):
        sealed("4c" * 32, "p" * 7, work=2)


@pytest.mark.parametrize(
    ("content", "address"),
    [
        ({"address": ADDRESS[2:].lower()}, ADDRESS),
        ({"address": ADDRESS}, ADDRESS),
        ({"address": ADDRESS[2:-1]}, None),
        ({"address": 1}, None),
        ({}, None),
    ],
)
def test_a_file_names_its_address_with_0x_before_it_or_not(
    content: Mapping[str, object], address: str | None
) -> None:
    assert address_in(content) == address


def test_a_file_that_names_no_address_is_opened_and_one_that_holds_no_key_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = [bytes.fromhex(KEY), bytes(32)]
    monkeypatch.setattr(Account, "decrypt", lambda *_: keys.pop(0))
    unnamed = {name: value for name, value in SEALED.items() if name != "address"}
    assert opened(unnamed, WORDS).address == ADDRESS
    with pytest.raises(KeystoreError, match="holds no key"):
        opened(unnamed, WORDS)
