import { buildErrorBody, type Code, type Refusal, type RpcAnswer } from "@agent/wire";

export type RpcError = NonNullable<RpcAnswer["error"]>;

/** A fault that A2A has a name for and the rest of the contract does not. */
export interface A2aFault {
  readonly ok: false;
  readonly fault: keyof typeof a2aFaults;
  readonly detail?: string;
}

const a2aFaults = {
  METHOD_NOT_FOUND: [-32_601, "Method not found"],
  PUSH_NOTIFICATION_NOT_SUPPORTED: [-32_003, "Push notifications are not supported: use webhooks"],
  UNSUPPORTED_OPERATION: [-32_004, "Operation is not supported"],
  CONTENT_TYPE_NOT_SUPPORTED: [-32_005, "Content type is not supported"],
  VERSION_NOT_SUPPORTED: [-32_009, "A2A-Version must be 1.0"],
} as const;

export function createFault(name: A2aFault["fault"], detail?: string): A2aFault {
  return detail === undefined ? { ok: false, fault: name } : { ok: false, fault: name, detail };
}

const taskNotFound = [-32_001, "TASK_NOT_FOUND"] as const;
const invalidParams = [-32_602, "INVALID_PARAMS"] as const;

/**
 * Refusals with an A2A error. A task that is not the caller's looks like one that does not exist.
 */
const a2aErrorsByCode: Partial<Record<Code, readonly [number, string]>> = {
  "task.not_found": taskNotFound,
  "task.not_participant": taskNotFound,
  "task.not_submitter": taskNotFound,
  "task.not_pending": [-32_002, "TASK_NOT_CANCELABLE"],
  "request.invalid": invalidParams,
  "idempotency.key_invalid": invalidParams,
};

/** The code of all other refusals: within JSON-RPC's server range, outside A2A's part of it. */
const REFUSED_BY_RELAY = -32_000;

const A2A_DOMAIN = "a2a-protocol.org";
const OWN_DOMAIN = "agent-delegation";

/**
 * Builds the error of a call; the whole body of a refusal, with its code, is one of the details.
 */
export function toRpcError(problem: Refusal | A2aFault, requestId: string): RpcError {
  if ("fault" in problem) {
    const [code, text] = a2aFaults[problem.fault];
    const message = problem.detail === undefined ? text : `${text}: ${problem.detail}`;
    return { code, message, data: [toErrorInfo(problem.fault, A2A_DOMAIN)] };
  }
  const mapped = a2aErrorsByCode[problem.code];
  const shown = mapped === taskNotFound ? hideReason(problem) : problem;
  const body = buildErrorBody(shown, requestId);
  const info =
    mapped === undefined
      ? toErrorInfo(problem.code.toUpperCase().replace(".", "_"), OWN_DOMAIN)
      : toErrorInfo(mapped[1], A2A_DOMAIN);
  const details = { "@type": "urn:agent-delegation:error:v1", ...body };
  return { code: mapped?.[0] ?? REFUSED_BY_RELAY, message: body.message, data: [info, details] };
}

function hideReason(refusal: Refusal): Refusal {
  return { ...refusal, code: "task.not_found" };
}

function toErrorInfo(reason: string, of: string): Record<string, unknown> {
  return { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: of };
}
