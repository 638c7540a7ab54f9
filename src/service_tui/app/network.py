"""The port of a service that other machines reach: checked before anything starts."""

import re
import socket
import ssl
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from service_tui.app.options import LOOPBACK_HOSTS, Options
from service_tui.plain_files import read_plain
from service_tui.server.http.entrance import Entrance
from service_tui.server.http.loopback import HOST

ANY: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104  (to be distinguished from addresses with a name)
_NAME: Final = re.compile(r"(?=.{1,253}\Z)[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\]")
_ENCRYPT: Final = "give --tls-cert and --tls-key, or --trusted-proxy ADDRESS"


@dataclass(frozen=True, slots=True)
class LeaderTls:
    """How a call to another process is encrypted: whom to trust, and the name that it proves."""

    context: ssl.SSLContext
    name: str


class NetworkError(Exception):
    """The service cannot be opened to a network like this; one plain sentence."""


def check_network(options: Options) -> None:
    """Refuse what would not be safe, or cannot work; reads the certificate.

    Raises:
        NetworkError: gives the reason and the fix.
    """
    if options.address:
        _check_own_address(options)
    if options.is_on_network:
        entrance_on(options, 0)
    elif options.tls_key is not None:
        raise NetworkError("--tls-cert and --tls-key belong together: give both")
    elif options.public_names:
        raise NetworkError(f"--public-name is for a network: {_ENCRYPT}")


def host_of_port(options: Options) -> str:
    """The host on which a service listens; that of loopback unless another one was given."""
    return HOST if options.host in {"", "localhost"} else options.host


def with_address(options: Options) -> Options:
    """The same with the address at which the other processes of a shared desk reach this one.

    # ours: where `--host` is every address of the machine, the one by which it reaches the database
    # is one by which the others reach it, unless the database is on this machine.

    Raises:
        NetworkError: it was not given, and cannot be found.
    """
    if options.database is None or options.address or options.host not in ANY:
        return options
    found = _towards(options.database)
    if found is None or ip_address(found).is_loopback:
        raise NetworkError(
            f"--host {options.host} does not say where other processes of the desk reach this "
            "one: give --address NAME, another one for each process"
        )
    return replace(options, address=found)


def _towards(database: str) -> str | None:
    """This machine's address on the way to a database; None on a socket, or without a way."""
    # Imported here: only a shared desk needs the other database's driver.
    from service_tui.storage.shared.connection import host_of  # noqa: PLC0415

    host, port = host_of(database)
    if not host or host.startswith("/"):
        return None
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as line:
            # Of a datagram nothing is sent until somebody writes: only the way is chosen.
            line.connect(address)
            return str(line.getsockname()[0])
    except OSError:
        return None


def _check_own_address(options: Options) -> None:
    """Refuse an address at which no other process can reach this one.

    Raises:
        NetworkError: gives the reason and the fix.
    """
    address = options.address.lower()
    if options.database is None or not options.is_on_network:
        raise NetworkError("--address is for a shared desk on a network: give --database, --host")
    if options.trusted_proxy:
        raise NetworkError("--trusted-proxy listens on loopback, beside its proxy: no --address")
    if address in ANY or not (_NAME.fullmatch(address) or _is_ip(address)):
        raise NetworkError(
            f"--address is no name or address: {options.address[:80]!r}; give it without scheme "
            "or port"
        )


def _is_ip(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def entrance_on(options: Options, port: int) -> Entrance:
    """The entrance of a service on a network.

    Args:
        options: of the start.
        port: where it listens.

    Returns:
        The entrance, with what encrypts it.

    Raises:
        NetworkError: gives the reason and the fix.
    """
    host = _address(options.host or "127.0.0.1", "--host")
    proxy = _proxy(options, host)
    tls = None if proxy else _context(options, host)
    names = _names(options, host)
    near = _in_url(options.address or host)
    # ours: what stands in front speaks TLS on the usual port; the claim links say so.
    far = names[0] if proxy else f"{names[0]}:{port}"
    return Entrance(
        frozenset(names),
        "https",
        proxy=proxy,
        tls=tls,
        address=f"https://{far}",
        link=f"{'http' if proxy else 'https'}://{near}:{port}",
    )


def _proxy(options: Options, host: str) -> str | None:
    """The address of the proxy, None where there is none."""
    if not options.trusted_proxy:
        return None
    if options.tls_cert or options.tls_key:
        raise NetworkError("--trusted-proxy takes plain calls of a proxy: leave --tls-cert out")
    if options.database is not None and not ip_address(host).is_loopback:
        # A standby process would be taken for the proxy, and every caller let through.
        raise NetworkError(
            "--trusted-proxy with --database needs a --host on loopback; else give --tls-cert"
        )
    return _address(options.trusted_proxy, "--trusted-proxy")


def _address(text: str, flag: str) -> str:
    try:
        return str(ip_address("127.0.0.1" if text == "localhost" else text))
    except ValueError:
        raise NetworkError(f"{flag} is no address: {text[:80]!r}; give one like 10.0.0.7") from None


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _names(options: Options, host: str) -> tuple[str, ...]:
    """Names allowed in a Host header: the given ones, else the address itself."""
    names = tuple(name.lower() for name in options.public_names)
    for name in names:
        if not _NAME.fullmatch(name):
            raise NetworkError(f"no name of a host: {name[:80]!r}; give it without scheme or port")
    if names:
        return names
    if host in ANY:
        raise NetworkError(f"--host {host} has no name of its own: give --public-name NAME")
    # On this machine, "localhost" is the same place.
    return (_in_url(host), "localhost") if host in LOOPBACK_HOSTS else (_in_url(host),)


def _context(options: Options, host: str) -> ssl.SSLContext:
    """What encrypts: TLS 1.2 or newer.

    Returns:
        The context.

    Raises:
        NetworkError: a file is missing, cannot be read or used, or the two do not fit.
    """
    cert, key = options.tls_cert, options.tls_key
    if cert is None and key is None:
        raise NetworkError(f"--host {host} is open to the network without encryption: {_ENCRYPT}")
    if cert is None or key is None:
        raise NetworkError("--tls-cert and --tls-key belong together: give both")
    pem = _read(cert, "certificate")
    _read(key, "key")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        ssl.create_default_context(cadata=pem)
    except (ssl.SSLError, ValueError):
        raise NetworkError(f"{cert} is no certificate in PEM form") from None
    try:
        # Without a function it would ask at the terminal.
        context.load_cert_chain(cert, key, password=_no_passphrase)
    except _PassphraseError:
        raise NetworkError(f"the key in {key} wants a passphrase: give one without") from None
    except (ssl.SSLError, OSError) as error:
        if getattr(error, "reason", "") == "KEY_VALUES_MISMATCH":
            raise NetworkError(f"the key in {key} does not fit the certificate in {cert}") from None
        raise NetworkError(f"{key} is no private key in PEM form") from None
    return context


class _PassphraseError(Exception):
    """The key is encrypted."""


def _no_passphrase() -> str:
    raise _PassphraseError


def _read(path: Path, what: str) -> str:
    try:
        return read_plain(path).decode("ascii")
    except OSError as error:
        raise NetworkError(f"cannot read the {what} {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise NetworkError(f"{path} is no {what} in PEM form") from None


def leader_tls(options: Options) -> LeaderTls | None:
    """How this process calls the one that leads its world; None where nothing is encrypted.

    It trusts whom the system trusts, and its own certificate: processes of a desk share one.

    Raises:
        NetworkError: the certificate cannot be read.
    """
    if not options.is_on_network or options.trusted_proxy or options.tls_cert is None:
        return None
    context = ssl.create_default_context()
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(options.tls_cert)
    except (OSError, ssl.SSLError) as error:
        raise NetworkError(f"cannot read the certificate {options.tls_cert}") from error
    host = _address(options.host or "127.0.0.1", "--host")
    return LeaderTls(context, _names(options, host)[0].strip("[]"))
