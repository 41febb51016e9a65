# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""The schedule of scripts/demo-broadcast.sh: its files, and the books of its audiences.

    zone FOLDER               prints the time zone of the schedule
    write FOLDER SERVER       writes day.csv and variants.json, with an ad server at HOST:PORT
    move FOLDER               writes day.csv with the first break a few seconds from now, and waits until the follower has moved it
    asked FOLDER              checks how often the ad server was asked for breaks that have not moved
    first FOLDER              prints the id of the first break at the gateway
"""
import csv, datetime, json, os, sys, time

PATIENCE = float(os.environ.get("DEMO_PATIENCE", "120").rstrip("s"))
STREAM = "web"
#: The breaks: an id, how many seconds ahead, and a title.
BREAKS = (("noon", 1_200, "Noon"), ("evening", 2_400, "Evening"))
#: How many seconds ahead the first break is moved. The next one counts where this machine was too slow for one.
LEADS = (15, 30, 60, 120)
#: The titles of each audience's ads.
ADS = {"default": ["Spring sale"], "cars": ["Winter tyres", "Fuel card"], "abroad": ["Northern trains"]}
#: Where the ad server is asked first for an audience.
ADDRESSES = {"default": ("/vast", ""), "cars": ("/vast", "cars"), "abroad": ("/abroad", "")}


def zone():
    """A zone in which it is noon: the day of a schedule must not end while the demo runs."""
    behind = datetime.datetime.now(datetime.timezone.utc).hour - 12
    # Of these names the sign is that of POSIX: positive is west.
    return f"Etc/GMT{behind:+d}"


def lines(path):
    """The whole lines of a file of JSON lines."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def replace(path, text):
    """Writes a file under another name, and renames it, so that no half of it is ever read."""
    with open(path + ".new", "w", encoding="utf-8", newline="") as file:
        file.write(text)
    os.replace(path + ".new", path)


def instant(ahead):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=ahead)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def write(folder, server):
    rows = [f"{instant(ahead)},10,{name},http://{server}/vast?site={STREAM}&cb=[CACHEBUSTING],{title}" for name, ahead, title in BREAKS]
    replace(folder + "/day.csv", "\n".join(["start,duration,id,vast-url,title", *rows]) + "\n")
    variants = [
        {"name": "cars", "if": [{"attribute": "device", "is": "car"}], "query": "audience=cars"},
        {"name": "abroad", "if": [{"attribute": "region", "isNot": ["no", "se"]}], "vastUrl": f"http://{server}/abroad", "list": "travel"},
    ]
    replace(folder + "/variants.json", json.dumps({"variants": variants}))


def moved(folder):
    """How often the follower has moved the first break."""
    return sum(line["change"] == "changed" for line in lines(folder + "/traffic.jsonl"))


def move(folder):
    with open(folder + "/day.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    deadline = time.monotonic() + PATIENCE
    for lead in LEADS:
        said, before = len(lines(folder + "/traffic.jsonl")), moved(folder)
        rows[1][0] = instant(lead)
        replace(folder + "/day.csv", "\n".join(",".join(row) for row in rows) + "\n")
        while moved(folder) == before:
            # The new start was over before the follower saw it.
            if any(line["change"] in ("refused", "past") for line in lines(folder + "/traffic.jsonl")[said:]):
                break
            if time.monotonic() > deadline:
                sys.exit(f"   for {PATIENCE:.0f} s the follower did not move the break")
            time.sleep(0.1)
        else:
            print(f"   the file has {rows[1][4]} at {rows[1][0][11:]} now, and the follower has moved the break")
            return
    sys.exit("   the follower did not move the break: each new start was over before")


def first(folder):
    """The id of the first break at the gateway."""
    return next(line["break"] for line in lines(folder + "/traffic.jsonl") if line.get("title") == BREAKS[0][2])


def asked(folder):
    """How often the ad server was asked for each audience."""
    requests = [(line["path"], line["audience"]) for line in lines(folder + "/requests.jsonl")]
    return {audience: requests.count(address) for audience, address in ADDRESSES.items()}


def check_asked(folder):
    """Once for each break and audience by the dry run, and once by the follower."""
    counts, expected = asked(folder), 2 * len(BREAKS)
    if set(counts.values()) != {expected}:
        sys.exit(f"   the ad server was asked {counts}, and it must be {expected} times for each audience")
    print(f"   the ad server was asked once for each of {len(BREAKS)} breaks and {len(counts)} audiences, and once by the dry run")


def check(it, folder, audiences):
    """Checks the books of each audience against what its players say they did; gives the states of the breaks.

    - Parameters: the check of the demo, its folder, and the number of players of each audience.
    """
    follower = lines(folder + "/traffic.jsonl")
    names = [next(line["break"] for line in follower if line.get("title") == title) for _, _, title in BREAKS]
    filled = {line["break"] for line in follower if line["change"] == "filled"}
    it.must(filled >= set(names), f"the follower has filled {sorted(filled)}, and not all of {names}")
    booked = it.booked(names[0])
    it.must(booked is not None, f"the report has no break {names[0]}")
    rows = {}
    for ad in booked["ads"] if booked else ():
        rows.setdefault(ad.get("variantName"), []).append(ad)
    titles = {audience: [ad["title"] for ad in ads] for audience, ads in rows.items()}
    it.must(titles == ADS, f"the ads of {names[0]} are {titles}, and they must be {ADS}")
    for audience, players in audiences.items():
        for ad in rows.get(audience, ()):
            delivered = ad["counts"]["delivered"]
            it.must(delivered == players, f"{players} players are {audience}, and {delivered} of them got the ad {ad['id']}")
        with open(f"{folder}/players-{audience}.json", encoding="utf-8") as file:
            own = next((each for each in json.load(file)["breaks"] if each["break"] == names[0]), {})
        kinds = ("delivered", "played", "ignored", "failed")
        books = {kind: sum(ad["counts"][kind] for ad in rows.get(audience, ())) for kind in kinds}
        it.must(books == {kind: own.get(kind) for kind in kinds}, f"the books of {audience} are {books}, and its players say {own}")
        it.confirm(f"   {names[0]} for {audience}, {players} players, as they say themselves: "
                   "{delivered} delivered = {played} played + {ignored} ignored + {failed} failed".format(**books))
    counts, most = asked(folder), 2 * len(BREAKS) + moved(folder)
    it.must(max(counts.values()) <= most, f"the ad server was asked {counts}, and it must be {most} times at most")
    it.confirm(f"   the ad server was asked {sum(counts.values())} times in all: no player asks it")
    sources = it.sources(names[0])
    it.must(sources == {"traffic": {"publish", "update"}}, f"by the audit {names[0]} is of {sources}")
    return {(STREAM, names[0]): "complete", **{(STREAM, name): "scheduled" for name in names[1:]}}


def main():
    command, folder, *rest = sys.argv[1:]
    if command == "zone":
        print(zone())
    elif command == "first":
        print(first(folder))
    elif command in ("write", "move", "asked"):
        {"write": write, "move": move, "asked": check_asked}[command](folder, *rest)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
