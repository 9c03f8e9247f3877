import { formatError } from "@agent/crypto";
import { createRedactor } from "@agent/wire";
import type { Client, Tool } from "@modelcontextprotocol/client";
import type { Runtime } from "../runtime.ts";
import type { ServerAddress } from "./transport.ts";

/** A first start may install the server, as `npx` does. */
const FIRST_START_TIMEOUT_MS = 180_000;
/** The delay after which the log names the server that the start waits for. */
const WAITING_LOG_DELAY_MS = 2_000;
/**
 * The part of a server's standard error that a fault shows: its end, where the reason usually is.
 */
const MAX_SHOWN_STDERR_CHARACTERS = 1_000;

/** Connects within `timeoutMs`; `onStderr` receives the server's standard error. */
export type Connect = (
  timeoutMs: number,
  onStderr: (text: string) => void,
) => Promise<Pick<Client, "listTools">>;

/**
 * Starts a server for the first time and lists its tools. It allows more time than later starts,
 * logs the server that it waits for, and reports the reason of a failure.
 */
export async function startFirst(
  server: { readonly name: string; readonly address: ServerAddress },
  connect: Connect,
  runtime: Pick<Runtime, "schedule" | "log">,
): Promise<readonly Tool[]> {
  const { name, address } = server;
  const cancel = runtime.schedule(WAITING_LOG_DELAY_MS, () => {
    const waiting = {
      server: name,
      for: describeAddress(address),
      at_most_ms: FIRST_START_TIMEOUT_MS,
    };
    runtime.log("info", "proxy.waiting", waiting);
  });
  let stderr = "";
  const collect = (text: string) => {
    stderr = (stderr + text).slice(-MAX_SHOWN_STDERR_CHARACTERS);
  };
  const failed = (problem: string) => (cause: unknown) => {
    const reason = formatError(cause);
    const redactedStderr = createRedactor(listAddressSecrets(address))(stderr)
      .trim()
      .replace(/\s*\n\s*/g, " | ");
    const message =
      redactedStderr === "" ? reason : `${reason}; its standard error: ${redactedStderr}`;
    throw new Error(`${problem}: ${message}`, { cause });
  };
  try {
    const client = await connect(FIRST_START_TIMEOUT_MS, collect).catch(
      failed("cannot be reached"),
    );
    const listed = await client.listTools().catch(failed("does not list its tools"));
    return listed.tools;
  } finally {
    cancel();
  }
}

/** Describes the address without its arguments, which may hold a token. */
function describeAddress(address: ServerAddress): string {
  return "url" in address ? address.url : address.command;
}

function listAddressSecrets(address: ServerAddress): readonly string[] {
  return Object.values("url" in address ? address.headers : address.env);
}
