#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Checks a VAST document that a gateway wrote, twice: by a table of what version 4.2 says, and by vastlint, which is not of this project.

    .venv/bin/python Tests/EndToEnd/vast.py FILE

The table has the order and the number of elements and their attributes as the schema of version 4.2 (vast_4.2.xsd) demands them, for what the
gateway writes; what it does not write is no element here. Exits with 1 and one line per fault.
"""
import re, sys
import xml.etree.ElementTree as tree

import vastlint

NAMESPACE = "{http://www.iab.com/VAST}"
MANY = float("inf")
ANY, NUMBER, TIME = ".*", r"\d+", r"\d{2}:[0-5]\d:[0-5]\d(\.\d{3})?"
#: An address (xs:anyURI), or the placeholder of section 3.4.4.
ADDRESS = r"(https?://\S+|about:blank)"
EVENT = "|".join((
    "mute unmute pause resume rewind skip playerExpand playerCollapse loaded start firstQuartile midpoint thirdQuartile complete progress closeLinear"
    " creativeView acceptInvitation adExpand adCollapse minimize close overlayViewDuration otherAdInteraction verificationNotExecuted").split())
#: Of each element with elements in it: the section of the specification, what stands in it in this order and how often, and its attributes:
#: which there must be, and which there may be.
PARENTS = {
    "VAST": ("3.2", [("Ad", 0, MANY)], {"version": r"4\.2"}, {}),
    "Ad": ("3.3", [("InLine", 1, 1)], {}, {"id": ANY, "sequence": NUMBER, "adType": "video|audio|hybrid"}),
    "InLine": ("3.4", [
        ("AdSystem", 1, 1), ("Error", 0, MANY), ("Impression", 1, MANY), ("ViewableImpression", 0, 1), ("AdServingId", 1, 1), ("AdTitle", 1, 1),
        ("AdVerifications", 0, 1), ("Advertiser", 0, 1), ("Creatives", 1, 1), ("Description", 0, 1)], {}, {}),
    "Creatives": ("3.6", [("Creative", 1, MANY)], {}, {}),
    "Creative": ("3.7", [("CompanionAds", 0, 1), ("Linear", 0, 1), ("UniversalAdId", 1, MANY)], {}, {"id": ANY, "sequence": NUMBER}),
    "Linear": ("3.8", [("Icons", 0, 1), ("TrackingEvents", 0, 1), ("Duration", 1, 1), ("MediaFiles", 1, 1), ("VideoClicks", 0, 1)], {}, {"skipoffset": TIME}),
    "MediaFiles": ("3.9", [("ClosedCaptionFiles", 0, 1), ("MediaFile", 1, MANY), ("Mezzanine", 0, MANY)], {}, {}),
    "ClosedCaptionFiles": ("3.9.4", [("ClosedCaptionFile", 1, MANY)], {}, {}),
    "ViewableImpression": ("3.5", [("Viewable", 0, MANY), ("NotViewable", 0, MANY), ("ViewUndetermined", 0, MANY)], {}, {"id": ANY}),
    "AdVerifications": ("3.16", [("Verification", 1, MANY)], {}, {}),
    "Verification": ("3.17", [
        ("ExecutableResource", 0, MANY), ("JavaScriptResource", 0, MANY), ("TrackingEvents", 0, 1), ("VerificationParameters", 0, 1)],
        {}, {"vendor": ANY}),
    "Icons": ("3.11", [("Icon", 1, MANY)], {}, {}),
    "Icon": ("3.11.1", [("StaticResource", 1, MANY), ("IconClicks", 0, 1), ("IconViewTracking", 0, MANY)], {}, {
        "program": ANY, "width": NUMBER, "height": NUMBER, "xPosition": r"\d+|left|right", "yPosition": r"\d+|top|bottom", "duration": TIME,
        "offset": TIME}),
    "IconClicks": ("3.11.1.1", [("IconClickThrough", 0, 1), ("IconClickTracking", 0, MANY)], {}, {}),
    "VideoClicks": ("3.10", [("ClickTracking", 0, MANY), ("CustomClick", 0, MANY), ("ClickThrough", 0, 1)], {}, {}),
    "TrackingEvents": ("3.14.1", [("Tracking", 0, MANY)], {}, {}),
    "CompanionAds": ("3.15", [("Companion", 0, MANY)], {}, {"required": "all|any|none"}),
    "Companion": ("3.15.1", [
        ("StaticResource", 0, MANY), ("AltText", 0, 1), ("CompanionClickThrough", 0, 1), ("CompanionClickTracking", 0, MANY),
        ("TrackingEvents", 0, 1)], {"width": NUMBER, "height": NUMBER}, {"id": ANY}),
}
#: Of each element with text in it: the section, the text, and its attributes as above.
LEAVES = {
    "AdSystem": ("3.4.1", ANY, {}, {"version": ANY}), "AdTitle": ("3.4.2", ANY, {}, {}), "AdServingId": ("3.4.3", ".+", {}, {}),
    "Impression": ("3.4.4", ADDRESS, {}, {"id": ANY}), "Description": ("3.4.6", ANY, {}, {}), "Advertiser": ("3.4.7", ANY, {}, {}),
    "Error": ("3.4.11", ADDRESS, {}, {}), "UniversalAdId": ("3.7.1", ".+", {"idRegistry": ".+"}, {}), "Duration": ("3.8.1", TIME, {}, {}),
    "MediaFile": ("3.9.1", ADDRESS, {"delivery": "streaming|progressive", "type": ".+", "width": NUMBER, "height": NUMBER},
                  {"id": ANY, "codec": ANY, "bitrate": NUMBER, "minBitrate": NUMBER, "maxBitrate": NUMBER}),
    "Mezzanine": ("3.9.2", ADDRESS, {"delivery": "streaming|progressive", "type": ".+", "width": NUMBER, "height": NUMBER},
                  {"id": ANY, "codec": ANY, "bitrate": NUMBER, "minBitrate": NUMBER, "maxBitrate": NUMBER}),
    "ClosedCaptionFile": ("3.9.4", ADDRESS, {}, {"type": ANY, "language": ANY}),
    "Viewable": ("3.5.1", ADDRESS, {}, {}), "NotViewable": ("3.5.2", ADDRESS, {}, {}), "ViewUndetermined": ("3.5.3", ADDRESS, {}, {}),
    "ExecutableResource": ("3.17.2", ADDRESS, {}, {"apiFramework": ANY, "type": ANY}),
    "JavaScriptResource": ("3.17.1", ADDRESS, {}, {"apiFramework": ANY, "browserOptional": "true|false"}),
    "VerificationParameters": ("3.17.4", ANY, {}, {}), "IconViewTracking": ("3.11.3", ADDRESS, {}, {}),
    "IconClickThrough": ("3.11.1.2", ADDRESS, {}, {}), "IconClickTracking": ("3.11.2", ADDRESS, {}, {"id": ANY}),
    "ClickThrough": ("3.10.1", ADDRESS, {}, {"id": ANY}), "ClickTracking": ("3.10.2", ADDRESS, {}, {"id": ANY}),
    "CustomClick": ("3.10.3", ADDRESS, {}, {"id": ANY}), "Tracking": ("3.14.1", ADDRESS, {"event": EVENT}, {"offset": TIME}),
    "StaticResource": ("3.15.1", ADDRESS, {"creativeType": ANY}, {}), "AltText": ("3.15.1", ANY, {}, {}),
    "CompanionClickThrough": ("3.15.1", ADDRESS, {}, {}), "CompanionClickTracking": ("3.15.1", ADDRESS, {"id": ANY}, {}),
}
#: What vastlint warns of, and why it stays as it is.
KNOWN_WARNINGS = {
    # What would end an address is escaped: to whatever reads XML that is the same (XML 1.0 section 2.7).
    "VAST-2.0-url-cdata",
    # A player that lets people pass over any ad can say so.
    "VAST-3.0-skip-event-no-skipoffset",
}


def fits(pattern, text):
    return re.fullmatch(pattern, text, re.S) is not None


def check(element, place):
    """The faults of an element and of all in it."""
    name = element.tag.removeprefix(NAMESPACE)
    if not element.tag.startswith(NAMESPACE) or name not in PARENTS | LEAVES:
        yield f"{place}: {element.tag} is no element that is written"
        return
    place += f"/{name}"
    section, _, needed, possible = (PARENTS | LEAVES)[name]
    for attribute in needed.keys() - element.keys():
        yield f"{place}: the attribute {attribute} is missing ({section})"
    for attribute, value in element.items():
        if attribute not in needed | possible:
            yield f"{place}: there is no attribute {attribute} ({section})"
        elif not fits((needed | possible)[attribute], value):
            yield f"{place}: the attribute {attribute} is '{value}' ({section})"
    text = element.text or ""
    if name in LEAVES:
        if not fits(LEAVES[name][1], text.strip()):
            yield f"{place}: its text is '{text}' ({section})"
        if len(element):
            yield f"{place}: there are elements in it ({section})"
        return
    if text.strip():
        yield f"{place}: there is text in it ({section})"
    expected = PARENTS[name][1]
    order = [each for each, _, _ in expected]
    found = [child.tag.removeprefix(NAMESPACE) for child in element]
    known = [each for each in found if each in order]
    if known != sorted(known, key=order.index):
        yield f"{place}: the order is {', '.join(known)} ({section})"
    for each, least, most in expected:
        if not least <= found.count(each) <= most:
            yield f"{place}: {each} is there {found.count(each)} times ({section})"
    for child in element:
        if child.tag.removeprefix(NAMESPACE) not in order:
            yield f"{place}: {child.tag.removeprefix(NAMESPACE)} does not belong there ({section})"
        yield from check(child, place)


def faults(document):
    yield from check(tree.fromstring(document), "")
    for issue in vastlint.validate(document).issues:
        if issue.severity == "error" or issue.severity == "warning" and issue.id not in KNOWN_WARNINGS:
            yield f"vastlint: {issue.path}: {issue.message} ({issue.spec_ref})"


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        found = list(faults(file.read()))
    print("\n".join(found) or "the document is what VAST 4.2 says")
    sys.exit(1 if found else 0)
