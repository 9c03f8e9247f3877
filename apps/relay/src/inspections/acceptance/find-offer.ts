import type { OfferedAcceptance } from "@agent/wire";
import { findListing } from "../../agents/discovery/listing-store.ts";
import { parseListing } from "../../agents/discovery/parse-listing.ts";
import type { Attempt } from "../../routing/attempt.ts";
import type { Reader } from "../../storage/storage.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { countInspectedTasks, countOpenInspections } from "../reading/count-store.ts";

/** Finds the inspection that an executor offers; an agent of another relay offers none. */
export async function findOffer(
  read: Reader,
  { agent_id, via }: Pick<Attempt, "agent_id" | "via">,
): Promise<OfferedAcceptance | undefined> {
  if (via !== undefined) return undefined;
  return parseListing((await findListing(read, agent_id))?.body)?.acceptance;
}

/** Returns whether an executor has less open than it offers. */
export async function hasRoom(
  read: Reader,
  executorId: string,
  maxOpen: number | undefined,
): Promise<boolean> {
  if (maxOpen === undefined) return true;
  const open = await countOpenInspections(read, executorId);
  return open + (await countInspectedTasks(read, executorId)) < maxOpen;
}

/**
 * Returns whether a task may be assigned to another of its executors. An inspected task counts for one of
 * them at a time, so each must have room when it gets the task, not only when the task was submitted.
 */
export async function hasRoomForTask(
  read: Reader,
  { acceptance }: Pick<TaskRow, "acceptance">,
  executor: Pick<Attempt, "agent_id" | "via">,
): Promise<boolean> {
  if (acceptance === null) return true;
  return hasRoom(read, executor.agent_id, (await findOffer(read, executor))?.max_open);
}
