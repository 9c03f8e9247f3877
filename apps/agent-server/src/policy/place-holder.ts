import { TrustLevel } from "@agent/wire";
import { callerKey, type Caller } from "../caller.ts";

/** The groups with one caller each. */
const SINGLE_CALLER_GROUPS = ["owner", "relay"] as const;

/** The groups of callers that do not compete with one another for the places of limited tables. */
export const CALLER_GROUPS = [...SINGLE_CALLER_GROUPS, ...TrustLevel.options] as const;
export type CallerGroup = (typeof CALLER_GROUPS)[number];

/** The caller that has a place in a limited table, or asks for one. */
export interface PlaceHolder {
  /** The caller's key. */
  readonly caller: string;
  readonly group: CallerGroup;
}

/** Returns whether a group has only one caller, which then needs no limit besides that of the group. */
export function isSingleCallerGroup(group: CallerGroup): boolean {
  return SINGLE_CALLER_GROUPS.some((single) => single === group);
}

export function getPlaceHolder(caller: Caller): PlaceHolder {
  return {
    caller: callerKey(caller),
    group: caller.kind === "agent" ? caller.trust : caller.kind,
  };
}
