/* SPDX-License-Identifier: MIT */
/*
 * Chips that share their memory, each with an L2 of its own (COMPONENT_NODES).
 *
 * A miss of an L2 is served by the L2 of another node if that has written the
 * line, else by the memory of the page's home node. A store or atomic that
 * reaches its L2 takes the line out of all others, and out of the L1Ds in front
 * of those that had it; a load from an L2 that has written the line leaves it
 * there, which stays the one that writes it back. With more than two nodes all
 * that passes between them goes through the hub of the line's plane, address
 * bits 13:12. Addresses are the program's. Nobody looks into another's L1s: a
 * copy that has outlived its line in its own L2 is not found.
 */
#ifndef TALLY_MACHINE_COHERENCE_NODES_H
#define TALLY_MACHINE_COHERENCE_NODES_H

/* Nodes from which on there are hubs; two are linked to each other. */
#define HUBS_FROM 3u

#endif
