"""Certificates of a test's own: self-signed, for names and addresses of this machine."""

import datetime as dt
import ssl
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from service_tui.clock import SystemClock


@dataclass(frozen=True)
class Certificate:
    """Where a certificate lies, and its key."""

    cert: Path
    key: Path

    def trusted(self) -> ssl.SSLContext:
        """How a client trusts this certificate, and no other."""
        return ssl.create_default_context(cafile=str(self.cert))


def certificate(folder: Path, *names: str, passphrase: bytes | None = None) -> Certificate:
    """A new certificate for these names and 127.0.0.1."""
    folder.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test")])
    now = dt.datetime.fromtimestamp(SystemClock().now(), dt.UTC)
    known = [x509.DNSName(one) for one in names] + [x509.IPAddress(ip_address("127.0.0.1"))]
    made = (
        x509
        .CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(known), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    sealed = (
        serialization.NoEncryption()
        if passphrase is None
        else serialization.BestAvailableEncryption(passphrase)
    )
    found = Certificate(folder / "cert.pem", folder / "key.pem")
    found.cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    pkcs8 = serialization.PrivateFormat.PKCS8
    found.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, pkcs8, sealed))
    return found
