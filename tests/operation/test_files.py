"""The files of `operation/`, read by the programs that they are for, where these are installed."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from service_tui.app.ops import ProcessFigures
from service_tui.cli.parser import parse, parser_of
from service_tui.config import read_environment

ROOT = Path(__file__).resolve().parents[2]
OPERATION = ROOT / "operation"
UNIT = "service-tui@.service"
PLACES = "/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"

FIGURE = re.compile(r"\bservice_tui_\w+")
SUFFIX = re.compile(r"_(?:bucket|sum|count)$")


def text_of(name: str) -> str:
    return (OPERATION / name).read_text(encoding="utf-8")


def program(name: str) -> str:
    found = shutil.which(name, path=PLACES)
    if found is None:
        pytest.skip(f"{name} is not on this machine")
    return found


def words_of_serve(text: str) -> list[str]:
    """The words behind `service-tui` where a file starts a process."""
    (line,) = re.findall(r"service-tui (serve .*)", text)
    return line.split()


def test_the_dashboard_draws_figures_that_a_process_exports_and_no_others() -> None:
    exported = {
        sample.name
        for family in ProcessFigures(lambda: 0.0).registry.collect()
        for sample in family.samples
    }
    # Those with labels have a sample once they have counted: their family names them.
    exported |= {"service_tui_calls_total", "service_tui_call_seconds"}
    board = json.loads(text_of("grafana.json"))
    targets = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    named = {SUFFIX.sub("", name) for expr in targets for name in FIGURE.findall(expr)}
    assert len(named) >= 8
    assert named <= exported


def test_every_panel_has_a_place_of_its_own_and_a_unit() -> None:
    panels = json.loads(text_of("grafana.json"))["panels"]
    places = {(one["gridPos"]["x"], one["gridPos"]["y"]) for one in panels}
    assert len(places) == len(panels) == len({one["id"] for one in panels})
    assert all(one["fieldConfig"]["defaults"]["unit"] for one in panels)


@pytest.mark.parametrize("name", [UNIT, "haproxy.cfg", "nginx.conf"])
def test_a_file_starts_a_process_with_options_that_there_are(name: str) -> None:
    words = words_of_serve(text_of(name))
    options = text_of("environment.example").split("SERVE=")[1].split()
    filled = [word.replace("%i", "1") for word in words if word != "$SERVE"]
    arguments = parse(parser_of(read_environment({})), filled + options * ("$SERVE" in words))
    assert (arguments.command, arguments.port, arguments.ops_port) == ("serve", 8401, 9401)
    assert arguments.trusted_proxy == "127.0.0.1"


def test_the_container_runs_without_root_and_asks_readyz_at_its_operations_port() -> None:
    lines = text_of("Containerfile").splitlines()
    (entry,) = [line.removeprefix("ENTRYPOINT ") for line in lines if line.startswith("ENTRYPOINT")]
    command, *words = json.loads(entry)
    arguments = parse(parser_of(read_environment({})), words)
    assert (command, arguments.command) == ("service-tui", "serve")
    assert f":{arguments.ops_port}/readyz" in text_of("Containerfile")
    assert "USER 10001" in lines


@pytest.mark.process
@pytest.mark.slow
def test_systemd_reads_the_unit_and_finds_it_well_shut_in(tmp_path: Path) -> None:
    analyze = program("systemd-analyze")
    # The program and the user of the unit are not those of this machine.
    text = text_of(UNIT).replace("/usr/local/bin/service-tui", "/bin/true")
    unit = tmp_path / UNIT
    unit.write_text(re.sub(r"^(User|Group)=.*$", r"\1=root", text, flags=re.MULTILINE))
    first = unit.with_name(UNIT.replace("@", "@1"))
    verified = subprocess.run(
        [analyze, "verify", first], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    ours = [line for line in verified.stderr.splitlines() if "service-tui@" in line]
    assert ours == []
    unit.write_text(text)
    rated = subprocess.run(
        [analyze, "security", "--offline=yes", "--threshold=25", unit],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unrecognized option" in rated.stderr:
        pytest.skip("this systemd rates no file")
    assert rated.returncode == 0, rated.stdout[-400:]


def test_an_error_of_haproxy_says_as_the_desk_does_whether_a_call_may_be_repeated() -> None:
    answers = re.findall(
        r"http-error status (\d+) content-type application/json string '(.*?)'",
        text_of("haproxy.cfg"),
    )
    said = {int(status): json.loads(body) for status, body in answers}
    assert {status: body.pop("retryable") for status, body in said.items()} == {
        502: False,
        503: True,
        504: False,
    }
    assert all({*body} == {"error", "fix"} for body in said.values())


def test_an_error_of_nginx_says_that_a_call_may_have_been_carried_out() -> None:
    ((status, body),) = re.findall(r"return (\d+) '(.*?)';", text_of("nginx.conf"))
    assert (status, json.loads(body)["retryable"]) == ("502", False)


@pytest.mark.process
def test_haproxy_reads_its_file(tmp_path: Path) -> None:
    checked = configured("haproxy.cfg", tmp_path)
    done = subprocess.run(
        [program("haproxy"), "-c", "-f", checked], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.process
def test_nginx_reads_its_file(tmp_path: Path) -> None:
    checked = configured("nginx.conf", tmp_path)
    settings = f"pid {tmp_path}/pid; error_log {tmp_path}/errors;"
    done = subprocess.run(
        [program("nginx"), "-t", "-c", checked, "-g", settings],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def configured(name: str, folder: Path) -> Path:
    """A file with a certificate and a port of this test in place of the machine's."""
    from kit.service.certificates import certificate  # noqa: PLC0415

    made = certificate(folder / "tls", "desk.example")
    pem = folder / "desk.pem"
    pem.write_bytes(made.cert.read_bytes() + made.key.read_bytes())
    path = folder / name
    text = re.sub(r"/etc/(?:haproxy|nginx)/desk\.pem", str(pem), text_of(name))
    # nginx opens its port for a check, and one below 1024 is root's.
    path.write_text(text.replace("listen 443 ", "listen 8444 "))
    return path
