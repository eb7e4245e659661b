package main

const intro = `# How it grows
<!-- Written by make scale: change simulation/scale instead. -->

Fleets of 3 to 1,000 replicas in virtual time: the production engine, store, merge and fleet code of every one, over a network with 10
to 80 ms of latency that loses one message in a hundred. Each replica dials up to 48 others and has 6 neighbours in gossip, as a node
does; heads are compared every 10 s. Ten replicas (all of a smaller fleet but one) write at one instant; then nothing happens for two
minutes; then an empty replica joins; then two halves of the fleet are apart for two minutes while both write. One seed, so read the
order of magnitude and not the second digit.

`

const curveIntro = `
The time until the last of the writes was on the last replica:

`

const trafficIntro = `
What that costs, for each replica: the burst of writes until it is everywhere, and a minute in which nothing changes.

`

const reading = `
What to see:

- With gossip the time grows with the hops of the mesh, so with the logarithm of the fleet. The hops that lose a message are bridged by
  other neighbours, at the price that each replica gets each write several times.
- Without gossip a write travels by the comparison of heads: each replica compares with 4 partners each interval, so what spreads is
  multiplied each time, and the time is again logarithmic, in intervals of 10 s. This is the way that everything takes which gossip loses.
- A newcomer, and two halves that meet again, need about the same in every fleet: it is enough to meet one member that has everything. What
  lies between a second and two intervals is when the next comparison falls.
- At rest the cost of a replica does not depend on the size of the fleet, beyond the smallest, where there are fewer than 4 partners.
- The limit is the number of connections: a node dials at most 48 members, so beyond some 49 nobody sees all others, and status counts by
  what it sees.
`
