export { awaitResult } from "./await-result.ts";
export type { AwaitResultOptions } from "./await-result.ts";
export { fullJitter } from "./calls/full-jitter.ts";
export { bootstrapAgent } from "./bootstrap.ts";
export type { BootstrapOptions } from "./bootstrap.ts";
export { boundedBody } from "./calls/bounded-body.ts";
export type { BodyBounds } from "./calls/bounded-body.ts";
export type { CallRequest } from "./calls/call-request.ts";
export { call } from "./calls/call.ts";
export type { CallOptions, CallResult, CallSuccess } from "./calls/call.ts";
export type { CheckedResult, ProvenResult, UnprovenResult } from "./results/check-result.ts";
export { delegate } from "./delegate.ts";
export type { DelegateResult, DelegateOptions, WantedInspection } from "./delegate.ts";
export type { Inspect, InspectionAnswer, InspectionResult } from "./results/inspect-result.ts";
export { sendVerdict } from "./results/send-verdict.ts";
export type { SendVerdictOptions, VerdictSigner } from "./results/send-verdict.ts";
export { createEnvironment } from "./environment.ts";
export type { Environment } from "./environment.ts";
export { openEventStream } from "./calls/event-stream.ts";
export type { StreamOptions, StreamResult } from "./calls/event-stream.ts";
export { fetchListedPrice } from "./fetch-listed-price.ts";
export { followTask } from "./follow-task.ts";
export type { FollowedEvent, FollowTaskOptions } from "./follow-task.ts";
export { connectSocket } from "./realtime/realtime.ts";
export type { AgentSocket, SocketOptions } from "./realtime/realtime.ts";
export type { SocketEnd } from "./realtime/decide-reconnection.ts";
export { createMonitor } from "./monitor/monitor.ts";
export type {
  MonitorAlarm,
  MonitorAlarmCode,
  MonitorOptions,
  MonitorResult,
} from "./monitor/monitor.ts";
export { parseMonitorState } from "./monitor/monitor-state.ts";
export type { MonitorState } from "./monitor/monitor-state.ts";
export { createRecommender } from "./recommender.ts";
export type { RecommendResult, Recommender, RecommenderOptions } from "./recommender.ts";
export type { CallRefusal, RefusalCode, TransportCode } from "./calls/refusal.ts";
export { createRelayClient } from "./relay-client.ts";
export type { Bearer, PerCallOptions, RelayClient, RelayClientOptions } from "./relay-client.ts";
export { isOfRelay } from "./calls/refusal.ts";
export { getRequestedWaitMs, parseRetryAfterMs } from "./calls/retry-after.ts";
export type { SendResult } from "./realtime/socket-connection.ts";
export { looksLikeToken } from "./tokens/parse-token.ts";
export type { Credentials, DeviceIdentity } from "./tokens/token-source.ts";
export { redeemApproval } from "./redeem-approval.ts";
export type { ApprovedCall } from "./redeem-approval.ts";
export { signVote } from "./sign-vote.ts";
export type { SignVoteOptions } from "./sign-vote.ts";
export { checkTokenClaims, verifyToken, mintToken, peekToken } from "./tokens/token.ts";
export type { MintTokenOptions, TokenClaims, TokenCode, TokenRefusal } from "./tokens/token.ts";
