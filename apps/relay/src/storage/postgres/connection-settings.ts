import type { ClientConfig } from "pg";
import { valueTypes } from "./values/parse-values.ts";

const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 10_000;
/** Firewalls drop idle connections after minutes, and the operating system would probe only after hours. */
const KEEPALIVE_SECONDS = 10;

/**
 * Lets the server notice within half a minute that the machine of this process is gone, also in the middle of
 * an answer. Until then the session keeps its locks, and programs that need the database alone, or start,
 * wait for them.
 */
export const NOTICE_LOST_CLIENT = `SET tcp_keepalives_idle = ${KEEPALIVE_SECONDS};
  SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 5; SET tcp_user_timeout = 30000`;

/** The settings of every connection: nothing waits for ever, for a lock, a statement or the network. */
export function toClientConfig(url: string): ClientConfig {
  return {
    connectionString: url,
    application_name: "agent-relay",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    lock_timeout: 2_000,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: 5_000,
    // Ends a connection whose server is gone; the server's own limit comes first.
    query_timeout: STATEMENT_TIMEOUT_MS + 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_SECONDS * 1_000,
    types: valueTypes,
  };
}

/** Returns host and database of an address, which hold no password, for the operator. */
export function describePlace(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
