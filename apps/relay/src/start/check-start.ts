import { accessSync, constants, existsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, resolve } from "node:path";
import type { Config } from "../config/config.ts";

/** A reason why a relay with a valid configuration would not start. */
export interface StartFault {
  readonly variable: "AGENT_DB_PATH" | "PORT";
  readonly message: string;
}

/** Checks what a start needs beside a valid configuration: a folder to write in, and a free port. */
export async function checkStart({ storage, server }: Config): Promise<StartFault[]> {
  const faults = [checkFolder(storage), await checkPort(server)];
  return faults.filter((fault) => fault !== undefined);
}

function checkFolder({ databasePath, databaseUrl }: Config["storage"]): StartFault | undefined {
  if (databaseUrl !== undefined || databasePath === ":memory:") return undefined;
  const folder = dirname(resolve(databasePath));
  const fault = (message: string): StartFault => ({ variable: "AGENT_DB_PATH", message });
  if (!existsSync(folder)) return fault("the folder of AGENT_DB_PATH does not exist");
  if (!statSync(folder).isDirectory()) return fault("the folder of AGENT_DB_PATH is a file");
  if (!isWritable(folder)) return fault("the folder of AGENT_DB_PATH cannot be written");
  if (existsSync(databasePath) && !isWritable(databasePath)) {
    return fault("the file of AGENT_DB_PATH cannot be written");
  }
  return undefined;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Listens briefly, which is the only way to know that a port is free. */
function checkPort({ host, port }: Config["server"]): Promise<StartFault | undefined> {
  if (port === 0) return Promise.resolve(undefined);
  const { promise, resolve: answer } = Promise.withResolvers<StartFault | undefined>();
  const server = createServer();
  server.once("error", (error: NodeJS.ErrnoException) =>
    answer({ variable: "PORT", message: `PORT ${port} cannot be used: ${error.code ?? "failed"}` }),
  );
  server.listen(port, host, () => server.close(() => answer(undefined)));
  return promise;
}
