"""The answer of a node on the wire: a result or an error, never both."""

import pytest
from pydantic import JsonValue

from service_tui.wire.chain import RpcBody, RpcErrorBody


@pytest.mark.parametrize("result", ["0x1", None, [], {"number": "0x2"}])
def test_a_result_is_answered_whatever_it_is(result: JsonValue) -> None:
    body = RpcBody(id=7, result=result)
    assert body.model_dump() == {"jsonrpc": "2.0", "id": 7, "result": result}


def test_an_error_is_answered_in_the_place_of_a_result() -> None:
    body = RpcBody(id="a", result="0x1", error=RpcErrorBody(code=-32_601, message="no"))
    assert body.model_dump() == {
        "jsonrpc": "2.0",
        "id": "a",
        "error": {"code": -32_601, "message": "no"},
    }
