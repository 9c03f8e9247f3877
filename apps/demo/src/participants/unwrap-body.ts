import type { CallRefusal } from "@agent/client";

/** Returns the body of the relay's answer; throws a refusal, which ends the demo. */
export function unwrapBody<Body>(
  answer: { readonly ok: true; readonly body: Body } | CallRefusal,
): Body {
  if (answer.ok) return answer.body;
  throw new Error(`the relay refused: ${answer.message} (${answer.code})`);
}
