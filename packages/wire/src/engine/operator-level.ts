import type { Operation, OperatorLevel } from "./operation.ts";

/**
 * Returns the level that a console session needs for an operation. By default a session may read
 * everything, may act where only the operator may, and may never act for an agent.
 */
export function getOperatorLevel({
  operator,
  method,
  auth,
}: Pick<Operation, "operator" | "method" | "auth">): OperatorLevel {
  if (operator !== undefined) return operator;
  if (method === "GET") return "view";
  return auth === "master" ? "operate" : "never";
}

/**
 * Whether a call of the operator is recorded in its audit; `isSession` for one by a console session. By
 * default these are all acts, and all that a session reads of an agent, because that can contain texts.
 */
export function isAudited(
  { method, auth, audited }: Pick<Operation, "method" | "auth" | "audited">,
  isSession: boolean,
): boolean {
  if (audited !== undefined) return audited === "always";
  if (method !== "GET") return auth === "master" || isSession;
  return auth === "bearer" && isSession;
}
