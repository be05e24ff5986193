# SPDX-License-Identifier: BSD-3-Clause
"""The words of docs/results/002.md; paper_002.py fills in the numbers."""

TEXT = """# GPINT with SQR (paper 002)

`./reproduce.sh 002` makes this page. Nodes of Hopsight run the real data path in the lab, in virtual time: source-routed probes,
feedback, held copies and recovery packets beside {flows} flows of IPv4 packets between random pairs of {hosts} hosts (Poisson). Networks
are small worlds (Watts and Strogatz, k = 4, β = 0.1) with the hosts spread over them; the paper has more sizes up to 100 switches. A
run is repeated with {seeds} seeds, which also draw the network and the pairs; ± is the half of the 95 % confidence interval of the
mean. As in the paper, a run has {sessions_of_run} sessions. It ends with the last of them, so that long sessions count as often as short ones.
Sessions begin {period:g} ms apart, or multiples of that: with a round number, all probes of a run would come to a busy switch at the
same moment between two packets that it serves, and be lost always or never.

All switches serve the same number of packets in a second, each with one queue of 1,000 packets for all of its ports (bmv2). This
number is such that the busiest switch is at {target:g} % with 10,000 packets/s: the paper's switches are at 85 to 92 %, and this is the
middle. With 14,000, some are above 100 %, and sessions begin after 6 s, when the queues of the busiest are full:

{load}
The monitoring host has a link of 1 ms to each switch, which loses nothing (the paper excludes its links from what loses), and at
most 12 probes under way. A probe takes its turn in the queue of each switch on its path; a poller's requests take it at one switch
each, which is what the paper says of SNMP. Without recovery, a probe is lost that is not back after {wait} s ({euler_wait} s with Euler); the last
probe of a session came after at most {last:.1f} s ({euler_last:.1f} s). t_f is 1.5 s and r_a is 10 unless the name says FT (0.4 s and 2) or
*adaptive*. Seconds are those from the first probe until the last switch's values came, as in the paper. The paper's numbers are those of
its text, because its figures have no tables, and it states neither rate nor delay: seconds can be compared with each other only.

With recovery, {sessions} sessions ran and {failed} failed. The values that probes brought differed from the frames that had come to
the ports in {wrong_values} hops. {false} links or switches that were up were named unavailable, {false_low} of them at low load and
{false_adaptive} by the adaptive host.

{unmet}
Why GPINT-2 and GPINT-3 lose more with 20 switches: each switch is on the path of one probe, and no plan can better this (no plan of
GPINT visits a switch twice here). So as many probes of a session get lost as the switches above 100 % take, whatever the number
of probes is. The poller measures it, because each of its packets passes one switch:

{a_session}
5 % of four probes are 0.20 lost probes of a session, and of six 0.30. But the busiest switch alone, at {high:.0f} %, drops {drops:.0f} % of what comes to
it, which is {share:.1f} % of four probes. So 5 % leaves GPINT-2 room for one switch above 100 %, and the table above has more. Runs of
{long} sessions lose {long_lost}: the excess of GPINT-2 is not chance, that of GPINT-3 may be. The
share by which the busiest switch is used decides. GPINT-2 with 20 switches:

{busy}
## Figure 8: loss of packets

Paper: nearly 0 % at 10,000 packets/s; losses at 14,000; recovery adds 1 to 2 points. GPINT-3, %:

{eight}
![packets that were lost](002-figure-8.svg)

## Figure 9: probes that were lost, without recovery

Paper: at most 2 % at low load; at high load up to 15 % for Euler and at most 5 % for GPINT. In %, low load:

{nine_low}
High load:

{nine_high}
![probes that were lost without recovery](002-figure-9.svg)

## Figures 10 and 11: sessions without recovery

Paper: at low load, GPINT is the fastest, and Euler fails in up to 10 % of the sessions. At high load, GPINT fails in less than 40 %
(figure 12 names 45 % for the same point).
Seconds until the last probe was back, low load:

{ten_elapsed}
Failed sessions at low load, %:

{ten_failed}
![low load without recovery](002-figure-10.svg)

Seconds at high load:

{eleven_elapsed}
Failed sessions at high load, %:

{eleven_failed}
![high load without recovery](002-figure-11.svg)

## Figure 12: links that lose, without recovery

100 switches, high load. Paper: at 5 %, failed sessions rise from 45 to 80 % and lost probes from 2.5 to 20 %. The traffic loses
little more at 5 and 10 %, and up to 55 % at 20 %.

{twelve}
![links that lose, without recovery](002-figure-12.svg)

## Figure 13: low load with recovery

Paper: at most 0.15 s more than without recovery; Euler up to 1.6 s. GPINT-3-FT is in figure 14 only. Seconds:

{thirteen}
Recovery probes, % of the probes of the plan; paper: as many as were lost in figure 9, Euler 5 to 6 %:

{thirteen_probes}
![low load with recovery](002-figure-13.svg)

## Figure 14: high load with recovery

Paper: GPINT takes 0.1 s more than SNMP, GPINT-3-FT less than SNMP; Euler up to 10 s. The paper tunes GPINT only: *poller-FT*, which
has the same t_f and r_a, is ours, and so is *adaptive*, which has at most this t_f and at least this r_a, by what it measures.
Seconds:

{fourteen}
Ten sessions of a run leave wide intervals. With {long} sessions of each run, GPINT-2, which has the longest paths, and the poller take
these seconds; the difference is that of runs with the same seed:

{fourteen_long}
Our recovery also finds out whether links that look dead are, by short probes over them. With the wait for these, seconds
of a session, in which GPINT is up to {behind:.2f} s behind the poller ({far} s in the long runs of GPINT-2):

{fourteen_whole}
The longest session of Euler took {longest:.1f} s. Recovery probes, % of the probes of the plan:

{fourteen_probes}
![high load with recovery](002-figure-14.svg)

## Figure 15: links that lose, with recovery

100 switches, high load, 30 paths. Paper: some 30 probes in all at 5 % and 42 at 20 %, of which 25 are those of the plan: 5 and 17
recovery probes, 20 and 68 % of the plan's. *Again* is the number of recovery probes of a session, *checks* that of short probes
over one suspect link, which the paper does not have, *all* has these and the plan's.

{fifteen}
![seconds and recovery probes by loss](002-figure-15.svg)
"""
