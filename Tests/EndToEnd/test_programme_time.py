# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""A signalled break whose start is past by the wall clock: who is behind live hears all of it at its place, who is live what is left."""
import datetime, json, tempfile, unittest

from harness import Gateway

#: The start is so many seconds past when the signal comes.
PAST = 12
#: The seconds of the ads: the first four are over by then, at live.
ADS = {"a1": 3, "a2": 3, "a3": 3, "a4": 3, "a5": 4, "a6": 4}
OVER = ("a1", "a2", "a3", "a4")
ATTEMPTS = 4


class ProgrammeTime(unittest.TestCase):
    def test_a_player_behind_live_plays_all_ads_and_a_live_one_those_that_are_left(self):
        gateway = Gateway("--set", "breaks.cues=* list=spots")
        self.addCleanup(gateway.close)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"ads": [{"id": name, "duration": seconds, "media": [
                {"url": f"https://cdn.example.com/{name}.mp3", "type": "audio/mpeg"}]} for name, seconds in ADS.items()]}, file)
            file.flush()
            gateway.run("lists", "put", "spots", "--ads", file.name)
        # Once more where the machine was too slow for the pace of either player; what must never be is checked each time.
        for attempt in range(ATTEMPTS):
            if self.plays_both(gateway, f"radio{attempt}"):
                return
        self.fail("a player was too late, each time")

    def plays_both(self, gateway, stream):
        """Whether the one behind live played all of the break, and the live one the rest of it."""
        players = {"behind": gateway.listen(stream, "--delay", "30s", "--breaks", "1"), "live": gateway.listen(stream, "--breaks", "1")}
        for player in players.values():
            self.addCleanup(player.kill)
            player.wait_for("joined")
        start = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=PAST)).isoformat(timespec="milliseconds")
        made = json.loads(gateway.run(
            "signal", "out", "--stream", stream, "--source", "encoder", "--event", "1", "--programme-time",
            "--at", start, "--duration", f"{sum(ADS.values())}s", "--format", "json"))
        # It is not moved to now.
        self.assertEqual(datetime.datetime.fromisoformat(made["start"].replace("Z", "+00:00")), datetime.datetime.fromisoformat(start))
        for player in players.values():
            self.assertEqual(player.finish(), 0, player.events)
        played = {name: [event["ad"]["id"] for event in player.events if event["event"] == "playing"] for name, player in players.items()}
        self.assertFalse(set(played["live"]) & set(OVER), played)
        counts = gateway.report(stream, made["break"])
        for name in ADS:
            listeners = [each for each in played.values() if name in each]
            self.assertEqual(counts.get(name, {"played": 0})["played"], len(listeners), (name, counts, played))
        return played == {"behind": list(ADS), "live": [name for name in ADS if name not in OVER]}


if __name__ == "__main__":
    unittest.main()
