# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""All attacks, and the process that runs one: `hostile.py` starts it with the attack's name and its context as JSON."""
import json, os, signal, sys, time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import attacks, websocket_attacks
from swarm import raise_descriptor_limit

ATTACKS = [*attacks.ATTACKS, *websocket_attacks.ATTACKS]


def main():
    context = json.loads(sys.argv[2])
    raise_descriptor_limit()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    attacks.load_wire()
    attack = next(each for each in ATTACKS if each.name == sys.argv[1])(context)
    began, fault = time.monotonic(), None
    try:
        attack.run()
    except (OSError, RuntimeError) as error:
        fault = str(error) or type(error).__name__
    seconds = time.monotonic() - began
    attack.swarm.close_all()
    print(json.dumps({**attack.report(), "seconds": round(seconds, 1), **({"fault": fault} if fault else {})}), flush=True)


if __name__ == "__main__":
    main()
