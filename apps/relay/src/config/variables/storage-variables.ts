import * as v from "valibot";
import { DAY_MS } from "../../clock/durations.ts";
import {
  filePath,
  integerBetween,
  plainText,
  postgresUrl,
  postgresUrlOrOff,
  type Variable,
} from "../config-values.ts";

/** The variables of the database. */
export const storageVariables = {
  AGENT_DB_PATH: {
    purpose: "SQLite database file",
    schema: v.optional(filePath),
    unset: "in memory",
  },
  AGENT_DATABASE_URL: {
    purpose: "PostgreSQL database, of version 15 or later; not together with AGENT_DB_PATH",
    schema: v.optional(postgresUrl),
    unset: "SQLite",
    secret: true,
  },
  AGENT_DATABASE_POOL: {
    purpose: "Connections that read from PostgreSQL; one more writes",
    schema: v.optional(integerBetween(1, 1_000), "8"),
  },
  AGENT_DATABASE_LISTEN_URL: {
    purpose:
      "Address of the same database for notifications between processes, without a pooler that splits sessions; off: each process asks the database once a second instead",
    schema: v.optional(postgresUrlOrOff),
    unset: "AGENT_DATABASE_URL",
    secret: true,
  },
  AGENT_PROCESS_NAME: {
    purpose: "Name of this process in logs, metrics and readiness, where several share PostgreSQL",
    schema: v.optional(plainText),
    unset: "the host's name and the process id",
  },
  AGENT_RETENTION_DAYS: {
    purpose:
      "Days for which finished tasks can be polled, inspected ones from their close; 0 keeps them for ever",
    schema: v.optional(integerBetween(0, 36_500), "30"),
  },
  AGENT_RECONCILE_INTERVAL_MS: {
    purpose: "Milliseconds between checks of the books",
    schema: v.optional(integerBetween(1, DAY_MS), "3600000"),
  },
} as const satisfies Record<string, Variable>;
