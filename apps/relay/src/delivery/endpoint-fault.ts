/** How a call of an endpoint failed, as far as it says something about the endpoint. */
export type EndpointFault =
  /** There is an MCP server, which did not do the task. */
  | { readonly kind: "answered" }
  /** No connection, or an answer that is no MCP. */
  | { readonly kind: "unreachable" }
  /** No answer within the time that was left, of the task or of its submitter's own bound. */
  | { readonly kind: "timeout"; readonly waitedMs: number };

/** An endpoint that was given less time cannot be blamed for its silence: the submitter chose the time. */
export const MIN_TIMEOUT_FAULT_MS = 10_000;

/** What a failed call does to the pause before the next one: it begins, it ends, or it stays as it is. */
export function backoffEffect(fault: EndpointFault): "failed" | "succeeded" | "unchanged" {
  if (fault.kind === "answered") return "succeeded";
  if (fault.kind === "unreachable") return "failed";
  return fault.waitedMs >= MIN_TIMEOUT_FAULT_MS ? "failed" : "unchanged";
}
