import type { Storage } from "../storage.ts";
import type { DatabaseRefusal } from "./database-refusal.ts";

export type OpenResult =
  | { readonly ok: true; readonly storage: Storage; readonly migrated: readonly string[] }
  | DatabaseRefusal;
