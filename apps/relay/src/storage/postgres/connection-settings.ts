import type { ClientConfig } from "pg";
import { valueTypes } from "./values/parse-values.ts";

export const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 10_000;

/** The settings of every connection: nothing waits for ever, for a lock, a statement or the network. */
export function toClientConfig(url: string): ClientConfig {
  return {
    connectionString: url,
    application_name: "agent-relay",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    lock_timeout: 2_000,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: 5_000,
    // Ends a connection whose server is no longer there; the server's own limit comes first.
    query_timeout: STATEMENT_TIMEOUT_MS + 5_000,
    keepAlive: true,
    types: valueTypes,
  };
}

/** Returns the address without its password, for the operator. */
export function describeDatabase(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
