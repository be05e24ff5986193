# SPDX-License-Identifier: BSD-3-Clause
"""The setup of INT-label's prototype, and what its authors measured there.

The paper shows figures 7, 8, 14 and 17 without their numbers. The authors publish routes, numbers and senders with
their code: github.com/graytower/INT_LABEL, INT_label/packet/send/Path and, in commit 59c5ea3, the folder
"Experiment result", whose figures 4, 5, 11 and 12 are those of the paper.
"""

MBIT = 5             # of both senders together
PACKETS = 10_000
SERVERS = [f"h-{pod}-{tor}-{n}" for pod in (1, 2) for tor in (1, 2) for n in (1, 2)]

# T in ms: packets with labels by Base A and by Base B, labels by Base A and by Base B.
PUBLISHED = {
    10: (6505, 6423, 17621, 19887), 20: (5327, 4772, 11947, 14411), 30: (4636, 3908, 9743, 11690),
    40: (3967, 3137, 7599, 9199), 50: (3602, 2714, 6471, 7993), 60: (3141, 2325, 5527, 6806),
    70: (2928, 2066, 4935, 6027), 80: (2700, 1877, 4409, 5446), 90: (2478, 1668, 3944, 4828),
    100: (2344, 1520, 3597, 4412)}
# Packets with 1 to 5 labels.
PUBLISHED_LABELS = {"a": (1842, 737, 513, 221, 75), "b": (730, 392, 485, 435, 614)}
# HULA's loss by the interval in ms.
PUBLISHED_LOSS = {10: 0.1142, 20: 0.1066, 30: 0.0975, 40: 0.0906, 50: 0.0813, 60: 0.0628, 70: 0.0605, 80: 0.0583,
                  90: 0.0570, 100: 0.0503}


def own_ms():
    """The senders of HULA's probes are scripts that send a probe and sleep for the interval. The time of the script itself,
    in ms, with which c / (interval + time) is nearest to the published losses."""
    def error(own):
        weights = {ms: 1 / (ms + own) for ms in PUBLISHED_LOSS}
        c = sum(loss * weights[ms] for ms, loss in PUBLISHED_LOSS.items()) / sum(w * w for w in weights.values())
        return sum((c * weights[ms] - loss) ** 2 for ms, loss in PUBLISHED_LOSS.items())

    return min(range(1, 500), key=error)


def routes():
    """The way of each of the senders' packets, where there are several shortest ways."""
    made = []

    def route(node, via, *hosts):
        made.extend({"node": node, "to": host, "via": via} for host in hosts)

    route("tor-1-1", "leaf-1-1", "h-1-2-1", "h-2-1-1", "h-2-1-2")
    route("tor-1-1", "leaf-1-2", "h-1-2-2", "h-2-2-1", "h-2-2-2")
    route("leaf-1-1", "spine-1", "h-2-1-1", "h-2-1-2")
    route("leaf-1-2", "spine-3", "h-2-2-1")
    route("leaf-1-2", "spine-4", "h-2-2-2")
    route("tor-2-2", "leaf-2-2", *SERVERS[:4])
    route("tor-2-2", "leaf-2-1", "h-2-1-1", "h-2-1-2")
    route("leaf-2-2", "spine-4", *SERVERS[:4])
    return made


def scenario(base):
    """The scenario `base` with the prototype's routes and rate."""
    rate_pps = MBIT * 1e6 / 8 / 1000
    traffic = [dict(entry, rate_pps=rate_pps / len(base["traffic"])) for entry in base["traffic"]]
    return dict(base, traffic=traffic, routes=routes(), duration_s=PACKETS / rate_pps)
