import type { CallAnswer, FailureKind } from "../../tools/calling/call-tool.ts";

const notRunKinds: ReadonlySet<FailureKind> = new Set([
  "unknown",
  "invalid",
  "denied",
  "unavailable",
]);

/** Returns whether the tool of a call has run, even without success. */
export function hasToolRun(answer: CallAnswer): boolean {
  return answer.ok || !notRunKinds.has(answer.kind);
}
