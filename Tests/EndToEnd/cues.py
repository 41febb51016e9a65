#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Compares `cuecast cue explain` with threefive, another reader and writer of SCTE-35, in both directions, field by field.

    .venv/bin/python Tests/EndToEnd/cues.py BINARY [--cues 10000] [--seed N]

Exits with 1 and one line per difference.

One direction: threefive writes a cue, and `cuecast` reads it and writes the same bytes. The other: this file writes a cue as XML, and
threefive reads the bytes that `cuecast` makes of it. Left out is what threefive does not have, or writes in another way than it reads:
splices and segments of components, audio descriptors, types of identifiers that it gives back shortened, and a time or a duration of 0.
"""
import argparse, contextlib, io, json, random, subprocess, sys, tempfile
from xml.sax.saxutils import escape, quoteattr

import threefive
from threefive import descriptors as tf_descriptors, commands as tf_commands
from threefive.segmentation import table20

CUEI = 0x43554549
SUBSEGMENT_TYPES = tf_descriptors.SegmentationDescriptor.SUB_SEG_TYPES
TEXT_TYPES = (0x01, 0x09, 0x0E, 0x0F, 0x11)


def random_cue(rng):
    """A cue as a dictionary: names of fields as the specification has them, in order."""
    fields = {
        "sap_type": rng.randrange(4), "pts_adjustment": rng.choice((0, rng.randrange(1 << 33))), "cw_index": rng.randrange(256),
        "tier": rng.choice((0xFFF, rng.randrange(0x1000))), "splice_command_type": rng.choice((0, 5, 5, 5, 6, 6, 6, 7, 255)),
    }
    kind = fields["splice_command_type"]
    if kind == 5:
        fields |= random_splice_insert(rng)
    elif kind == 6:
        fields |= random_splice_time(rng)
    elif kind == 255:
        fields |= {"identifier": rng.randrange(1 << 32), "private_byte": rng.randbytes(rng.randrange(1, 30)).hex()}
    return {"command": fields, "descriptors": [random_descriptor(rng) for _ in range(rng.randrange(4))]}


def random_splice_time(rng):
    return {"time_specified_flag": 1, "pts_time": rng.randrange(1, 1 << 33)} if rng.random() < 0.8 else {"time_specified_flag": 0}


def random_splice_insert(rng):
    fields = {"splice_event_id": rng.randrange(1 << 32), "splice_event_cancel_indicator": int(rng.random() < 0.2)}
    if fields["splice_event_cancel_indicator"]:
        return fields
    fields |= {"out_of_network_indicator": rng.randrange(2), "program_splice_flag": 1, "duration_flag": rng.randrange(2),
               "splice_immediate_flag": rng.randrange(2), "event_id_compliance_flag": rng.randrange(2)}
    if not fields["splice_immediate_flag"]:
        fields |= random_splice_time(rng)
    if fields["duration_flag"]:
        fields |= {"auto_return": rng.randrange(2), "duration": rng.randrange(1, 1 << 33)}
    return fields | {"unique_program_id": rng.randrange(1 << 16), "avail_num": rng.randrange(256), "avails_expected": rng.randrange(256)}


def random_descriptor(rng):
    tag = rng.choice((0, 1, 2, 2, 2, 2, 3, 0x80))
    fields = {"splice_descriptor_tag": tag, "identifier": CUEI}
    if tag == 0:
        return fields | {"provider_avail_id": rng.randrange(1 << 32)}
    if tag == 1:
        digits = "".join(rng.choices("0123456789*#", k=rng.randrange(1, 8)))
        return fields | {"preroll": rng.randrange(256), "dtmf_count": len(digits), "DTMF_char": digits.encode().hex()}
    if tag == 3:
        return fields | {"TAI_seconds": rng.randrange(1 << 48), "TAI_ns": rng.randrange(1 << 32), "UTC_offset": rng.randrange(1 << 16)}
    if tag == 2:
        return fields | random_segmentation(rng)
    owner = "".join(rng.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ", k=4)).encode()
    return fields | {"identifier": int.from_bytes(owner, "big"), "private_byte": text(rng, 1, 40).encode().hex()}


def text(rng, least, most):
    return "".join(rng.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/=&", k=rng.randint(least, most)))


def random_segmentation(rng):
    fields = {"segmentation_event_id": rng.randrange(1 << 32), "segmentation_event_cancel_indicator": int(rng.random() < 0.15),
              "segmentation_event_id_compliance_indicator": rng.randrange(2)}
    if fields["segmentation_event_cancel_indicator"]:
        return fields
    fields |= {"program_segmentation_flag": 1, "segmentation_duration_flag": rng.randrange(2),
               "delivery_not_restricted_flag": rng.randrange(2)}
    if not fields["delivery_not_restricted_flag"]:
        fields |= {"web_delivery_allowed_flag": rng.randrange(2), "no_regional_blackout_flag": rng.randrange(2),
                   "archive_allowed_flag": rng.randrange(2), "device_restrictions": rng.randrange(4)}
    if fields["segmentation_duration_flag"]:
        fields["segmentation_duration"] = rng.randrange(1, 1 << 40)
    upid_type, upid = random_upid(rng)
    fields |= {"segmentation_upid_type": upid_type, "segmentation_upid_length": len(upid), "segmentation_upid": upid.hex()}
    if not upid:
        del fields["segmentation_upid"]
    fields |= {"segmentation_type_id": rng.choice((0x10, 0x11, 0x20, 0x22, 0x23, *range(0x30, 0x3C), *range(0x40, 0x48), 0x50)),
               "segment_num": rng.randrange(256), "segments_expected": rng.randrange(256)}
    if fields["segmentation_type_id"] in SUBSEGMENT_TYPES and rng.random() < 0.5:
        fields |= {"sub_segment_num": rng.randrange(1, 256), "sub_segments_expected": rng.randrange(1, 256)}
    return fields


def random_upid(rng):
    kind = rng.choice((0, 0x03, 0x08, 0x0C, 0x0D, *TEXT_TYPES))
    if kind == 0:
        return 0, b""
    if kind == 0x03:
        return kind, text(rng, 12, 12).encode()
    if kind == 0x08:
        return kind, rng.randbytes(8)
    if kind == 0x0C:
        return kind, b"CUEC" + rng.randbytes(rng.randrange(1, 20))
    if kind == 0x0D:
        parts = [(0x08, rng.randbytes(8)), (0x09, text(rng, 1, 30).encode()), (0x03, text(rng, 12, 12).encode())]
        return kind, b"".join(bytes((each, len(value))) + value for each, value in parts[: rng.randrange(1, 4)])
    return kind, text(rng, 1, 60).encode()


# threefive.

def seconds(ticks):
    return ticks / 90000


def ticks(value):
    return int(round(value * 90000))


def number(value):
    return int(value, 16) if isinstance(value, str) else int(value)


def write_by_threefive(cue):
    """The base64 of a cue."""
    fields = cue["command"]
    made = threefive.Cue()
    info = made.info_section
    info.sap_type, info.cw_index, info.tier = f"0x{fields['sap_type']:02x}", hex(fields["cw_index"]), hex(fields["tier"])
    info.pts_adjustment = seconds(fields["pts_adjustment"])
    made.command = command = tf_commands.command_map[fields["splice_command_type"]]()
    for name, value in fields.items():
        if name == "pts_time":
            command.pts_time = seconds(value)
        elif name == "duration":
            command.break_duration = seconds(value)
        elif name == "auto_return":
            command.break_auto_return = bool(value)
        elif name == "private_byte":
            command.private_bytes = bytes.fromhex(value)
        elif name.endswith(("_flag", "_indicator")):
            setattr(command, name, bool(value))
        elif hasattr(command, name):
            setattr(command, name, value)
    made.descriptors = [descriptor_by_threefive(each) for each in cue["descriptors"]]
    return made.encode()


def descriptor_by_threefive(fields):
    tag = fields["splice_descriptor_tag"]
    descriptor = tf_descriptors.descriptor_map.get(tag, tf_descriptors.SpliceDescriptor)()
    descriptor.tag = tag
    descriptor.identifier = fields["identifier"].to_bytes(4, "big").decode()
    for name, value in fields.items():
        if name == "segmentation_duration":
            descriptor.segmentation_duration = seconds(value)
        elif name == "segmentation_event_id":
            descriptor.segmentation_event_id = hex(value)
        elif name == "device_restrictions":
            descriptor.device_restrictions = table20[value]
        elif name == "DTMF_char":
            descriptor.dtmf_chars = list(bytes.fromhex(value).decode())
        elif name == "private_byte":
            descriptor.private_data = bytes.fromhex(value)
        elif name.startswith(("TAI_", "UTC_")):
            setattr(descriptor, name.lower(), value)
        elif name.endswith(("_flag", "_indicator")):
            setattr(descriptor, name, bool(value))
        elif name not in ("identifier", "segmentation_upid") and hasattr(descriptor, name):
            setattr(descriptor, name, value)
    if tag == 2 and "segmentation_upid_type" in fields:
        upid = bytes.fromhex(fields.get("segmentation_upid", ""))
        descriptor.segmentation_upid = upid_by_threefive(fields["segmentation_upid_type"], upid)
    return descriptor


def upid_by_threefive(kind, upid):
    if kind == 0:
        return ""
    if kind == 0x08:
        return "0x" + upid.hex()
    if kind == 0x0C:
        # As threefive reads it before it writes: bytes of the whole.
        return upid.hex()
    if kind == 0x0D:
        return [{"upid_type": each, "upid_length": len(value), "segmentation_upid": upid_by_threefive(each, value)}
                for each, value in parts(upid)]
    return upid.decode()


def parts(upid):
    found = []
    while upid:
        found.append((upid[0], upid[2 : 2 + upid[1]]))
        upid = upid[2 + upid[1] :]
    return found


def read_by_threefive(base64):
    """The fields of a cue, in the names of the specification; the kinds that are compared."""
    cue = threefive.Cue(base64)
    info, command = cue.info_section, cue.command
    fields = {"sap_type": number(info.sap_type), "pts_adjustment": ticks(info.pts_adjustment), "cw_index": number(info.cw_index),
              "tier": number(info.tier), "splice_command_type": info.splice_command_type}
    for name, value in vars(command).items():
        name = {"break_duration": "duration", "break_auto_return": "auto_return", "private_bytes": "private_byte"}.get(name, name)
        if value is None or name in ("command_length", "command_type", "name", "bites", "break_duration_ticks"):
            continue
        fields[name] = ticks(value) if name in ("pts_time", "duration") else value.hex() if isinstance(value, bytes) else int(value)
    return {"command": fields, "descriptors": [fields_of_threefive(each) for each in cue.descriptors]}


def fields_of_threefive(descriptor):
    fields = {"splice_descriptor_tag": descriptor.tag, "identifier": int.from_bytes(descriptor.identifier.encode(), "big")}
    names = {"dtmf_chars": "DTMF_char", "private_data": "private_byte", "tai_seconds": "TAI_seconds", "tai_ns": "TAI_ns",
             "utc_offset": "UTC_offset"}
    for name, value in vars(descriptor).items():
        if value is None or name in ("tag", "identifier", "name", "bites", "descriptor_length", "segmentation_message",
                                     "segmentation_upid_type_name", "segmentation_upid"):
            continue
        if name == "segmentation_duration":
            value = ticks(value)
        elif name == "device_restrictions":
            value = next(key for key, each in table20.items() if each == value)
        elif name == "dtmf_chars":
            value = "".join(value).encode().hex()
        elif name == "private_data":
            value = value.encode().hex()
        else:
            value = number(value)
        fields[names.get(name, name)] = value
    if descriptor.tag == 2 and descriptor.segmentation_upid_length:
        fields["segmentation_upid"] = upid_of_threefive(
            descriptor.segmentation_upid_type, descriptor.segmentation_upid, descriptor.segmentation_upid_length).hex()
    return fields


def upid_of_threefive(kind, value, length):
    if kind == 0x08:
        return int(value, 16).to_bytes(length, "big")
    if kind == 0x0C:
        return value["format_identifier"].encode() + int(value["private_data"], 16).to_bytes(length - 4, "big")
    if kind == 0x0D:
        return b"".join(bytes((each["upid_type"], each["upid_length"]))
                        + upid_of_threefive(each["upid_type"], each["segmentation_upid"], each["upid_length"]) for each in value)
    return value.encode()


# Cuecast.

def explain(binary, lines):
    """What `cuecast cue explain` says of cues, one JSON object for each."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(line + "\n" for line in lines))
        file.flush()
        done = subprocess.run([binary, "cue", "explain", "--lines", "--json", file.name], capture_output=True, text=True)
    if done.returncode not in (0, 65):
        sys.exit(f"cues: {binary} ended with {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def read_by_cuecast(explained):
    cue = {"command": {}, "descriptors": []}
    left_out = ("table_id", "section_syntax_indicator", "private_indicator", "section_length", "protocol_version", "encrypted_packet",
                "encryption_algorithm", "splice_command_length", "descriptor_loop_length", "CRC_32", "descriptor_length", "reserved")
    for field in explained["fields"]:
        if field["name"] in left_out:
            continue
        if field["name"] == "splice_descriptor_tag":
            cue["descriptors"].append({})
        fields = cue["descriptors"][-1] if "descriptor" in field["structure"] else cue["command"]
        fields[field["name"]] = field["value"] if "value" in field else field["bytes"]
    return cue


def element(name, attributes, *children):
    attributes = "".join(f" {key}={quoteattr(str(value))}" for key, value in attributes.items() if value is not None)
    return f"<scte35:{name}{attributes}>{''.join(children)}</scte35:{name}>"


def xml(cue):
    """The XML form of a cue, on one line."""
    fields = cue["command"]
    return element(
        "SpliceInfoSection",
        {"xmlns:scte35": "http://www.scte.org/schemas/35", "sapType": fields["sap_type"], "ptsAdjustment": fields["pts_adjustment"],
         "protocolVersion": 0, "tier": fields["tier"]},
        element("EncryptedPacket", {"encryptionAlgorithm": 0, "cwIndex": fields["cw_index"]}), command_xml(fields),
        *(descriptor_xml(each) for each in cue["descriptors"]))


def command_xml(fields):
    splice_time = element("SpliceTime", {"ptsTime": fields.get("pts_time")})
    kind = fields["splice_command_type"]
    if kind == 0:
        return element("SpliceNull", {})
    if kind == 7:
        return element("BandwidthReservation", {})
    if kind == 6:
        return element("TimeSignal", {}, splice_time)
    if kind == 255:
        return element("PrivateCommand", {"identifier": fields["identifier"]}, element("PrivateBytes", {}, fields["private_byte"]))
    attributes = {"spliceEventId": fields["splice_event_id"], "spliceEventCancelIndicator": fields["splice_event_cancel_indicator"]}
    if fields["splice_event_cancel_indicator"]:
        return element("SpliceInsert", attributes)
    attributes |= {
        "outOfNetworkIndicator": fields["out_of_network_indicator"], "spliceImmediateFlag": fields["splice_immediate_flag"],
        "eventIdComplianceFlag": fields["event_id_compliance_flag"], "uniqueProgramId": fields["unique_program_id"],
        "availNum": fields["avail_num"], "availsExpected": fields["avails_expected"]}
    duration = element("BreakDuration", {"autoReturn": fields.get("auto_return"), "duration": fields.get("duration")})
    return element("SpliceInsert", attributes, element("Program", {}, splice_time), duration if fields["duration_flag"] else "")


def descriptor_xml(fields):
    tag = fields["splice_descriptor_tag"]
    if tag == 0:
        return element("AvailDescriptor", {"providerAvailId": fields["provider_avail_id"]})
    if tag == 1:
        return element("DTMFDescriptor", {"preroll": fields["preroll"], "chars": bytes.fromhex(fields["DTMF_char"]).decode()})
    if tag == 3:
        return element("TimeDescriptor",
                       {"taiSeconds": fields["TAI_seconds"], "taiNs": fields["TAI_ns"], "utcOffset": fields["UTC_offset"]})
    if tag != 2:
        return element("PrivateDescriptor", {"descriptorTag": tag, "identifier": fields["identifier"]},
                       element("PrivateBytes", {}, fields["private_byte"]))
    attributes = {"segmentationEventId": fields["segmentation_event_id"],
                  "segmentationEventCancelIndicator": fields["segmentation_event_cancel_indicator"],
                  "segmentationEventIdComplianceIndicator": fields["segmentation_event_id_compliance_indicator"]}
    if fields["segmentation_event_cancel_indicator"]:
        return element("SegmentationDescriptor", attributes)
    attributes |= {
        "segmentationDuration": fields.get("segmentation_duration"), "segmentationTypeId": fields["segmentation_type_id"],
        "segmentNum": fields["segment_num"], "segmentsExpected": fields["segments_expected"],
        "subSegmentNum": fields.get("sub_segment_num"), "subSegmentsExpected": fields.get("sub_segments_expected")}
    restrictions = "" if fields["delivery_not_restricted_flag"] else element("DeliveryRestrictions", {
        "webDeliveryAllowedFlag": fields["web_delivery_allowed_flag"], "noRegionalBlackoutFlag": fields["no_regional_blackout_flag"],
        "archiveAllowedFlag": fields["archive_allowed_flag"], "deviceRestrictions": fields["device_restrictions"]})
    return element("SegmentationDescriptor", attributes, restrictions, upid_xml(fields))


def upid_xml(fields):
    kind, upid = fields["segmentation_upid_type"], bytes.fromhex(fields.get("segmentation_upid", ""))
    if kind == 0:
        return ""
    found = parts(upid) if kind == 0x0D else []
    # A list of one is written whole.
    return "".join(one_upid_xml(*each) for each in (found if len(found) > 1 else [(kind, upid)]))


def one_upid_xml(kind, upid):
    attributes = {"segmentationUpidType": kind}
    if kind == 0x08:
        return element("SegmentationUpid", attributes | {"segmentationUpidFormat": "text"}, str(int.from_bytes(upid, "big")))
    if kind == 0x0C:
        attributes["formatIdentifier"] = int.from_bytes(upid[:4], "big")
        upid = upid[4:]
    if kind in (0x0C, 0x0D):
        return element("SegmentationUpid", attributes | {"segmentationUpidFormat": "hexbinary"}, upid.hex())
    return element("SegmentationUpid", attributes | {"segmentationUpidFormat": "text"}, escape(upid.decode()))


# The comparison.

def differences(name, expected, found):
    """The fields in which two cues differ, one sentence each."""
    if len(expected["descriptors"]) != len(found["descriptors"]):
        yield f"{name}: {len(found['descriptors'])} descriptors, and it must be {len(expected['descriptors'])}"
    pairs = [("command", expected["command"], found["command"])]
    pairs += [(f"descriptor {index + 1}", *pair) for index, pair in enumerate(zip(expected["descriptors"], found["descriptors"]))]
    for place, ours, theirs in pairs:
        for field in sorted(ours.keys() | theirs.keys()):
            if ours.get(field) != theirs.get(field):
                yield f"{name}: {place}: {field} is {theirs.get(field)}, and it must be {ours.get(field)}"


def quietly(function, *arguments):
    """A call of threefive without what it says to people."""
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        return function(*arguments)


def compare(binary, count, seed):
    rng = random.Random(seed)
    cues = [random_cue(rng) for _ in range(count)]
    written = [quietly(write_by_threefive, cue) for cue in cues]
    fields = 0
    for index, (cue, base64, explained) in enumerate(zip(cues, written, explain(binary, written), strict=True)):
        name = f"cue {index}, threefive to cuecast, {base64}"
        if not explained["readable"]:
            yield f"{name}: {explained['error']}"
            continue
        yield from differences(name, cue, read_by_cuecast(explained))
        if explained["base64"] != base64:
            yield f"{name}: it is written as {explained['base64']}"
        fields += len(cue["command"]) + sum(map(len, cue["descriptors"]))
    documents = [xml(cue) for cue in cues]
    for index, (cue, document, explained) in enumerate(zip(cues, documents, explain(binary, documents), strict=True)):
        name = f"cue {index}, cuecast to threefive"
        if not explained["readable"]:
            yield f"{name}: {document}: {explained['error']}"
            continue
        yield from differences(f"{name}, {explained['base64']}", cue, quietly(read_by_threefive, explained["base64"]))
    print(f"cues: {count} cues in both directions, {fields} fields each way, seed {seed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--cues", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    wanted = parser.parse_args()
    found = list(compare(wanted.binary, wanted.cues, wanted.seed))
    for each in found[:50]:
        print(each)
    if found:
        sys.exit(f"cues: {len(found)} differences, seed {wanted.seed}")


if __name__ == "__main__":
    main()
