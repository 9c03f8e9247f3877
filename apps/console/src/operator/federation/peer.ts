import type { BodyOf } from "../../shared/relay/call-relay.ts";

/** A peer as the relay lists it. */
export type Peer = BodyOf<"listFederationPeers">["peers"][number];
