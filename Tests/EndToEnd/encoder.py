# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""ffmpeg as the encoder of tests, with pictures and sound that it makes itself, at the speed of the clock; and an injector of cues,
since ffmpeg writes no SCTE-35."""
import os, shutil, subprocess, tempfile, threading, time

from transport_stream import PACKET, WRAP, crc

FFMPEG = shutil.which("ffmpeg", path=os.environ.get("PATH", "") + ":/usr/bin")
#: The size of the pictures and the codecs are chosen so that the encoder computes next to nothing.
SOURCE = (FFMPEG or "ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-re", "-f", "lavfi", "-i", "testsrc=size=128x72:rate=10",
          "-f", "lavfi", "-i", "sine=frequency=440", "-threads", "1", "-c:v", "mpeg2video", "-g", "5", "-c:a", "mp2", "-b:a", "64k")


class CueInjector:
    """Puts SCTE-35 into the packets of another program's transport stream, as a multiplexer does.

    The map of the program gets the registration `CUEI` and a stream of the type 0x86; sections become packets between those that
    are there. (ISO/IEC 13818-1 2.4.4, ANSI/SCTE 35 section 8)
    """

    def __init__(self, cue_pid=0x1F0):
        self.cue_pid, self.counter = cue_pid, 0
        self.map_pid = self.clock_pid = None
        #: The last value of the program's clock, in ticks of 90 kHz.
        self.clock = None

    def inject(self, packet):
        """The packet as it goes on."""
        assert len(packet) == PACKET and packet[0] == 0x47, packet[:4]
        pid = (packet[1] & 0x1F) << 8 | packet[2]
        assert pid != self.cue_pid, "the encoder uses the PID of the cues"
        if pid == 0:
            section = self.table(packet)
            # The first program that is not the network's own table.
            programs = [section[place:place + 4] for place in range(8, len(section) - 4, 4)]
            program = next(each for each in programs if each[:2] != b"\0\0")
            self.map_pid = int.from_bytes(program[2:], "big") & 0x1FFF
        elif pid == self.map_pid:
            return self.with_cues(packet)
        elif pid == self.clock_pid and packet[3] & 0x20 and packet[4] >= 7 and packet[5] & 0x10:
            self.clock = int.from_bytes(packet[6:12], "big") >> 15
        return packet

    @staticmethod
    def table(packet):
        """The section of a packet that begins one and holds it whole, without a field of adaptation before it."""
        assert packet[1] & 0x40 and packet[3] & 0x30 == 0x10, packet[:5]
        section = packet[5 + packet[4]:]
        length = 3 + (int.from_bytes(section[1:3], "big") & 0xFFF)
        assert length <= len(section), "a table over several packets"
        assert crc(section[:length]) == bytes(4), "the checksum of the encoder's table is wrong"
        return section[:length]

    def with_cues(self, packet):
        """The map of the program with the stream of the cues."""
        section = self.table(packet)
        self.clock_pid = int.from_bytes(section[8:10], "big") & 0x1FFF
        length = int.from_bytes(section[10:12], "big") & 0xFFF
        registration = b"\x05\x04CUEI"
        body = section[3:10] + (0xF000 | length + len(registration)).to_bytes(2, "big") + section[12:12 + length] + registration
        body += section[12 + length:-4] + b"\x86" + (0xE000 | self.cue_pid).to_bytes(2, "big") + b"\xF0\0"
        table = section[:1] + (0xB000 | len(body) + 4).to_bytes(2, "big") + body
        return (packet[:4] + b"\0" + table + crc(table)).ljust(PACKET, b"\xFF")

    def packets(self, section):
        """The packets of a section, to go between two others."""
        rest, packets = b"\0" + section, b""
        while rest:
            head = bytes([0x47, (not packets) << 6 | self.cue_pid >> 8, self.cue_pid & 0xFF, 0x10 | self.counter])
            packets += (head + rest[:184]).ljust(PACKET, b"\xFF")
            rest, self.counter = rest[184:], (self.counter + 1) % 16
        return packets


class Encoder:
    """A live transport stream of ffmpeg with the cues of a test; `output` gets its packets, some at a time."""

    def __init__(self, output):
        self.output, self.injector = output, CueInjector()
        self.sections, self.lock = [], threading.Condition()
        #: The least difference between the time of day and the stream's clock, in seconds, as it was sent.
        self.least_offset = float("inf")
        self.process = subprocess.Popen([*SOURCE, "-muxdelay", "0", "-pcr_period", "40", "-f", "mpegts", "-flush_packets", "1", "-"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        datagram = b""
        while len(packet := self.process.stdout.read(PACKET)) == PACKET:
            with self.lock:
                before = self.injector.clock
                datagram += self.injector.inject(packet)
                has_clock = self.injector.clock != before
                if has_clock:
                    assert self.injector.clock < WRAP // 2, "the encoder began shortly before its clock wraps"
                    self.least_offset = min(self.least_offset, time.time() - self.injector.clock / 90_000)
                    for make in self.sections:
                        datagram += self.injector.packets(make(self.injector.clock))
                    self.sections.clear()
                    self.lock.notify_all()
            # As much as a datagram of Ethernet has room for; a clock and cues go at once.
            while len(datagram) >= 7 * PACKET or has_clock and datagram:
                self.output(datagram[:7 * PACKET])
                datagram = datagram[7 * PACKET:]

    def cue(self, make):
        """Puts the section that `make` gives for the value of the clock behind the next one."""
        with self.lock:
            self.sections.append(make)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.thread.join()
        self.process.stdout.close()


class LiveHLS:
    """A live HLS stream that ffmpeg writes to a folder; `text` is its playlist with the tags that a packager would put there."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="cuecast-hls.")
        #: Tags by the name of the segment that they stand before.
        self.tags = {}
        self.process = subprocess.Popen(
            [*SOURCE, "-f", "hls", "-hls_time", "1", "-hls_list_size", "6", "-hls_flags", "program_date_time+delete_segments+temp_file",
             "-hls_segment_filename", self.folder + "/segment%d.ts", self.folder + "/live.m3u8"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def written(self):
        """What ffmpeg wrote, line by line; empty before the first playlist."""
        try:
            with open(self.folder + "/live.m3u8", encoding="utf-8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def segments(self):
        """The names of the segments in the playlist, and the date of each as it is written."""
        lines, date, found = self.written(), None, []
        for line in lines:
            if line.startswith("#EXT-X-PROGRAM-DATE-TIME:"):
                date = line.split(":", 1)[1]
            elif line and not line.startswith("#"):
                found.append((line, date))
        return found

    def mark(self, tag):
        """Puts a tag before the segment that comes next; gives its name."""
        number = int(self.segments()[-1][0].removeprefix("segment").removesuffix(".ts")) + 1
        self.tags[f"segment{number}.ts"] = tag
        return f"segment{number}.ts"

    def text(self):
        lines = self.written()
        made, segment = [], []
        for line in lines:
            segment.append(line)
            if line and not line.startswith("#"):
                # Before all that belongs to the segment, where there is a tag for it.
                tag = self.tags.get(line)
                first = next((place for place, each in enumerate(segment) if each.startswith(("#EXTINF", "#EXT-X-PROGRAM-DATE-TIME"))), 0)
                made += segment[:first] + ([tag] if tag else []) + segment[first:]
                segment = []
        return "\n".join(made + segment) + "\n"

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)
