export { boundSuccessions, listFormerKeys } from "./agent-succession.ts";
export { type ClaimLimit, getClaimLimit } from "./claim-limit.ts";
export type { AgentClaim, ClaimedAgent } from "./claims.ts";
export { findClaimWithKey, isOwnClaim, resolveClaims } from "./claims.ts";
export {
  isReachable,
  type KnownAgent,
  mergeEntries,
  type PeerAttributes,
  type ReachableAgent,
  parseEntries,
  toRemoteAgent,
} from "./entries.ts";
export { createQuery, listUnvisitedPeers, planQuery, type QueryPlan } from "./query.ts";
export {
  type CrossRelayRoute,
  computePeerReliability,
  toRelayNode,
  listRelays,
  buildRoute,
} from "./route.ts";
export {
  type AgentQuery,
  AgentQuerySchema,
  type Discovery,
  type DiscoveryAnswer,
  DiscoveryAnswerSchema,
  DiscoverySchema,
  type RemoteAgent,
  RemoteAgentSchema,
} from "../messages/discovery.ts";
