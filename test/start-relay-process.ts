import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** A relay in a separate process, on a free port. */
export interface RelayProcess {
  readonly baseUrl: string;
  /** The log output so far. */
  log(): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export const MASTER_TOKEN = "test-master-token-0123456789";

const source = new URL("../apps/relay/src/main.ts", import.meta.url).pathname;

/** Starts the relay from source, or from a program that a test has installed. */
export async function startRelayProcess(
  main = source,
  env: Readonly<Record<string, string>> = {},
): Promise<RelayProcess> {
  const options = main.endsWith(".ts") ? ["--conditions=agent-source"] : [];
  const child = spawn(process.execPath, [...options, main], {
    cwd: join(main, ".."),
    env: {
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      AGENT_API_TOKEN: MASTER_TOKEN,
      X402_PAY_TO_ADDRESS: `0x${"0".repeat(40)}`,
      AGENT_HOST: "127.0.0.1",
      PORT: "0",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  const baseUrl = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      const port = /"msg":"relay.listening".*"port":(\d+)/.exec(output)?.[1];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    });
    child.once("exit", () => reject(new Error(`the relay ended before it listened: ${output}`)));
  });
  return {
    baseUrl,
    log: () => output,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}
