"""The page of the configuration: settings, variables, and the settings screen."""

from collections.abc import Iterator
from typing import Final

from kit.pages.table import code, table
from kit.samples.desk import NOW, sample_state
from service_tui.console.own_commands import VARIABLES
from service_tui.console.screens.settings.table import settings
from service_tui.console.view_context import ViewContext
from service_tui.desk.own_command_runs import TOGETHER_MAX, WITHIN_S
from service_tui.settings import COMMAND_FILE, CONFIG_FILE, KEY_FILE, SETTINGS, Setting, wanted_of

SCRIPTS_ONLY: Final = {
    "SERVICE_SKIP_PREFLIGHT": "`ServiceClient` sends without the checks before an order",
    "EXPOSURE_CAP_USD": "`ServiceClient` holds back buys above this sum",
    "TRADING_VENUE": "venue of a skill's orders, `sim` by default",
    "SERVICE_NOW": "time of the world in a trial, Unix seconds, for a skill's process",
    "SERVICE_<SLUG>_DAILY_BUDGET_USD": "budget of a skill's day, 20 by default",
}
"""Variables that scripts and skills read, and the desk does not."""

HEAD: Final = f"""# Configuration

Made from the settings table by `make docs`. `service-tui config show` (`--json`) lists every
setting with its value and its source.

## Files

- Configuration (`{CONFIG_FILE}`, `{KEY_FILE}`, `{COMMAND_FILE}`, `themes/`, `profiles.json`):
  `$XDG_CONFIG_HOME/service-tui`, else `~/.config/service-tui`; on macOS
  `~/Library/Application Support/service-tui`.
- Data and log: `$XDG_DATA_HOME/service-tui`, else `~/.local/share/service-tui`; `--data-dir` moves
  both.

## Rules

- A flag overrides a variable, a variable overrides the file, the file overrides the default.
- A mistake in the file is one line with its place, and exit status 2.
- `api_key` in the file is sent only to the `url` beside it, and the file must have mode 600.
- `SERVICE_API_URL` counts only together with `SERVICE_API_KEY`.
- A setting of the file that a command does not use is ignored.
- `serve.port` is `port` in the table `[serve]`; the same goes for `report` and `autoresearch`.

## Proxies

- `HTTPS_PROXY` or `HTTP_PROXY` by the service's address, else `ALL_PROXY`, are used for `--url`,
  profiles, `people`, `autoresearch` with `SERVICE_API_URL`, and `ServiceClient`. `NO_PROXY` names
  hosts, domains, networks or `*` that are reached without. Small letters win over capitals.
- This machine itself is never reached through a proxy. SOCKS proxies are not supported.
- Webhooks, and the venue's chain, are reached without.

## The terminal

- `ESCDELAY` is how long, in milliseconds, an escape waits for the rest of a key (100). Where arrows
  act as three keys, as on a slow line, set 500 or more; `esc` itself then takes as long.
- A paste whose end is lost is over after a second of silence, or with a function key.
- `TERM=dumb` has no screen: `--plain` gives lines of text.
- Keys are Latin letters, digits and signs; a letter of another layout is named once.

## Settings

"""

SCREEN: Final = """
## The settings screen

Press `8` in the console, then `enter` on a row. These values are kept in the data directory or by
the service, not in a file. `u` undoes the last change.

"""

KEYS: Final = f"""
## Your own keys

`{KEY_FILE}` gives actions other keys. Footer, help and palette then show them. The ids are
listed in [Keys](keys.md).

```toml
"markets.buy" = "ctrl+b"
"app.help" = ["f1", "?"]
```

These are mistakes, listed at the start and by `service-tui doctor`; all keys then stay as shipped:

- an unknown id or key
- two actions of one place on one key
- a key that a terminal sends as another one (`ctrl+h`)
- a key that typing needs, for halt, quit, clear notices and whatever works in a form
- a key that answers a dialog (`y`, `p`, `enter`, digits), for `dialog.close`

## Your own commands

`{COMMAND_FILE}` gives a name, and a key if you like, to a line for the shell. `:name` runs it, and
so does the key; help and palette list it.

```toml
[[command]]
name = "browse"
key = "F11"
screens = ["markets", "portfolio", "orders"]     # names as after `:`; without them, everywhere
about = "Open the page of the market"
run = 'xdg-open "$MARKET_URL"'

[[command]]
name = "watch"
about = "Note the price of the market in a file"
run = '''
printf '%s,%s,%s\\n' "$(date -u +%FT%TZ)" "$MARKET_ID" "$PRICE" >> ~/prices.csv
tail -n 1 ~/prices.csv
'''
```

The line gets the highlighted row as variables of its environment, empty where the row has none:
{", ".join(map(code, VARIABLES))}.
`PRICE` is that of YES now, and `MARKET_URL` begins with `http`.

- **Values come from outside**: a question or a name can hold anything that somebody typed. They
  are never put into the line. Write `"$QUESTION"` in double quotes, never without them, never
  inside `eval` or `sh -c`, and put `--` before one that could begin with a dash.
- The file must be yours and of mode 600: what others can change is not run.
- `/bin/sh` runs the line as you, in the folder where the console was started, apart from the
  terminal. It gets named variables only, and none of this program's keys, tokens or passphrases.
- After {WITHIN_S:.0f} s it is ended with all that it started, and so when the console ends; what a
  line leaves in the background (`&`) when it ends itself goes on. One of a name runs at one time,
  {TOGETHER_MAX} in all. Its exit code and its last line are shown; no more of it is kept.
- A name or a key that means something already, and any other mistake, is said at the start and by
  `service-tui doctor`; then there is no own command at all.
- Own commands are off in a replay, and in a drill. The action log has their names.

## Shell completion

```sh
service-tui completion bash > ~/.local/share/bash-completion/completions/service-tui
service-tui completion fish > ~/.config/fish/completions/service-tui.fish
service-tui completion zsh > DIR/_service-tui    # DIR is a folder of $fpath
```
"""


def page() -> str:
    """The whole page."""
    head = ("Key of `config.toml`", "Flag", "Variable", "Description", "Default", "Values")
    screen = table(("Group", "Setting", "Description"), _screen())
    return f"{HEAD}{table(head, _settings())}{SCREEN}{screen}{KEYS}"


def _settings() -> Iterator[tuple[str, ...]]:
    for setting in SETTINGS:
        key = "" if setting.key == "wallet_key" else setting.key
        named = (code(name) or "-" for name in (key, setting.flag, setting.variable))
        yield (*named, setting.about, setting.default or "-", _values(setting))
    for variable, about in SCRIPTS_ONLY.items():
        yield "-", "-", code(variable), about, "-", "-"


def _values(setting: Setting) -> str:
    if setting.values:
        return ", ".join(code(str(value)) for value in setting.values)
    return wanted_of(setting).removeprefix("a ").replace("text in quotes", "text")


def _screen() -> Iterator[tuple[str, str, str]]:
    for row in settings(ViewContext.of(sample_state(), NOW), ""):
        yield row.group, row.name, row.meaning
