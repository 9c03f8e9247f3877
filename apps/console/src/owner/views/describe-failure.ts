import { isJsonObject } from "@agent/crypto";

/** The reason of a task's failure: its author and a sentence. */
export interface FailureReason {
  readonly by: "executor" | "relay";
  readonly sentence: string;
}

/** Returns why a task failed, in the executor's words if its receipt contains any. */
export function describeFailure(status: string, receipt: unknown): FailureReason {
  const result = isJsonObject(receipt) ? receipt["result"] : undefined;
  if (typeof result === "string" && result.trim() !== "") {
    return { by: "executor", sentence: result };
  }
  const sentence = RELAY_SENTENCES[status] ?? "It ended, and no reason is known.";
  return { by: "relay", sentence };
}

/** The reason of a failed task whose receipt the page has not read. */
export const UNREAD: FailureReason = {
  by: "relay",
  sentence: "This page has not read the reason; the task's receipt states it.",
};

const RELAY_SENTENCES: Readonly<Record<string, string>> = {
  expired: "No result arrived in time, so the money went back to the submitter.",
  failed: "The executor failed at it and gave no reason.",
  denied: "The executor refused it and gave no reason.",
};
