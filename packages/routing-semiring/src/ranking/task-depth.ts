/** The depth of the deepest task; a task without a parent has depth 0. */
export const MAX_TASK_DEPTH = 10;

/** Refusal of a task whose chain of parents is too long. */
export type DepthRefusal = "task.too_deep";

/**
 * Checks the depth of a task, which is its parent's plus one. This also ends cycles of agents that delegate
 * to each other.
 */
export function checkTaskDepth(
  depth: number,
): { readonly ok: true } | { readonly ok: false; readonly code: DepthRefusal } {
  return depth <= MAX_TASK_DEPTH ? { ok: true } : { ok: false, code: "task.too_deep" };
}
