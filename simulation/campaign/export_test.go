package campaign

// LeastSeeds is leastSeeds for tests.
var LeastSeeds = leastSeeds
