# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Tokens as text (RFC 7515 and 7519), also for unsigned ones."""
import base64, hashlib, hmac, json


def part(value):
    """JSON, or bytes, as a token has them."""
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def signed(secret, header, claims):
    """A token that is signed as HS256 does it, whatever its header says."""
    text = part(header) + "." + part(claims)
    return text + "." + part(hmac.new(secret, text.encode(), hashlib.sha256).digest())


def point(key):
    """A public key as bytes, as PEM has them too: what may be taken for a secret by mistake."""
    return b"".join(decoded(key[name]) for name in ("x", "y") if name in key)


def changed(token, number, choose):
    """The token with bits of one of its three parts changed, so that what is there can still be decoded."""
    parts = token.split(".")
    raw = bytearray(decoded(parts[number]))
    raw[choose.randrange(len(raw))] ^= 1 << choose.randrange(8)
    return ".".join((*parts[:number], part(bytes(raw)), *parts[number + 1:]))
