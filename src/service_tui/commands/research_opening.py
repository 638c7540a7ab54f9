"""A session of a repository, on the service of the environment or of the data directory."""

import os
import random
import secrets
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx

from service_tui.app.attached import (
    AGAIN_S,
    HOLDER_URL,
    STARTING_S,
    HolderTransport,
    address_of,
    is_served,
)
from service_tui.app.closed import explain_closed_desk, only_reason
from service_tui.app.histories import folder_of, folders_of
from service_tui.app.options import Options
from service_tui.app.renewal import client_keys
from service_tui.app.succession import succeeding
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.remote import Remote
from service_tui.autoresearch.runner import is_closed
from service_tui.autoresearch.session import Means, Session
from service_tui.autoresearch.worktree import Repository, repository_at
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.client.proxies import proxy_for
from service_tui.clock import Clock
from service_tui.commands.research_arguments import ResearchRequest
from service_tui.config import DATA_VARIABLE
from service_tui.console.closed_desk import DeskClosedError
from service_tui.credentials.api_keys import stored_desk_keys
from service_tui.loading import imported
from service_tui.notes import holdouts
from service_tui.storage.errors import DirectoryLockedError


@asynccontextmanager
async def opened(
    options: Options, request: ResearchRequest, clock: Clock
) -> AsyncGenerator[Session]:
    """A session on the repository that contains a folder.

    Yields:
        The session, while the context lasts.

    Raises:
        ToolError: there is no repository, or it or the data directory cannot be used.
    """
    try:
        async with AsyncExitStack() as stack:
            session = await _entered(stack, _opened(options, request, clock))
            # A failure from here on does not stop the session from opening.
            yield session
    except Exception as error:
        reason = only_reason(error)
        if isinstance(reason, ToolError):
            raise reason from None
        raise


async def _entered(stack: AsyncExitStack, opening: AbstractAsyncContextManager[Session]) -> Session:
    """Enter the context; known errors become ToolError."""
    try:
        with explain_closed_desk():
            return await stack.enter_async_context(opening)
    except DeskClosedError as error:
        raise ToolError(str(error)) from None


@asynccontextmanager
async def _opened(
    options: Options, request: ResearchRequest, clock: Clock
) -> AsyncGenerator[Session]:
    repository = await repository_at(request.folder)
    async with _client(options, request, clock) as client:
        session = Session(
            Means(
                repository=repository,
                remote=Remote(client),
                clock=clock,
                data_dir=options.data_dir,
                environment=command_environment(os.environ),
                cap=request.cap,
                allows_shell=request.allows_shell,
                mark=secrets.token_hex(8),
                api=lambda skill: lab_of(options, repository, skill) or api_of(options, request),
                hidden=(*folders_of(options.data_dir), options.config_dir),
            )
        )
        await session.open()
        try:
            yield session
        finally:
            session.close()


def command_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of an experiment's command.

    Returns:
        The variables; `python` is the server's own, which has the library that skills import,
        unless the person has activated another.
    """
    own = str(Path(sys.executable).parent)
    path = environment.get("PATH", os.defpath)
    virtual_env = environment.get("VIRTUAL_ENV")
    return {**environment, "PATH": path if virtual_env else f"{own}{os.pathsep}{path}"}


def lab_of(options: Options, repository: Repository, skill: str) -> dict[str, str]:
    """The variables of an experiment from which time is kept back; none where nothing is.

    It gets no service: the world of a desk may be further than the lab.

    Raises:
        ToolError: what is kept back cannot be read, or is not closed to it.
    """
    data_dir = options.data_dir.resolve()
    try:
        kept = holdouts.read(holdouts.path_of(data_dir, repository.root, skill))
    except holdouts.UnreadableHoldoutError as error:
        raise ToolError(str(error), "a person has to move it away") from error
    if kept is None or not kept.lab:
        return {}
    folder = folder_of(kept.history, folders_of(data_dir))
    if not is_closed(folder, os.environ):
        raise ToolError(
            f"{folder}, where time is kept back, is open to experiments",
            "a person starts the server again with another TMPDIR",
        )
    return {DATA_VARIABLE: kept.lab}


def api_of(options: Options, request: ResearchRequest) -> dict[str, str]:
    """The variables by which an experiment reaches the session's service."""
    if request.api_key and request.api_url:
        return {"SERVICE_API_KEY": request.api_key, "SERVICE_API_URL": request.api_url}
    api_keys = stored_desk_keys(options.data_dir)
    address = address_of(options.data_dir)
    key = request.api_key or (api_keys.agent if api_keys is not None else None)
    if key is None or address is None:
        return {}
    return {"SERVICE_API_KEY": key, "SERVICE_API_URL": address}


@asynccontextmanager
async def _client(
    options: Options, request: ResearchRequest, clock: Clock
) -> AsyncGenerator[Client]:
    """A client of the service that the environment names, else of the data directory's own."""
    rng = random.SystemRandom()
    async with AsyncExitStack() as stack:
        if request.api_key and request.api_url:
            try:
                proxy = proxy_for(request.api_url, os.environ)
            except ValueError as error:
                raise ToolError(str(error), "then start the server again") from error
            made = Client(
                httpx.AsyncHTTPTransport(retries=0, proxy=proxy), request.api_url,
                ApiKeys(ApiKey(request.api_key, request.api_url)), clock=clock, rng=rng,
                allow_insecure=options.allow_insecure,
            )  # fmt: skip
        else:
            await _ensure_served(stack, options, clock)
            # The owner may end: the next one is found, or this process becomes the owner.
            await stack.enter_async_context(succeeding(_as_successor(options), clock))
            made = Client(
                HolderTransport(options.data_dir), HOLDER_URL, keys_of(options, request),
                clock=clock, rng=rng,
            )  # fmt: skip
        yield await stack.enter_async_context(made)


def _as_successor(options: Options) -> Options:
    return replace(options, listen=options.listen or 0)


def keys_of(options: Options, request: ResearchRequest) -> ApiKeys:
    """The key of the environment, else that of the data directory's own agent."""
    if request.api_key:
        return ApiKeys(ApiKey(request.api_key, HOLDER_URL))
    api_keys = stored_desk_keys(options.data_dir)
    if api_keys is None:
        raise ToolError("the data directory has no key", "open the console on it once")
    return client_keys(api_keys, HOLDER_URL)


async def _ensure_served(stack: AsyncExitStack, options: Options, clock: Clock) -> None:
    """Attach to the owner of the data directory, else own and serve it."""
    began = clock.monotonic()
    while not await is_served(options.data_dir, clock):
        # Only an owner pays for the import of the service.
        await imported("service_tui.app.ownership")
        from service_tui.app.ownership import own_directory  # noqa: PLC0415

        try:
            await stack.enter_async_context(own_directory(options, clock))
        except DirectoryLockedError:
            if clock.monotonic() - began >= STARTING_S:
                raise
            await clock.sleep(AGAIN_S)
        else:
            return
