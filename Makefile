# Two commands for a machine that has only Python (3.11 or newer), pip and make.
#   make console    set up and open the desk
#   make test       set up and pass every check
# Between two edits:
#   make quick      the static tools, the tests not marked slow, and slow ones near the change
# For pip, pipx and uv:
#   make package    build a wheel and an sdist in dist/
#   make installed  install both into empty environments and open the console; WAYS="pip pipx uv newest lowest"
#   make changes TAG=v0.1.0   the text of a release, of CHANGELOG.md
# After a change of what a screen shows:
#   make pictures SCREEN=markets   make its pictures anew, and see what changed
# By hand, an hour long:
#   make deep       every test with ten times the examples, and the storms

VENV ?= .venv
BIN := $(VENV)/bin
# That of .venv, once there is one: another one made in its place would find its parts nowhere.
PYTHON ?= $(or $(wildcard $(BIN)/python),python3)

.PHONY: console test quick deep package installed changes lock pictures tables docs site bench clean

console: $(VENV)/.console
	@$(BIN)/service-tui $(ARGS)

test: $(VENV)/.test
	@$(BIN)/python tests/check.py

quick: $(VENV)/.test
	@$(BIN)/python tests/check.py quick

deep: $(VENV)/.test
	@$(BIN)/python tests/check.py deep

# A wheel and an sdist in dist/, without fetching anything.
package: $(VENV)/.console
	@$(BIN)/python -m hatchling build

# Both of them, installed by each of the ways, and the console opened in a terminal.
installed: $(VENV)/.console
	@$(BIN)/python tests/installed.py $(WAYS)

changes:
	@$(PYTHON) tests/changes.py '$(TAG)'

$(VENV)/.console: requirements.lock pyproject.toml
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-input --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-input --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.test: requirements-dev.lock requirements.lock pyproject.toml
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-input --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-input --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.console

# Made anew on the oldest Python that is supported; hashes of every file, no address of any index.
# Not the extra all, which names this project: it would stand in them with its folder.
lock: EXTRAS = $(addprefix --extra ,chain team web research history keyring)
lock:
	@$(BIN)/python -m pip install -q pip-tools
	$(BIN)/pip-compile -q --generate-hashes --strip-extras --no-emit-index-url --no-emit-find-links --no-header --allow-unsafe $(EXTRAS) --extra build -o requirements.lock pyproject.toml
	$(BIN)/pip-compile -q --generate-hashes --strip-extras --no-emit-index-url --no-emit-find-links --no-header --allow-unsafe $(EXTRAS) --extra build --extra dev -o requirements-dev.lock pyproject.toml
# pip-compile drops the marker of what an extra brings; without its wheel 3.14 installs nothing.
	@sed -i.before 's/^\(coincurve==[^ ]*\) \\$$/\1 ; python_version < "3.14" \\/' requirements.lock requirements-dev.lock
	@rm requirements.lock.before requirements-dev.lock.before

# The pictures of one screen, of the suite and of the README, made anew; shows what has changed.
pictures: $(VENV)/.test
	@$(BIN)/python tests/pictures.py $(SCREEN)

# The tables as plain text, made of the classes that declare them.
tables: $(VENV)/.test
	@PYTHONPATH=tests $(BIN)/python -m kit.declared
	@$(BIN)/ruff format -q src/service_tui/storage/db/declared.py

# The pages that are made from the source.
docs: $(VENV)/.test
	@PYTHONPATH=tests $(BIN)/python -m kit.pages

# The documents as pages for a browser, their links checked.
site: $(VENV)/.test
	@PYTHONPATH=tests $(BIN)/python -m kit.pages.site site

bench: $(VENV)/.test
	@$(BIN)/python tests/bench/run.py

clean:
	rm -rf $(VENV)
