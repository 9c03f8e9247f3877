import * as v from "valibot";
import { CALLER_GROUPS } from "./place-holder.ts";

/** The members of a stored entry that name its caller; files of earlier versions name no group. */
export const storedHolder = {
  caller: v.string(),
  group: v.optional(v.picklist(CALLER_GROUPS), "unknown"),
};

/** Saves entries, and knows which of them a restart would bring back. */
export interface StoredEntries {
  /** Returns false when the entries could not be written. */
  save(): Promise<boolean>;
  has(approvalId: string): boolean;
}

/** Watches the entries that were read from the disk and are written there by `write`. */
export function watchStoredEntries(
  entries: ReadonlyMap<string, { readonly approvalId: string }>,
  write: () => Promise<boolean>,
): StoredEntries {
  const listIds = () => new Set([...entries.values()].map(({ approvalId }) => approvalId));
  let stored = listIds();
  return {
    async save() {
      const ids = listIds();
      const isWritten = await write();
      if (isWritten) stored = ids;
      return isWritten;
    },
    has: (approvalId) => stored.has(approvalId),
  };
}
