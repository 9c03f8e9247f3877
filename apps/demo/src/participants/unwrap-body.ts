import type { CallRefusal } from "@agent/client";

/** What the relay answered; its refusal ends the demo in its own words. */
export function unwrapBody<Body>(
  answer: { readonly ok: true; readonly body: Body } | CallRefusal,
): Body {
  if (answer.ok) return answer.body;
  throw new Error(`the relay refused: ${answer.message} (${answer.code})`);
}
