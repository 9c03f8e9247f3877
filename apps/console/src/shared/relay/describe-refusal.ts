import type { CallRefusal } from "@agent/client";

const SENTENCES: Readonly<Record<string, string>> = {
  "network.unreachable": "The relay does not answer.",
  "network.timeout": "The relay did not answer in time.",
  "network.aborted": "The call was stopped.",
  "response.too_large": "The answer is too large for this page.",
  "session.level": "This session is read-only now. To make changes, enter the token or a new link.",
  "session.ended": "The session has ended. Sign in again.",
};

/** Returns a refusal as a sentence for people; for an unknown code, the relay's message. */
export function describeRefusal({ code, message, issues = [] }: CallRefusal): string {
  const known = SENTENCES[code];
  if (known !== undefined) return known;
  if (code === "response.malformed")
    return `${message}, so a proxy or another server may have sent it.`;
  const fields = issues.map((issue) => `${issue.path}: ${issue.message}`).join("; ");
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  return fields === "" ? sentence : `${sentence} ${fields}.`;
}
