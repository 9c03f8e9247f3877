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

/** Whether a call of the operator is recorded in its audit; `isSession` for one by a console session. */
export function isAudited(
  { method, auth, audited }: Pick<Operation, "method" | "auth" | "audited">,
  isSession: boolean,
): boolean {
  if (audited !== undefined) return audited === "always" || isSession;
  return method !== "GET" && (auth === "master" || isSession);
}
