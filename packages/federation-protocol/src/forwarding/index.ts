export {
  getAwaitedUntil,
  type BookedTerms,
  clearDefault,
  getDefaultedAmount,
  getRefusedAmount,
  getUndecidedAmount,
  expireInbound,
  finishInbound,
  type InboundState,
  type InboundTask,
  isHoldPending,
  isInboundClosed,
  createInbound,
  voidInbound,
} from "./inbound-task.ts";
export {
  abandonReturn,
  awaitLateSettlement,
  beginReturn,
  endReturn,
  isReturnDue,
  resumeInbound,
} from "./result-return.ts";
export {
  beginForward,
  completeRelayed,
  endForward,
  expireOutbound,
  isForwardDue,
  checkResultState,
  isOutboundOpen,
  createOutbound,
  type OutboundState,
  type OutboundTask,
  getPayable,
  postponeOutbound,
  releasePayable,
  applyResult,
  voidOutbound,
} from "./outbound-task.ts";
export {
  countPassedHops,
  countPassedHopsAsync,
  listEarlierRelays,
  type HopContext,
} from "./passed-hops.ts";
export {
  beginNotice,
  checkCancelNotice,
  endNotice,
  isNoticeDue,
  requestNotice,
  stopNotice,
} from "./cancel-notice.ts";
export {
  beginCancel,
  type CheckCancelResult,
  type CancelOutcome,
  checkCancel,
  endCancel,
  isCancelDue,
  parseCancelAnswer,
  requestCancel,
  signCancelAnswer,
} from "./task-cancel.ts";
export {
  checkNestedReceipt,
  type EndableTask,
  type EndedBy,
  canEndTask,
  type NestedReceipt,
  type NestedRefusal,
  type RecordedTask,
} from "./task-end.ts";
export {
  createTaskForward,
  type ForwardContext,
  type TaskForwardInput,
  checkForward,
} from "./task-forward.ts";
export {
  type ResultContext,
  type VerifiedResult,
  verifyResult,
  verifyResultAsync,
} from "./task-result.ts";
export {
  type TaskCancel,
  type TaskCancelAnswer,
  TaskCancelAnswerSchema,
  TaskCancelSchema,
  type TaskForward,
  type TaskForwardAnswer,
  TaskForwardAnswerSchema,
  TaskForwardSchema,
  type TaskPayload,
  TaskPayloadSchema,
  type TaskResult,
  type TaskResultAnswer,
  TaskResultAnswerSchema,
  TaskResultSchema,
} from "../messages/task.ts";
