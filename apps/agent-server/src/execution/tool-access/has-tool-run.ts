import type { CallAnswer, FailureKind } from "../../tools/calling/call-tool.ts";

const NOT_RUN_KINDS: ReadonlySet<FailureKind> = new Set([
  "unknown",
  "invalid",
  "denied",
  "unavailable",
]);

/** Returns whether the tool of a call has run, even without success. */
export function hasToolRun(answer: CallAnswer): boolean {
  return answer.ok || !NOT_RUN_KINDS.has(answer.kind);
}
