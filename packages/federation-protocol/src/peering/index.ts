export {
  checkAdmission,
  checkProposalAdmission,
  type AdmissionPolicy,
  computeCreditAfterHandshake,
  selectInitialCreditLimit,
  type AdmissionInput,
} from "./admission.ts";
export { type ForwardHistory, isCircuitOpen } from "./circuit-breaker.ts";
export {
  getHeartbeatClaims,
  createHeartbeat,
  type HeartbeatClaims,
  verifyHeartbeat,
  checkNotice,
  type NoticeContext,
} from "./heartbeat.ts";
export {
  checkProposalAnswer,
  checkConfirmationAnswer,
  type ConfirmingState,
  createProposal,
  type ProposedState,
} from "./initiator.ts";
export { updatePeerPin, listPinnedKeys, type PeerPin, type ReportedKey } from "./peer-key.ts";
export {
  isLive,
  mayConcludeTasks,
  isPeeringEnded,
  isUsable,
  applyPeerEvent,
  NEW_PEER,
  type PeerEvent,
  type PeerRecord,
} from "./peer.ts";
export type { RelayDescription } from "./relay-description.ts";
export { createRemoval, verifyRemoval } from "./removal.ts";
export {
  buildProposalAnswer,
  isProposalExpired,
  checkConfirmation,
  type PendingPeer,
} from "./responder.ts";
export {
  type Confirmation,
  type ConfirmationAnswer,
  ConfirmationAnswerSchema,
  ConfirmationSchema,
  type Proposal,
  type ProposalAnswer,
  ProposalAnswerSchema,
  ProposalSchema,
  type RelayIdentity,
  RelayIdentitySchema,
} from "../messages/handshake.ts";
export {
  type Heartbeat,
  HeartbeatSchema,
  PeerListSchema,
  type Removal,
  type RemovalAnswer,
  RemovalAnswerSchema,
  RemovalSchema,
  type StatedPosition,
  StatedPositionSchema,
} from "../messages/peer.ts";
