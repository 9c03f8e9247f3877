import type { Client } from "pg";

/** Sends statements by one write to the socket: each of them alone would be a system call. */
export function sendAtOnce(
  client: Client,
  statements: readonly ((client: Client) => Promise<void>)[],
): Promise<void[]> {
  const { stream } = client.connection;
  stream.cork();
  try {
    return Promise.all(statements.map((send) => send(client)));
  } finally {
    stream.uncork();
  }
}
