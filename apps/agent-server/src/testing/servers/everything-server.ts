import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { findFreePort } from "@agent/testkit";

const script = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/dist/index.js",
);

/** The address of the official example server as a child process. */
export const everythingOverStdio = { command: process.execPath, args: [script, "stdio"] };

/** The same server with a marker, so that a test can find and kill it. */
export function everythingWithPidFile(file: string) {
  const code = `(await import("node:fs")).writeFileSync(${JSON.stringify(file)}, String(process.pid));
    await import(${JSON.stringify(script)});`;
  return { command: process.execPath, args: ["--input-type=module", "-e", code] };
}

export interface EverythingServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts the server over HTTP, on a free port unless one is given; it does not support port 0. */
export async function startEverything(port?: number): Promise<EverythingServer> {
  const chosen = port ?? (await findFreePort());
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, PORT: String(chosen) };
  const child = spawn(process.execPath, [script, "streamableHttp"], { env });
  await new Promise<void>((resolve, reject) => {
    let output = "";
    const look = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes("listening on port")) resolve();
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.once("exit", () => reject(new Error(output)));
  });
  return {
    url: `http://127.0.0.1:${chosen}/mcp`,
    async stop() {
      child.kill("SIGKILL");
      await once(child, "close");
    },
  };
}
