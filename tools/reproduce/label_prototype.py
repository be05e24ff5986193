# SPDX-License-Identifier: BSD-3-Clause
"""The setup of INT-label's prototype, and what its authors measured there.

The paper shows its figures without their numbers. The authors publish routes, numbers and senders with their code:
github.com/graytower/INT_LABEL, INT_label/packet/send/Path and, in commit 59c5ea3, the folder "Experiment result". Its
figures 4 to 12 are 7, 8, 9, 10, 11, 12, 13, 14 and 17 of the paper; of figures 20 and 21 it has k = 10, 20 and 30.
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
# Coverage by Base A and by Base B: of figure 10 by T in ms, of figure 9 by telemetry interval / T; and with Pro, of figure 12
# by T in ms and of figure 13 by the loss.
PUBLISHED_COVERAGE = {
    10: (0.9996, 0.9992), 20: (0.9976, 0.9976), 30: (0.9972, 0.9992), 40: (0.9940, 0.9976), 50: (0.9920, 0.9972),
    60: (0.9916, 0.9928), 70: (0.9836, 0.9856), 80: (0.9708, 0.9776), 90: (0.9388, 0.9640), 100: (0.8852, 0.9048)}
PUBLISHED_RATIO = {1.0: (0.8064, 0.8448), 1.2: (0.9124, 0.9152), 1.4: (0.9626, 0.9656), 1.6: (0.9852, 0.9860),
                   1.8: (0.9902, 0.9924), 2.0: (0.9942, 0.9952)}
PUBLISHED_NEAR = {80: (0.9738, 0.9792, 0.9962), 90: (0.9387, 0.9595, 0.9902), 100: (0.8794, 0.9064, 0.9897)}
PUBLISHED_LOST = {0: (0.9936, 0.9964, 0.9992), 0.41: (0.9528, 0.9596, 0.9860), 0.61: (0.8584, 0.8752, 0.9196)}
# Of the 100 intervals behind figure 11, of which the figure shows 35, by T in ms: the least coverage and its mean.
PUBLISHED_COURSE = {20: (0.92, 0.9984), 50: (0.88, 0.9940), 80: (0.72, 0.9712)}
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
