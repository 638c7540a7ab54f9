"""The claim page over HTTP: the only form that this service takes."""

from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from service_tui.server.claim.page import HEADERS
from service_tui.server.http.refusals import denied
from service_tui.server.http.service import Service
from service_tui.server.routes.claim import Page, enter, show
from service_tui.wire.endpoints.public import CLAIM_PAGE

FORM: Final = "application/x-www-form-urlencoded"
FORM_MAX: Final = 1_024
"""Bytes of a form; an honest one has thirty."""

_FIELDS_MAX: Final = 4
_BEFORE_CODE: Final = CLAIM_PAGE.partition("{")[0]


def is_own_form(method: str, path: str) -> bool:
    """Whether this is the one call that a page of ours may make."""
    return method == "POST" and path.startswith(_BEFORE_CODE)


def claim_page(service: Service) -> Callable[[Request], Awaitable[Response]]:
    """Show the page, and take its form."""

    async def answer(request: Request) -> Response:
        code = str(request.path_params["claim_code"])
        if request.method == "POST":
            return _sent(await enter(service, code, await _typed(request)))
        return _sent(show(service, code))

    return answer


def _sent(page: Page) -> Response:
    return Response(page.content, page.status, HEADERS, media_type="text/html")


async def _typed(request: Request) -> str:
    """What stands in the form's one field.

    Returns:
        The text, empty where there is none.

    Raises:
        Denied: 415 no form, 413 too large, 400 broken off or not a form inside.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        raise denied(415, "this is not the form of the page", "open the claim link in a browser")
    raw = bytearray()
    try:
        async for chunk in request.stream():
            raw += chunk
            if len(raw) > FORM_MAX:
                raise denied(413, "the form is too large", "send the code only")
        fields = parse_qs(raw.decode("ascii"), max_num_fields=_FIELDS_MAX)
    except ClientDisconnect as gone:
        raise denied(400, "the form ended early", "send it whole") from gone
    except ValueError as error:
        raise denied(400, "the form cannot be read", "send the code only") from error
    return fields.get("code", [""])[0]
