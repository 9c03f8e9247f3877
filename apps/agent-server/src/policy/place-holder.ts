import { isPaidPrice, TrustLevel } from "@agent/wire";
import { callerKey, type Caller } from "../caller.ts";
import type { WorkTask } from "../execution/task.ts";

/** The groups with one caller each. */
const SINGLE_CALLER_GROUPS = ["owner", "relay"] as const;

/**
 * The groups of callers that do not compete with one another for the places of limited tables. A new
 * identity costs nothing, so the submitters of free tasks compete only among themselves.
 */
export const CALLER_GROUPS = [
  ...SINGLE_CALLER_GROUPS,
  "relay_paid",
  "relay_free",
  ...TrustLevel.options,
] as const;
export type CallerGroup = (typeof CALLER_GROUPS)[number];

/** The caller that has a place in a limited table, or asks for one. */
export interface PlaceHolder {
  /** The caller's key; for a task of the relay also the submitter that the relay named. */
  readonly caller: string;
  readonly group: CallerGroup;
}

/** Returns the trust level that the owner stated for an agent; undefined for all others. */
export type FindKnownLevel = (agentId: string) => TrustLevel | undefined;

/** Returns whether a group has only one caller, which then needs no limit besides that of the group. */
export function isSingleCallerGroup(group: CallerGroup): boolean {
  return SINGLE_CALLER_GROUPS.some((single) => single === group);
}

/**
 * Returns the holder of a place for a call, which may belong to a task. The submitter of a relay's task is
 * a caller of its own, because all tasks come from the relay. `findKnownLevel` finds the submitters whom the
 * owner knows: they compete only with other agents of their level, because new identities, which cost
 * nothing, fill the places of free tasks, and those of paid ones with money that they get back.
 */
export function getPlaceHolder(
  caller: Caller,
  task?: Pick<WorkTask, "submittedBy" | "estimatedCost">,
  findKnownLevel: FindKnownLevel = () => undefined,
): PlaceHolder {
  const key = callerKey(caller);
  if (caller.kind === "agent") return { caller: key, group: caller.trust };
  if (caller.kind === "owner" || task?.submittedBy === undefined) {
    return { caller: key, group: caller.kind };
  }
  const { submittedBy, estimatedCost = 0 } = task;
  const known = findKnownLevel(submittedBy);
  const ofStrangers = isPaidPrice(estimatedCost) ? "relay_paid" : "relay_free";
  const group = known === undefined || known === "unknown" ? ofStrangers : known;
  return { caller: `${key} ${submittedBy}`, group };
}
