import {
  expireInspection,
  type Inspection,
  type InspectionOutcome,
  type InspectionResult,
  NO_SHARE,
} from "@agent/budget";
import type { OutcomeRecord } from "@agent/receipts";
import { limits } from "@agent/wire";
import type { Caller } from "../identity/caller.ts";
import type { RelayIdentity } from "../identity/relay-identity.ts";
import type { InspectionRow } from "../storage/tables/inspections.ts";
import { parseLengths } from "./terms.ts";

type Relay = Pick<RelayIdentity, "relayId">;

/** Reads a row as a value of the pure rules. */
export function toInspection(row: InspectionRow, { relayId }: Relay): Inspection {
  const arbiter = row.arbiter_id === relayId ? "operator" : "agent";
  return {
    state: row.state,
    deadline: row.deadline,
    offer: row.offer ?? NO_SHARE,
    arbiter: row.contested_at === null ? null : arbiter,
    outcome: toOutcome(row),
  };
}

function toOutcome({ outcome, share, lost_by }: InspectionRow): InspectionOutcome | null {
  if (outcome === null || share === null) return null;
  const result: InspectionResult = (JSON.parse(outcome) as OutcomeRecord).outcome;
  return { result, share, lostBy: lost_by };
}

/** Returns the state with every deadline applied that has passed, as the job will. */
export function getCurrentState(row: InspectionRow, relay: Relay, now: number): Inspection {
  return expireInspection(toInspection(row, relay), parseLengths(row), now);
}

/**
 * Returns whether the caller is the agent in charge of a dispute: from the contest on, unless its time has
 * passed, and for 30 days after the close.
 */
export function isArbiterInCharge(
  caller: Caller,
  row: InspectionRow,
  relay: Relay,
  now: number,
): boolean {
  if (caller.kind !== "agent" || row.arbiter_id !== caller.agentId) return false;
  if (row.closed_at !== null && now >= row.closed_at + limits.arbiterAccessMs) return false;
  return getCurrentState(row, relay, now).arbiter === "agent";
}
