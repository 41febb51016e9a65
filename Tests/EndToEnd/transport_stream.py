# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Writes MPEG transport streams with SCTE-35 cues, packet by packet (ISO/IEC 13818-1, ANSI/SCTE 35)."""

PACKET = 188
#: Values of a presentation time: 33 bits of 90 kHz.
WRAP = 1 << 33


def crc(data):
    """The CRC of sections (ISO/IEC 13818-1 annex A)."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1 ^ 0x04C11DB7 if value & 0x80000000 else value << 1) & 0xFFFFFFFF
    return value.to_bytes(4, "big")


def splice_insert(event, pts=None, seconds=None, out=True, filler=0):
    """A section with a splice_insert(); without `pts` it is about now, and `filler` bytes make it longer."""
    command = event.to_bytes(4, "big") + b"\x7F"
    command += bytes([out << 7 | 0x40 | (seconds is not None) << 5 | (pts is None) << 4 | 0x0F])
    if pts is not None:
        command += (0xFE << 32 | pts % WRAP).to_bytes(5, "big")
    if seconds is not None:
        command += (0xFE << 32 | seconds * 90_000).to_bytes(5, "big")
    command += b"\0\1\0\0"
    descriptors = b"\x80" + bytes([4 + filler]) + b"TEST" + bytes(filler) if filler else b""
    return splice_section(command, descriptors)


def splice_cancel(event):
    """A section with a splice_insert() that takes an event back."""
    return splice_section(event.to_bytes(4, "big") + b"\xFF")


def segment(event, kind, pts=None):
    """A section with a time_signal() and one segment of a type; without `pts` it is about now."""
    command = b"\x7F" if pts is None else (0xFE << 32 | pts % WRAP).to_bytes(5, "big")
    # All of the program, no duration, no restrictions, no identifier; the only segment of its kind.
    fields = b"CUEI" + event.to_bytes(4, "big") + b"\x7F\xBF\0\0" + bytes([kind]) + b"\1\1"
    return splice_section(command, b"\x02" + bytes([len(fields)]) + fields, kind=0x06)


def splice_section(command, descriptors=b"", kind=0x05):
    """A section with the fields of a command, a splice_insert() unless told."""
    rest = b"\0" * 6 + b"\0" + (0xFFF << 12 | len(command)).to_bytes(3, "big") + bytes([kind]) + command
    rest += len(descriptors).to_bytes(2, "big") + descriptors
    section = b"\xFC" + (0x3000 | len(rest) + 4).to_bytes(2, "big") + rest
    return section + crc(section)


class TransportStream:
    """One program with a clock and cues."""

    def __init__(self, program=1, map_pid=0x100, clock_pid=0x101, cue_pid=0x102):
        self.program, self.map_pid, self.clock_pid, self.cue_pid = program, map_pid, clock_pid, cue_pid
        self.counters = {}

    def packet(self, pid, payload, begins):
        """One packet, filled behind its payload."""
        counter = self.counters.get(pid, 0)
        self.counters[pid] = (counter + 1) % 16
        packet = bytes([0x47, begins << 6 | pid >> 8, pid & 0xFF, 0x10 | counter]) + payload
        return packet + b"\xFF" * (PACKET - len(packet))

    def lose(self, count):
        """The next packets with cues are lost."""
        self.counters[self.cue_pid] = (self.counters.get(self.cue_pid, 0) + count) % 16

    def section(self, section, pid=None):
        """The packets of a section."""
        pid, rest, packets = self.cue_pid if pid is None else pid, b"\0" + section, b""
        while rest:
            packets += self.packet(pid, rest[:184], begins=not packets)
            rest = rest[184:]
        return packets

    def table(self, pid, table, identifier, rest):
        body = identifier.to_bytes(2, "big") + b"\xC1\0\0" + rest
        section = bytes([table]) + (0xB000 | len(body) + 4).to_bytes(2, "big") + body
        return self.section(section + crc(section), pid)

    def tables(self):
        """The table of programs and the map, with the registration of cues."""
        association = self.program.to_bytes(2, "big") + (0xE000 | self.map_pid).to_bytes(2, "big")
        registration = b"\x05\x04CUEI"
        streams = b"\x86" + (0xE000 | self.cue_pid).to_bytes(2, "big") + b"\xF0\0"
        program_map = (0xE000 | self.clock_pid).to_bytes(2, "big") + (0xF000 | len(registration)).to_bytes(2, "big")
        return self.table(0, 0x00, 1, association) + self.table(self.map_pid, 0x02, self.program,
                                                                program_map + registration + streams)

    def clock(self, ticks):
        """A packet with the clock, in ticks of 90 kHz; it has no payload, and so does not count."""
        field = (ticks % WRAP << 15 | 0x7E00).to_bytes(6, "big")
        packet = bytes([0x47, self.clock_pid >> 8, self.clock_pid & 0xFF, 0x20, 183, 0x10]) + field
        return packet + b"\xFF" * (PACKET - len(packet))

    def seconds(self, first, count):
        """Clocks of so many seconds, ten a second, with the tables at the beginning of each second."""
        stream = b""
        for tenth in range(10 * count):
            if tenth % 10 == 0:
                stream += self.tables()
            stream += self.clock(first + tenth * 9_000)
        return stream


def rtp(number, packets):
    """A datagram of RTP with transport packets (RFC 2250)."""
    return b"\x80\x21" + (number % 65_536).to_bytes(2, "big") + bytes(8) + packets
