import { limits } from "@agent/wire";

/**
 * The header with the reason for an operator's action, percent-encoded, for operations without a member for
 * it.
 */
export const ACT_REASON_HEADER = "x-agent-reason";

/** Reads the reason for the audit; nothing for one that is missing, damaged or too long. */
export function readActReason(header: string | undefined): { readonly reason?: string } {
  if (header === undefined || header === "") return {};
  try {
    const reason = decodeURIComponent(header);
    return reason.length > limits.shortText ? {} : { reason };
  } catch {
    return {};
  }
}
