import { accessErrors } from "./errors/access-errors.ts";
import { agentErrors } from "./errors/agent-errors.ts";
import type { ErrorText } from "./errors/error-text.ts";
import { federationErrors } from "./errors/federation-errors.ts";
import { inspectionErrors } from "./errors/inspection-errors.ts";
import { logErrors } from "./errors/log-errors.ts";
import { moneyErrors } from "./errors/money-errors.ts";
import { receiptErrors } from "./errors/receipt-errors.ts";
import { recordErrors } from "./errors/record-errors.ts";
import { requestErrors } from "./errors/request-errors.ts";
import { taskErrors } from "./errors/task-errors.ts";
import { witnessErrors } from "./errors/witness-errors.ts";

/**
 * Every refusal a relay can answer, with its status and text (specification, "Errors"). A code that an
 * operation declares but this table lacks does not compile.
 */
export const errors = {
  ...accessErrors,
  ...requestErrors,
  ...agentErrors,
  ...taskErrors,
  ...receiptErrors,
  ...moneyErrors,
  ...inspectionErrors,
  ...federationErrors,
  ...recordErrors,
  ...witnessErrors,
  ...logErrors,
} as const satisfies Record<string, ErrorText>;

export type Code = keyof typeof errors;
