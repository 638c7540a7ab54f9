"""The forms of `--json`: each list prints what its schema says, and no version loses a field."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from kit.command_line import ran
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import returns_state
from kit.samples.guarded import guarded_state
from kit.samples.holdings import holdings_state
from kit.samples.report import PASTS
from service_tui.cli.main import OK
from service_tui.cli.parser import HAVE_SCHEMA, LISTS, USAGE_ERROR
from service_tui.commands.forms import FORMS, OBJECTS, form_of, schema_of
from service_tui.console.need_rows import LISTINGS
from service_tui.desk.audit.exports import Row
from service_tui.desk.own_notes import keep_note
from service_tui.desk.slices.own_notes import Noted, NoteOn, OwnNote
from service_tui.desk.slices.supervision import AgentAlertView
from service_tui.desk.state import DeskState
from service_tui.terms import AgentAlertKind
from service_tui.units import Micros, Timestamp

HELD = Path(__file__).with_name("held_forms.json")
"""What each version of a form has promised; only a test reads it."""


def states() -> Iterator[DeskState]:
    """Sample desks that have at least a row of each list between them."""
    yield from (sample_state(), guarded_state(), returns_state())
    held = holdings_state()
    assert held.holdings is not None
    alert = AgentAlertView("aa1", "a-news", "news", AgentAlertKind.SILENT, Micros(30_000_000))
    note = keep_note(OwnNote(Noted(NoteOn.DAY, "2026-01-15"), "rain", NOW))
    yield replace(
        held,
        markets={key: replace(one, event_id="e1") for key, one in held.markets.items()},
        orders=tuple(one.order for one in held.holdings.orders),
        supervision=replace(held.supervision, agent_alerts=(alert,)),
        preferences={note.name: note.value},
    )


def rows() -> dict[str, list[Row]]:
    pasts = {past.agent_id: past for past in PASTS}
    every = list(states())
    return {
        name: [row for state in every for row in one.rows(state, pasts, Timestamp(NOW))]
        for name, one in LISTINGS.items()
    }


def test_every_list_has_a_form_and_each_row_is_of_it() -> None:
    assert set(FORMS) == set(HAVE_SCHEMA)
    assert set(LISTS) == set(LISTINGS)
    for name, found in rows().items():
        assert found, name
        if name != "status":
            jsonschema.validate(json.loads(json.dumps(found)), schema_of(name))
        for row in found:
            assert set(row) == set(FORMS[name].fields), name


def test_within_a_version_no_field_goes_or_changes() -> None:
    held = json.loads(HELD.read_text("utf-8"))
    now = {form_of(name): dict(form.fields) for name, form in FORMS.items()}
    for version, fields in now.items():
        assert version in held, f"{version} is new: write its fields into {HELD.name}"
        lost = held[version].items() - fields.items()
        assert not lost, f"{version} lost {lost}: raise its version in commands/forms.py"
        added = fields.items() - held[version].items()
        assert not added, f"{version} has {added} more: write them into {HELD.name}"


@pytest.mark.slow
def test_what_is_printed_fits_the_schema_that_is_printed(tmp_path: Path) -> None:
    of = ("--data-dir", str(tmp_path / "data"), "--seed", "7", "--speed", "0")
    market = json.loads(ran(["markets", "--limit", "1", "--json", *of]).out)[0]["market"]
    assert ran(["buy", market, "yes", "5", "--yes", *of]).code == OK
    assert ran(["agent", "alert", "desk", "silent", "30", *of]).code == OK
    assert ran(["halt", *of]).code == OK
    full = set[str]()
    words = {name: [name] for name in LISTS} | {
        "history": ["history", "list"], "config": ["config", "show"]
    }  # fmt: skip
    for name in FORMS:
        printed, schema = ran([*words[name], "--json", *of]), ran(["schema", name])
        assert (printed.code, schema.code) == (OK, OK), printed.err
        document = json.loads(printed.out)
        jsonschema.validate(document, json.loads(schema.out))
        assert json.loads(schema.out)["$id"] == form_of(name)
        full |= {name} if document else set()
    # What needs a wallet, a breach, a person's own words or a day of the world is left.
    assert set(LISTS) - full <= {"orders", "alerts", "notes", "events"}


def test_what_is_no_list_has_no_schema() -> None:
    done = ran(["schema", "moon"])
    assert done.code == USAGE_ERROR
    assert "'moon' is none of status, needs, markets" in done.err


def test_every_object_names_a_form() -> None:
    assert not set(OBJECTS) & set(FORMS)
    assert form_of("order") == "service-tui/order/1"
