import type { DatabaseRefusal } from "../database/database-refusal.ts";

/** A line of the checking process to its relay. */
export type CheckMessage =
  | { readonly type: "progress"; readonly done: number; readonly of: number }
  | { readonly type: "passed" }
  | { readonly type: "refused"; readonly refusal: DatabaseRefusal };
