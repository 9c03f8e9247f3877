import type { FileCheck } from "../check/file-check.ts";
import type { Storage } from "../storage.ts";
import type { DatabaseRefusal } from "./database-refusal.ts";

export type OpenResult =
  | {
      readonly ok: true;
      readonly storage: Storage;
      readonly migrated: readonly string[];
      /** Absent for a database in memory. */
      readonly fileCheck?: FileCheck;
    }
  | DatabaseRefusal;
