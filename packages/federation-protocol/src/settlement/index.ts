export {
  buildInboundHold,
  buildInboundPayment,
  buildInboundForwarding,
  buildInboundRelease,
  buildOutboundPayment,
  buildExternalPayment,
  buildForwardedPayment,
} from "./peer-postings.ts";
export {
  type ClearingLine,
  getExposure,
  checkExternalPayment,
  checkReceivable,
  isLimitPassed,
  checkPayable,
  type PeerDebt,
} from "./credit-limit.ts";
export {
  comparePositions,
  type OwnPosition,
  type Position,
  parsePosition,
  type PositionDifference,
  toPositionMessage,
  updateDifference,
} from "./position.ts";
export {
  type AcceptedSettlement,
  createSettlementForward,
  checkSettlement,
  type SettlementContext,
} from "./settlement-forward.ts";
export {
  createOutgoingSettlement,
  type OutgoingSettlement,
  isSettlementResolved,
  getSettlementPayable,
  repeatPaidSettlement,
  type Resolution,
  type SettlementState,
  type X402Reference,
} from "./outgoing-settlement.ts";
export {
  beginAsk,
  beginAttempt,
  endAsk,
  endAttempt,
  refundHeldSettlement,
  getNextStep,
  capSettlementDelay,
  redriveSettlement,
} from "./settlement-outbox.ts";
export { computeMinPayment, type SettlementTerms, computeTerms } from "./settlement-terms.ts";
export {
  type BookedSettlement,
  BookedSettlementSchema,
  type ReportedSettlements,
  ReportedSettlementsSchema,
  type SettlementAnswer,
  SettlementAnswerSchema,
  type SettlementForward,
  SettlementForwardSchema,
  type SettlementList,
  SettlementListSchema,
} from "../messages/settlement.ts";
