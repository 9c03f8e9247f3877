import { accessSync, constants, existsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, resolve } from "node:path";
import type { Config } from "../config/config.ts";

/** A reason why a relay with a valid configuration would not start. */
export interface StartFault {
  readonly variable: "AGENT_DB_PATH" | "AGENT_HOST" | "PORT";
  readonly message: string;
  /** The port is in use, which may be by the running relay beside which an upgrade is checked. */
  readonly isInUse?: true;
}

/** Checks what a start needs beside a valid configuration: a folder to write in, and an address to listen on. */
export async function checkStart({ storage, server }: Config): Promise<StartFault[]> {
  const faults = [checkFolder(storage), await checkAddress(server)];
  return faults.filter((fault) => fault !== undefined);
}

function checkFolder({ databasePath, databaseUrl }: Config["storage"]): StartFault | undefined {
  if (databaseUrl !== undefined || databasePath === ":memory:") return undefined;
  const folder = dirname(resolve(databasePath));
  const fault = (message: string): StartFault => ({ variable: "AGENT_DB_PATH", message });
  if (!existsSync(folder)) return fault("the folder of AGENT_DB_PATH does not exist");
  if (!statSync(folder).isDirectory()) return fault("the folder of AGENT_DB_PATH is a file");
  if (!isWritable(folder)) return fault("the folder of AGENT_DB_PATH cannot be written");
  if (!existsSync(databasePath)) return undefined;
  if (!statSync(databasePath).isFile()) return fault("AGENT_DB_PATH must name a file");
  return isWritable(databasePath)
    ? undefined
    : fault("the file of AGENT_DB_PATH cannot be written");
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Listens briefly, which is the only way to know that an address can be used. */
function checkAddress({ host, port }: Config["server"]): Promise<StartFault | undefined> {
  const { promise, resolve: answer } = Promise.withResolvers<StartFault | undefined>();
  const server = createServer();
  server.once("error", (error) => answer(describeListenFault(error, port)));
  server.listen(port, host, () => server.close(() => answer(undefined)));
  return promise;
}

/** The errors of Node.js for a name without an address, or an address that this machine does not have. */
const HOST_ERRORS = ["EADDRNOTAVAIL", "EAFNOSUPPORT", "EAI_AGAIN", "EINVAL", "ENOTFOUND"];

/** Names the variable that is at fault when a relay cannot listen. */
export function describeListenFault(error: Error, port: number): StartFault {
  const { code = "failed" } = error as NodeJS.ErrnoException;
  if (HOST_ERRORS.includes(code)) {
    return { variable: "AGENT_HOST", message: `AGENT_HOST cannot be used: ${code}` };
  }
  const message = `PORT ${port} cannot be used: ${code}`;
  return { variable: "PORT", message, ...(code === "EADDRINUSE" && { isInUse: true }) };
}
