import { checkTaskDepth } from "@agent/routing-semiring";
import { refuse, type Refusal } from "@agent/wire";
import { refuseField } from "../../http/server/validate.ts";
import type { Caller } from "../../identity/caller.ts";
import type { Services } from "../../services.ts";
import { executorOf, isForwarded, isOpen } from "../task.ts";
import { findTask } from "../store.ts";

/** The place of a task below others. */
export interface Lineage {
  readonly depth: number;
  /** The executors of the tasks above it that are at this relay, the first one first. */
  readonly ancestors: readonly string[];
  /** The task that it was submitted under. */
  readonly parentId?: string;
}

export interface NamedParent {
  readonly parentId: string | undefined;
  readonly caller: Caller;
  /** The agent that the caller acts for. */
  readonly actingId: string | null;
}

const noParent: Lineage = { depth: 0, ancestors: [] };

/**
 * Finds the position of a new task below its parent, which must be an open task that the submitter executes
 * at this relay. All other ids get the same answer, which reveals no task of other agents.
 */
export async function findLineage(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  { parentId, caller, actingId }: NamedParent,
): Promise<({ readonly ok: true } & Lineage) | Refusal<"request.invalid" | "task.too_deep">> {
  if (parentId === undefined) return { ok: true, ...noParent };
  const parent = await findTask(storage.read, parentId);
  const isOwn =
    parent !== undefined &&
    isOpen(parent, runtime.now()) &&
    !isForwarded(parent) &&
    (executorOf(parent) === actingId || (caller.kind === "master" && actingId === null));
  if (!isOwn) {
    return refuseField("parent_task_id", "must be an open task that the submitter executes");
  }
  const depth = parent.depth + 1;
  const allowed = checkTaskDepth(depth);
  if (!allowed.ok) return refuse(allowed.code);
  const ancestors = [...parseAncestors(parent.ancestors), executorOf(parent)];
  return { ok: true, depth, ancestors, parentId };
}

function parseAncestors(text: string | null): string[] {
  return text === null ? [] : (JSON.parse(text) as string[]);
}
