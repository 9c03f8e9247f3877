export { FEDERATION_FEATURES, type FederationFeature, supportsFeature } from "./features.ts";
export { isFresh } from "./freshness.ts";
export { FEDERATION_LIMITS } from "./limits.ts";
export { parseMessage } from "./parse-message.ts";
export { getRefusalStatus } from "./get-refusal-status.ts";
export type {
  AdmissionCode,
  CancelCode,
  ClearingCode,
  FederationCode,
  FederationRefusal,
  ForwardCode,
  HandshakeCode,
  PeerCode,
  RemovedCode,
  RequestCode,
  ResultCode,
  SettlementCode,
} from "./refusals.ts";
export { ReplayCache } from "./replay-cache.ts";
