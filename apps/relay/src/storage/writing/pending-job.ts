import type { Isolation, Tx } from "../storage.ts";

/**
 * The work of one call of `Storage.transaction`. It shares a transaction of the database with the other
 * jobs of its batch, and its promise is settled after the commit.
 */
export interface PendingJob {
  readonly isolation: Isolation;
  readonly work: (tx: Tx) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Returns whether a job answered with a refusal, which rolls it back. */
export function isRefusal(value: unknown): boolean {
  return typeof value === "object" && value !== null && "ok" in value && value.ok === false;
}
