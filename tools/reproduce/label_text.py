# SPDX-License-Identifier: BSD-3-Clause
"""The page of paper 001 (docs/results/001.md), with places for its numbers and tables (label_page.py)."""

TEXT = """# INT-label (paper 001)

`./reproduce.sh 001` makes this page. Nodes of Hopsight run the real data path in the lab, over real IPv4 packets and in
virtual time. The network is that of section 6.1: 4 spine, 4 leaf and 4 ToR switches, 8 servers, of which two send to all
others in packets of 1 kB, 5 Mbit/s each, 10,000 packets in all. Packets come at random times (Poisson). A run is repeated
with five seeds; ± is the half of the 95 % confidence interval of the mean. Theory and counts have none.

As in the paper, a packet has at most five labels. Each seed draws routes of its own among the shortest: in the paper, 24 ports have
traffic, here 24, 23, 25, 22 and 24 with the seeds 1 to 5. Three differences remain: the prototype's senders have
5 Mbit/s together (see [below](#figures-7-8-10-and-17-with-the-prototypes-routes)); bmv2, Scapy and Redis add delays of their own, which
the lab has not; and bandwidth is bytes of INT-label over bytes of packets on links between switches, where the item of a port to a
server is not.

The paper shows its figures without their numbers. The authors publish those of most figures with their code
([`label_prototype.py`](../../tools/reproduce/label_prototype.py) says where). They stand in brackets, as *the authors'*.

## Section 4.1: no gap above T + Ts

The runs of all figures, those of figure 14 with its full queues among them, have {labels} labels. Of these, and of those of sections
4.2 and 4.3, {late} came later than T + Ts behind the label before at their port. The times are those at which packets come to the
node. A queue's delay needs no other bound: a port labels no packet that its queue refuses, so that the next one is still due.

## Section 4.2: delay

A link delays packets by a normal time with a standard deviation of {sigma} ms; T = {t} ms, packets come each ms. Of {updates}
updates of the port at the controller, 99 % follow the one before within T_i = {ti:.3f} ms. The paper's 1 − Φ((T + T_p − T_i) /
(√2 σ)) is {said:.2f} % for this T_i; the sampling error of the lab's 99 % is ± {error:.2f} %.

## Section 4.3: labels of a packet

A chain of six nodes, {own} packets from end to end beside {cross} packets of single links, Ts/T = 1/100, f(i) = i/5.
*Expected* is the recurrence of section 4.3 with g(x) = (1 − x) Ts/T. The chi-squared test is of packets with two labels or
more. Each of the four tests of this section must hold at 5 %.

{chain}
In a fat tree with k = 20, hosts and switches send {tree_all} packets in {tree_seeds} runs through 500 switches. Each of the
{tree_ports} ports has 1,000 packets/s, so that Ts/T = 1/100. Of these packets, hosts send {tree_own} to hosts at random
([`label_tree.py`](../../tools/reproduce/label_tree.py)): the table is of these. *Expected* is the paper's distribution for k = 20;
the test is of all classes, those with fewer than five expected packets together. The seeds and the level were chosen before the
first of these runs. With the seeds 1 to 3, which an earlier page had, Base B's χ² was 12.85, above the 11.07 of this level. A run
of {tree_s:.1f} s of virtual time takes about {tree_cpu} s of a processor. `./test.sh lab` does the same with k = 4.

{tree}
## Section 4 beside the figures

Each figure below has what section 4 says of it, or a sentence that it says nothing. These columns follow from a run's parameters alone
([`label_expected.py`](../../tools/reproduce/label_expected.py)): from the routes, which are drawn again by the rule of the lab, from
rates, T, the jitter of links and the telemetry interval. Packets come to a port at random times, so that the first packet after T comes
T_p = 1 / rate later on average.

- *By 4.1*: a port labels once in T + T_p. Its labels are the run's length over T + T_p. A telemetry interval is covered if one of these
  gaps ends in it. Of the coverage of Base B and of Pro, section 4 says nothing.
- *By 4.2*: P_t, as the mean over the distribution of T_p and over the ports. It is the chance that an update follows the one before
  within T_i. A telemetry interval does not begin at an update, so that most of the updates that come later than this cover one, too.
  So P_t is a lower bound of the coverage. Near T_i = T, it is far below.
- *By 4.3*: the recurrence over the ports of a packet's path, each with T_p / (T + T_p) in place of Ts/T, which is the same where Ts is
  much shorter than T. From it follow labels, labelled packets and, by 2 bytes of a labelled packet and 32 of a label on each link, the
  bandwidth.

*Difference* is the run less the theory: of coverage in points, of all others in % of the theory.

Labels of Base A differ by {range_labels_a} in figures 7 and 8, and their bandwidth by {range_bandwidth_a}. Labelled packets differ by
{range_labelled_packets_a}: 4.3 takes the ports of a path to be independent. Here, ports that follow each other have the same packets, come due
together, and label the same packet. So fewer packets have more labels each, in the paper's own numbers, too. For Base B with F1, 4.3
has too many labels (the runs differ by {range_labels_b}): there, a packet without items is due by Ts/T at each port. But each label
that F1 gives by chance puts off the port's next label by time, so that fewer packets get a first item. In the trees above, ports have
packets of many paths, and f(i) is i/5: there 4.3 holds.

## Figure 6: traffic

T = 50 ms. Paper: coverage rises with the rate up to a turning point, bandwidth falls, both are higher for Base B.
Here the mean bandwidth of Base B is higher at each rate. Its coverage is higher with 0.5 Mbit/s; from 1 Mbit/s on, the intervals
of both overlap.

{six}
{six_4}
![coverage and bandwidth by rate](001-figure-6.svg)

## Figures 7, 8 and 10: the labelling interval

Paper: at T = 100 ms, Base B labels 35.2 % fewer packets than Base A, with a small number of additional labels. Here Base B
labels {fewer} % fewer packets and has {more} % more labels; with a rest time of {rest_chosen} T, at least {rest_least:.1f} % fewer packets and at
most {rest_most:.1f} % more labels with each seed ([below](#figures-7-8-10-and-17-with-the-prototypes-routes)). Figure 10, paper: coverage
rises and bandwidth, too, as T becomes shorter; 60 ms is the turning point. Here coverage falls above T = 60 ms.

{seven}
{labels_drawn_4}
![labelled packets and labels by interval](001-figure-7.svg)

{ten}
{ten_drawn_4}
## Figures 7, 8, 10 and 17 with the prototype's routes

The authors publish the route of each packet, too. Here the servers' packets take these routes, through 25 ports, and both servers send
5 Mbit/s together, which gives the authors' numbers of labels: with 5 Mbit/s each, 10,000 packets take half the time. In brackets: the
authors' numbers. The scenario `label-prototype` is one of these runs.

{eight}
{labels_prototype_4}
![labelled packets and labels by interval, with the authors'](001-figure-7-prototype.svg)

With T = 100 ms, Base B labels {p_fewer} % fewer packets (35.2 %) and has {p_more} % more labels (22.7 %). So the additional labels of
figure 8 are more than a few per cent in the paper, too. They come from ports where routes meet or part: F1 labels each packet that has
an item, also where the port labelled another packet less than T ago. How many there are depends on the routes: those drawn above have
{more} %.

Figure 10 with these routes. The paper states 99.72 % for T = 50 ms, which is the authors' number of Base B; their Base A has 99.20
%. Here Base A has {p_cover_a:.2f} % and Base B {p_cover_b:.2f} %: less than the 99.9 % of the routes drawn above, where each server
sends 5 Mbit/s, and by Base B less than the authors'. The authors draw 32 bytes of each label over the time: in this way, T = 50 ms
takes {by_labels_a:.2f} % of the traffic by Base A (2.07 %) and {by_labels_b:.2f} % by Base B (2.56 %).

{ten_prototype}
{ten_prototype_4}
![coverage and bandwidth by interval](001-figure-10.svg)

Figure 17, packets of 10,000 with T = 50 ms. As [below](#figure-17-labels-of-a-packet), 4.3 and the runs have equally many packets of
Base B with five labels:

{eight_labels}
The rest time T1 takes most of the additional labels away. The table is of T = 100 ms and routes that seeds draw, each seed against
Base A with the same seed, 20 seeds. *Least fewer* and *most more* are the worst of the page's five seeds. *Both hold*: at least
35.2 % fewer labelled packets and at most {rest_more} % more labels, with how many of the five, and of the 15 others.

With F1 and T1 = {rest_chosen} T, both hold with each of the five seeds: at least {rest_least:.1f} % fewer labelled packets, and at most
{rest_most:.1f} % more labels. The scenario `label-base-b-rest` has this T1. The 15 other seeds had no part in the choice: with them, both
hold with {rest_others}, and Base B has at least {rest_others_least:.1f} % fewer labelled packets and at most {rest_others_most:.1f} % more labels. So it depends on the
routes, too, how many packets Base B saves. With T1 = 0.1 T, both hold with the five seeds as well, but one has 9.98 % more
labels. By F2 and F3, no T1 has 35.2 %: not even 0, where Base B labels the fewest packets.

{eight_rest}
## Figure 9: telemetry interval over labelling interval

Paper: above 0.98 at 1.6, 99.72 % at 2.

{nine}
{nine_4}
![coverage by telemetry interval over T](001-figure-9.svg)

## Figure 11: coverage over time

Paper: with T = 20 ms, coverage is always 100 %; a longer T has more jitter. The table is of Base A; *whole* intervals have a
coverage of 100 %. With the routes drawn above, each interval of each run is whole at T = 20 ms. With the prototype's routes and
rate, {p_not_whole} % of the intervals are not, because some ports have few packets. Of the authors' 100 intervals with T = 20 ms,
2 are not whole. The figure shows 35 of them, which are.

{eleven}
![coverage over time](001-figure-11.svg)

## Figure 12: Pro near the telemetry interval

Paper: Pro stays at about 99 %. Pro's k × T is {patience:.0f} ms in all runs, here and in figure 13, so that k is between 0.17 and
0.4. A controller can be set to this k; its default is 2. The scenario `label-pro` (T = 100 ms) has k = 0.3, and `label-pro-loss` (60 % of loss, T = 50
ms) k = 0.4. With k = 1 in place of it, T = 100 ms has a coverage of {k1_near} %, and with k = 2 {k2_near} %
([below](#figure-13-loss) for T = 50 ms). Pro is above Base A and Base B at each point of both figures, with one exception: without loss
and with T = 50 ms, Base A and Pro cover each interval of each run, and nothing is above 100 %.

{twelve}
Section 4 says nothing of Pro. Of Base A:

{twelve_4}
![coverage with and without Pro](001-figure-12.svg)

## Figure 13: loss

Paper: 92 % with Pro where 60 % of the packets are lost. Here this share of the datagrams to the controller is lost, and of
its changes of S. The authors lose packets in queues, so that their losses are other ones.
Base A, Base B and Pro have {lost_41} with 41 %, and {lost_61} with 61 %.
Section 4 says nothing of lost packets.

{thirteen}
The picture is the right half of [that of figure 12](001-figure-12.svg).

The paper does not state k. The published prototype waits for 100 ms (`TIME_OUT` of `receive.py`) with T = 50 ms: two times T. But it has a
flag in place of S: a port that was not heard labels *every* packet for a second (`detect1.py`). So its 92 % are not those of Algorithm
3 with k = 2. Ours is Algorithm 3, where S rises by one in k × T. With T = 50 ms:

{by_k}
With k of 0.8 or less, coverage is at least 92 % where 60 % are lost. But without loss, k = 0.8 has {k08_labels:.0f} % more labels than Base B. The
controller's default is k = 2, which has {k2_labels:.1f} % more, so that Pro costs nothing where nothing is lost. Who expects loss
[sets k](../label.md#where-items-are-lost).

## Figure 14: loss by probes

Paper: with a limit of rate and queue that the traffic alone just keeps, HULA's probes cost 12 % of the packets where the interval
is 10 ms, and 5 % where it is 100 ms; INT-label costs none. The paper states neither limit. Our choice: the routes and the rate of
the prototype; each port serves what the busiest port needs for the servers' packets alone, and 1 % more; {queue} packets may wait,
as in the prototype's HULA; servers send evenly. HULA's probes are those of figures 20 and 21: they go where its rules say, and each
has the item of each port that it left by. A probe that a queue drops goes no further. Each server starts rounds, as in the
prototype ([`label_probes.py`](../../tools/reproduce/label_probes.py)). Without probes and labels, no packet is lost. Section 4 says
nothing of queues and losses.

The limit of the prototype's switch is in packets per second. Labels add no packets, so that their zero is given with such a limit.
The prototype's senders of probes are scripts that sleep for the interval after each probe. A time of {own_ms} ms of the script itself
beside the interval fits the authors' ten losses best, so that ten times the interval is 2.3 times the period. *Fitted* rounds take the
interval and {own_ms} ms, the other rounds the interval alone. Loss, %:

{fourteen}
With a limit of bits per second, the bytes of labels count: INT-label's loss is a result. With 1 % more than the traffic needs, the
labels of a short T take more than there is, and INT-label loses packets, too, but fewer than HULA at each interval. With 5 % more,
INT-label loses none, and HULA does. The seed moves only the times at which rounds begin: INT-label's runs are the same with each.
Loss, %:

{fourteen_bytes}
![loss by interval](001-figure-14.svg)

## Figures 15 and 16: theory

Mean labels of a packet of a fat tree, by section 4.3. Paper: the mean rises with the size of the tree, because paths become longer
(figure 15), and with Ts/T (figure 16); Base B has always more than Base A. So it is here. T/Ts = 100 in figure 15, k = 20 in figure
16. *The lab* is runs as in [section 4.3](#section-43-labels-of-a-packet), whose own runs are those with k = 20 and T/Ts = 100. The others
have fewer packets, so that their intervals are wider than what the mean gains from one k to the next. Of the {means_runs} others, {means_inside}
have the theory in their 95 % interval, and the χ² test of the distribution holds at 5 % in {means_tests}.

{fifteen}
{sixteen}
![mean labels of a packet](001-figure-15.svg)

## Figure 17: labels of a packet

T = 50 ms, packets of 10,000. Paper: Base A falls with the labels; Base B has a second mode at 5, the length of the path between
pods, second only to 1. By 4.3, a packet of Base B with F1 has five labels if the first of five ports labels it, which it does by the
interval alone: of this, theory and runs say the same. Packets with one label that 4.3 has too many of were labelled by several ports
at once ([above](#section-4-beside-the-figures)).

{seventeen}
![labels of a packet](001-figure-17.svg)

## Figure 18: the rest time

Paper: labels fall and labelled packets rise as T1 approaches T, and the two lines cross at T1 = T/2. Each line has an axis of its
own in the paper, whose ends the text does not state. Here the axes go from the least to the greatest value of each line, T1 goes in
steps of T / 10, and there are 20 seeds. With the routes drawn above, the lines cross at T1 = ({cross_drawn}) T, those of single seeds at
{seeds_drawn} T. With the prototype's routes and rate, they cross at ({cross_prototype}) T, those of single seeds at {seeds_prototype} T. So
T / 2 is near the point, and in neither interval. By the five seeds of the table alone, it would be in that of the routes drawn: there
the interval is ({cross_five}) T.

Section 4 has no rest time: T1 = 0 is Base B, T1 = T is Base A.

{eighteen}
![labelled packets and labels by rest time](001-figure-18.svg)

## Figure 19: the probability function

Paper: F1 before F2 before F3, by exported packets. Section 4.3 has the chance by the items alone, so that it says nothing of F3. By it,
F1 and F2 label equally many packets, those that are due by the interval, and F1 has the more labels. The runs have fewer packets with F1:
its labels put off those by the interval.

{nineteen}
![labelled packets and labels by function](001-figure-19.svg)

## Figures 20 and 21: what competitors need

Each competitor has one model ([`label_rivals.py`](../../tools/reproduce/label_rivals.py)), which figure 14 uses as well. Figure 20 is
an exact count. Figure 21 is the bytes on all links of one round, as the lab's links carried them
([`label_rival_runs.py`](../../tools/reproduce/label_rival_runs.py)): probes of INT-path and HULA from switch to switch, pings and their
replies between servers, and INT-label on packets between random servers of different pods. HULA's run is the round of one ToR, times
the ToRs, which are all alike. The counts of the model say the same, to the byte, of INT-path, HULA and Pingmesh. INT-label's run differs
by {label_counted} from its count, in which each item has an option of its own. Section 4 says nothing of generators and of
competitors. Section 4.1 is behind INT-label's bytes: each port labels once in T + Ts.

- INT-label labels one packet at each port to a switch. With T at half of the telemetry interval, it takes twice these bytes.
- INT-path crosses each link once, with items as long as those of INT-label. The paths are those of the planner by Euler's method
  (`hopsight-lab plan`), each in as few parts of at most {hops} links as it needs: with IPv4 and UDP, {hops} items fill an MTU of 1,500 bytes.
  A generator stands where a part begins or ends. The paper's text has no MTU: a generator at each odd vertex, or one without
  odd vertices. The ToR switches are odd vertices if k / 2 is odd. The authors' sheet counts the hosts as odd vertices.
- HULA's probe has the item of each port that it left by, as in the authors' code.
- Pingmesh: each server pings one server at each ToR.

Paper, figure 20: INT-label needs no generator, Pingmesh the most, INT-path and HULA fewer than Pingmesh. Figure 21: INT-path takes
about 35 % more than INT-label; Pingmesh is better in small trees and worse in greater ones; HULA takes always the most. Here INT-path
takes at least {path_least:.2f} times the bytes of INT-label, and half of this where INT-label labels twice. HULA takes more than
Pingmesh, Pingmesh more than INT-path, and INT-path more than INT-label at each k. That Pingmesh is better in small trees is not seen
here: our pings and their replies cross each link of their way, and the authors count the 64 bytes of a ping once.

{twenty}
{twentyone}
*As the authors count*: their sheet has 160.5 bytes of INT-label and 216.5 of INT-path for each host, which is their 35 %: 34.9 %
more, or INT-label 25.9 % less.
Pingmesh's bytes stand there as bits: with an eighth of the bytes below, Pingmesh takes the least of all up to k = 14, and more than
INT-path at k = 20, which is what the paper says of it. By bytes, the order is the one above at each k.

{twentyone_authors}
![generators and bytes of a round](001-figure-20.svg)

## Figure 22: one path

Packets and bits until a path is known. Paper: INT-label and INT take one packet; INT takes more bits, for the headers of its probe;
PINT takes the more packets and bits, the more hops the path has; INT-label takes the fewest packets and bits. Section 4 says nothing of
specific flows: INT-label's numbers follow from section 3.3 and the format of section 2.

INT-label and *INT*, the paper's sampling INT, are runs of the lab. The first node of a chain samples one packet of ten, and each node adds
its item to this one. The bits are those on the last link: of INT-label, 16 bits and 256 of each hop. Our INT is version 2.1: 16 bytes
behind UDP, and of each hop 32 bytes which say what an item of INT-label says (node, ports, latency, queue and two times). As the paper
counts it, INT's packet is a probe, whose headers take bits in addition: the column *INT's probe* has this count, with the items of
INT-label. PINT is a simulation of its coding, which needs no network.

The paper runs the code of PINT, where "the maximum number of bits that can be carried by a single packet in PINT was set to 16".
PINT here is the coding of that code: half of the packets carry the value of one hop, by reservoir sampling; the others carry the
XOR of the hops that take part, each by a chance of 1/10; the receiver takes what is known out of each XOR. *32 bytes* is what an
item of INT-label says, in 16 pieces of 16 bits, of which the packet's hash chooses one. *2 bytes* is an id of each hop, as in
PINT's path tracing. ± is of {pint_trials} simulations.

With 32 bytes a hop, the paper's order holds at each length, by the runs and by the count. With ids alone, PINT takes more packets than
INT-label and fewer bits than the items of 32 bytes, which say more than an id.

{twentytwo}
![packets and bits of a path](001-figure-22.svg)
"""
