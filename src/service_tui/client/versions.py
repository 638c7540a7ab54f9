"""Requests an answer only if it has changed, where the service sends versions."""

import re
from dataclasses import replace
from http import HTTPStatus
from typing import Final

import httpx

from service_tui.client.api_keys import ApiKey
from service_tui.client.refusals import RawAnswer
from service_tui.client.reply import SAME_LEAST, SAME_MOST

_TAG: Final = re.compile(r'"[!#-~]{1,200}"')
"""The version of an answer as a service may name it; one that is "weak" is not taken."""

Asked = tuple[str, ApiKey | None]
"""A question: its address, and in whose name it was asked."""


class KnownVersions:
    """The last answers whose version (ETag) the service named: those that are large, a few."""

    def __init__(self) -> None:
        self._known: dict[Asked, tuple[str, bytes]] = {}

    def ask(self, request: httpx.Request, asked: Asked) -> bytes | None:
        """Ask only for what has changed, if the last answer to this question is known.

        Returns:
            The body of that answer, None where there is none.
        """
        tag, last = self._known.get(asked, ("", None))
        if last is None:
            request.headers.pop("If-None-Match", None)
        else:
            request.headers["If-None-Match"] = tag
        return last

    def whole(self, asked: Asked, answer: RawAnswer, last: bytes | None) -> RawAnswer:
        """The answer with its body, which is the last one where nothing has changed.

        `last` is what `ask` returned: what other calls have brought meanwhile is not what this one
        has asked about.
        """
        if answer.status == HTTPStatus.NOT_MODIFIED and last is not None:
            return replace(answer, status=HTTPStatus.OK.value, raw=last)
        self._known.pop(asked, None)
        tag = answer.headers.get("etag", "")
        # The version of a refusal is none of the answer.
        is_answer = answer.status == HTTPStatus.OK and len(answer.raw) >= SAME_LEAST
        if is_answer and _TAG.fullmatch(tag):
            self._known[asked] = (tag, answer.raw)
            while len(self._known) > SAME_MOST:
                del self._known[next(iter(self._known))]
        return answer
