/** The failure of a call, as far as it reflects on the endpoint. */
export type EndpointFault =
  /** An MCP server answered, but did not do the task. */
  | { readonly kind: "answered" }
  /** No connection, or an answer that is not MCP. */
  | { readonly kind: "unreachable" }
  /** No answer within the remaining time of the task or of the submitter's own limit. */
  | { readonly kind: "timeout"; readonly waitedMs: number };

/**
 * An endpoint with less time than this is not at fault for a timeout, because the submitter chose the
 * time.
 */
const MIN_TIMEOUT_FAULT_MS = 10_000;

/** Returns the effect of a failed call on the endpoint's pause. */
export function backoffEffect(fault: EndpointFault): "failed" | "succeeded" | "unchanged" {
  if (fault.kind === "answered") return "succeeded";
  if (fault.kind === "unreachable") return "failed";
  return fault.waitedMs >= MIN_TIMEOUT_FAULT_MS ? "failed" : "unchanged";
}
