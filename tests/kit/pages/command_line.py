"""The page of the command line, from the argument parser."""

import argparse
from collections.abc import Iterable, Iterator
from typing import Final

from kit.pages.table import code, table
from service_tui.cli.parser import COMMON, EXAMPLES, parser_of
from service_tui.config import read_environment
from service_tui.settings import BY_KEY

HEAD: Final = """# Command line

Made from the argument parser by `make docs`. `service-tui --help`, and `--help` behind a command,
show the same; the first also names the log file. A setting can also come from a file or a variable:
[Configuration](configuration.md).

Exit status: 0 success, 1 the command failed, 2 wrong arguments or a wrong setting, 70 a bug, 130
interrupted by ctrl+c.
"""

JSON: Final = """
## JSON

`--json` prints one document, whole, and nothing beside it. Each has a *form* with a version, such
as `service-tui/order/1`. An object names it in its field `schema`. A list is a plain array of rows,
as `jq '.[]'` expects it; `service-tui schema LIST` prints its JSON Schema, whose `$id` is the
form. A report of `evaluate` has [a schema of its own](evaluation.schema.json).

Within a version fields are only added: a program ignores those that it does not know. Another
meaning or type of a field, or its absence, is the next version. A list is always in its newest
version; check the `$id` once at the start. In lists money and shares are in units,
times are ISO 8601, and null is what is not known.
"""

_Actions = Iterable[argparse.Action]


def page() -> str:
    """The whole page."""
    parser = parser_of(read_environment({}))
    common = {BY_KEY[key].flag for key in COMMON}
    parts = [HEAD, _examples(), JSON, "\n## Options of every command\n\n"]
    parts.append(
        "Without a command, these open the console. Some commands do not use all of them.\n\n"
    )
    parts.append(_options(action for action in _flags(parser) if action.option_strings[-1]))
    parts.append("\n## Commands\n")
    parts.extend(_commands(parser, parser.prog, common))
    return "".join(parts)


def _examples() -> str:
    lines = EXAMPLES.splitlines()[1:]
    return "\n```sh\n" + "".join(f"{line.removeprefix('  ')}\n" for line in lines) + "```\n"


def _commands(
    parser: argparse.ArgumentParser, name: str, common: set[str], depth: int = 3
) -> Iterator[str]:
    for below in parser._actions:
        if not isinstance(below, argparse._SubParsersAction):
            continue
        about = {each.dest: each.help or "" for each in below._choices_actions}
        for word, command in below.choices.items():
            yield from _command(command, f"{name} {word}", about.get(word, ""), common, depth=depth)


def _command(
    parser: argparse.ArgumentParser, name: str, about: str, common: set[str], *, depth: int
) -> Iterator[str]:
    own = [action for action in _flags(parser) if action.option_strings[-1] not in common]
    below = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    words = [
        each
        for each in parser._actions
        if not each.option_strings and each not in below and each.help != argparse.SUPPRESS
    ]
    text = parser.description or about
    yield f"\n{'#' * depth} {name.removeprefix('service-tui ')}\n\n"
    yield f"{_sentence(text)}\n\n"
    usage = [name, *(_word(each) for each in words), *(_usage(each) for each in own)]
    usage += [f"{each.metavar} ..." for each in below]
    yield f"```sh\n{' '.join(usage)}\n```\n"
    if parser.epilog and parser.epilog not in text:
        yield f"\n{_sentence(parser.epilog)}\n"
    described = [each for each in (*words, *own) if each.help]
    if described:
        yield f"\n{_options(described)}"
    yield from _commands(parser, name, common, depth + 1)


def _flags(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [
        each
        for each in parser._actions
        if each.option_strings and each.dest != "help" and each.help != argparse.SUPPRESS
    ]


def _options(actions: _Actions) -> str:
    rows = ((code(_spelled(each)), (each.help or "").replace("%%", "%")) for each in actions)
    return table(("Option", "Description"), rows)


def _spelled(action: argparse.Action) -> str:
    """An option with its value, or the name of a positional word."""
    if not action.option_strings:
        return _value(action)
    value = "" if action.nargs == 0 else f" {_value(action)}"
    return f"{action.option_strings[-1]}{value}"


def _value(action: argparse.Action) -> str:
    if action.choices is not None:
        return "|".join(str(each) for each in action.choices)
    if isinstance(action.metavar, tuple):
        return " ".join(action.metavar)
    return action.metavar or action.dest.upper()


def _word(action: argparse.Action) -> str:
    return f"[{_value(action)}]" if action.nargs in {"?", "*"} else _value(action)


def _usage(action: argparse.Action) -> str:
    spelled = _spelled(action)
    return spelled if action.required else f"[{spelled}]"


def _sentence(text: str) -> str:
    """Text with a capital and a full stop."""
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", ":")) else ".")
