import type { ErrorText } from "./error-text.ts";

/** Refusals of tokens and of callers without the right to an operation. */
export const accessErrors = {
  "auth.missing": { status: 401, text: "Missing authorization" },
  "auth.malformed_token": { status: 401, text: "Invalid token" },
  "auth.expired_token": { status: 401, text: "Invalid token" },
  "auth.token_revoked": { status: 401, text: "Invalid token" },
  "auth.token_used": { status: 401, text: "Invalid token" },
  "auth.unknown_token": { status: 403, text: "Invalid token" },
  "auth.verification_failed": { status: 401, text: "Token verification failed" },
  "auth.device_not_authorized": { status: 403, text: "Device not authorized for this agent" },
  "auth.scope_missing": { status: 403, text: "Token does not carry the scope of this operation" },
  "auth.not_owner": { status: 403, text: "Only the agent itself may do this" },
  "auth.master_only": { status: 403, text: "Only the operator of the relay may do this" },
  "session.level": {
    status: 403,
    text: "This session may not do this: give a new code or the master token first",
  },
  "session.code_invalid": { status: 403, text: "Code is wrong, already used or too old" },
  "session.https_required": {
    status: 403,
    text: "The console needs https and its address in AGENT_BASE_URL, except on the relay's own machine",
  },
  "session.cross_site": {
    status: 403,
    text: "Request must come from the console's own page",
  },
  "session.ended": { status: 401, text: "Session has ended" },
  "session.not_found": { status: 404, text: "Session not found" },
} as const satisfies Record<string, ErrorText>;
