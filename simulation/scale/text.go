package main

const intro = `# How it grows
<!-- Written by make scale: change simulation/scale instead. -->

Fleets of 3 to 1,000 replicas in virtual time: the production engine, store, merge and fleet code of every one, over a network with 10
to 80 ms of latency that loses one message in a hundred. Each replica dials up to 48 others and has 6 neighbours in gossip, as a node
does; heads are compared every 10 s. Ten replicas (all of a smaller fleet but one) write at one instant; then nothing happens for two
minutes; then an empty replica joins; then two halves of the fleet are apart for two minutes while both write.

`

const curveIntro = `
The time until the last of the writes was on the last replica:

`

const trafficIntro = `
What that costs, for each replica: the burst of writes until it is everywhere, and a minute in which nothing changes.

`

const reading = `
`
