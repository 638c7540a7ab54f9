"""A secret that is shown once: what it is called, and until when a code is valid."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW
from service_tui.console.forms.secret import Secret
from service_tui.console.messages import Copied
from service_tui.desk.slices.agents import RevealedView

SHOWN = "the-secret"
KEY = RevealedView("a1", "ebb", is_key=True, secret=SHOWN)
CODE = RevealedView("a1", "ebb", is_key=False, secret=SHOWN, claim_url="http://x/claim")
HOOK = RevealedView("", "http://x/hook", is_key=False, secret=SHOWN)


@pytest.mark.parametrize(
    ("revealed", "what"), [(KEY, "the key"), (CODE, "the code"), (HOOK, "the secret")]
)
def test_what_is_copied_is_called_by_its_name(
    revealed: RevealedView, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert revealed.is_webhook is (revealed is HOOK)
    dialog, posted = Secret(revealed), list[Copied]()
    monkeypatch.setattr(dialog, "post_message", posted.append)
    dialog.action_copy_secret()
    assert [(one.text, one.what) for one in posted] == [(SHOWN, what)]


def test_a_code_without_an_end_names_none() -> None:
    assert "Valid once.\n" in Secret(CODE).text().plain
    ending = RevealedView("a1", "ebb", is_key=False, secret=SHOWN, expires_at=NOW)
    assert "Valid once, until " in Secret(ending).text().plain
    # An address that is cut leads nowhere.
    far = replace(ending, claim_url=f"https://desk.example/claim/{'a' * 90}")
    assert far.claim_url in Secret(far).text().plain


@pytest.mark.parametrize(
    ("revealed", "what_to_do"),
    [
        (KEY, "The old key is already revoked"),
        (CODE, "Enter this code on the agent's claim page"),
        (HOOK, "Verify each delivery with this secret"),
    ],
)
def test_a_secret_is_shown_whole_with_what_to_do_with_it(
    revealed: RevealedView, what_to_do: str
) -> None:
    text = Secret(revealed).text().plain
    assert SHOWN in text
    assert what_to_do in text
    assert ("Shown only once." in text) is (revealed is not CODE)
