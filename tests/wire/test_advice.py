"""What is asked about a problem: an error or a question, and neither is empty."""

import pytest
from pydantic import ValidationError

from service_tui.wire.advice import MESSAGE_MAX, TURNS_MAX, TroubleshootRequest, TurnBody


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"error_text": None},
        {"error_text": ""},
        {"message": ""},
        {"error_text": "", "message": ""},
        {"error_text": "", "message": None},
    ],
)
def test_an_empty_text_is_neither_an_error_nor_a_question(said: dict[str, str | None]) -> None:
    with pytest.raises(ValidationError, match="give error_text, or message"):
        TroubleshootRequest.model_validate(said)


@pytest.mark.parametrize(
    "said", [{"error_text": "401"}, {"message": "why?"}, {"error_text": "", "message": "why?"}]
)
def test_one_of_the_two_is_enough(said: dict[str, str]) -> None:
    asked = TroubleshootRequest.model_validate(said)
    assert (asked.error_text or "", asked.message or "") == (
        said.get("error_text", ""),
        said.get("message", ""),
    )


def test_a_question_and_a_conversation_have_their_longest_length() -> None:
    turn = TurnBody(content="and now?")
    TroubleshootRequest(message="a" * MESSAGE_MAX, conversation=(turn,) * TURNS_MAX)
    with pytest.raises(ValidationError, match=f"at most {MESSAGE_MAX} characters"):
        TroubleshootRequest(message="a" * (MESSAGE_MAX + 1))
    with pytest.raises(ValidationError, match=f"at most {TURNS_MAX} items"):
        TroubleshootRequest(message="a", conversation=(turn,) * (TURNS_MAX + 1))
