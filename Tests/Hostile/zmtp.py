# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""ZMTP 3 as bytes (RFC 23 and RFC 37), for peers that need not keep its rules."""

SIGNATURE = b"\xff" + bytes(8) + b"\x7f"
MORE, LONG, COMMAND = 1, 2, 4
#: No flag of the wire: what a frame is that has others of its message before it.
FOLLOWS = 0x100


def greeting(major=3, minor=0, mechanism=b"NULL"):
    """The 64 bytes that each side sends first."""
    return (SIGNATURE + bytes((major, minor)) + mechanism.ljust(20, b"\0")).ljust(64, b"\0")


def header(size, flags=0, long=None):
    """What precedes a frame's body of `size` bytes; `long` forces one of the two forms."""
    if long or (long is None and size > 255):
        return bytes((flags | LONG,)) + size.to_bytes(8, "big")
    return bytes((flags, size))


def frame(body, more=False):
    return header(len(body), MORE if more else 0) + body


def message(*frames):
    """One message of several frames."""
    return b"".join(frame(each, more=index < len(frames) - 1) for index, each in enumerate(frames))


def request(body):
    """As REQ sends it: an empty delimiter, then the body."""
    return message(b"", body)


def command(name, data=b""):
    body = bytes((len(name),)) + name + data
    return header(len(body), COMMAND) + body


def metadata(name, value):
    """One property of READY."""
    return bytes((len(name),)) + name + len(value).to_bytes(4, "big") + value


def ready(kind, identity=b""):
    """The READY of a socket of this kind, such as b"DEALER"."""
    data = metadata(b"Socket-Type", kind)
    if kind in (b"REQ", b"DEALER", b"ROUTER"):
        data += metadata(b"Identity", identity)
    return command(b"READY", data)


def subscription(topic, cancel=False, as_command=False):
    """A subscription or its end: as the message of RFC 23, or as the command of RFC 37."""
    if as_command:
        return command(b"CANCEL" if cancel else b"SUBSCRIBE", topic)
    return frame((b"\0" if cancel else b"\1") + topic)


def ping(ttl_tenths=0, context=b""):
    return command(b"PING", ttl_tenths.to_bytes(2, "big") + context)


class Reader:
    """Reads the other side's bytes, cut anywhere, into frames: (flags, body). Its greeting is passed over.

    `FOLLOWS` is set for what is not the first frame of its message.
    """

    def __init__(self):
        self.buffer = bytearray()
        self.greeted = False
        self.in_message = 0

    def feed(self, data):
        """The frames that are whole now."""
        buffer = self.buffer
        buffer += data
        frames = []
        offset = 0
        if not self.greeted:
            if len(buffer) < 64:
                return frames
            self.greeted, offset = True, 64
        while len(buffer) - offset >= 2:
            flags = buffer[offset]
            if flags & LONG:
                if len(buffer) - offset < 9:
                    break
                start, size = offset + 9, int.from_bytes(buffer[offset + 1:offset + 9], "big")
            else:
                start, size = offset + 2, buffer[offset + 1]
            if len(buffer) - start < size:
                break
            frames.append((flags | self.in_message, bytes(buffer[start:start + size])))
            if not flags & COMMAND:
                self.in_message = FOLLOWS if flags & MORE else 0
            offset = start + size
        del buffer[:offset]
        return frames


def bodies(frames):
    """The last frame behind a delimiter: what a reply says. Commands, and notices, which are one frame, are left out."""
    return [body for flags, body in frames if flags & FOLLOWS and not flags & (MORE | COMMAND)]
