import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { masterToken, noPayments } from "./test-relay.ts";

const source = fileURLToPath(new URL("../src/main.ts", import.meta.url));

/** What `pnpm build` makes; a checkout that was never built has none. */
export const builtMain = fileURLToPath(new URL("../dist/main.js", import.meta.url));
export const isBuilt = existsSync(builtMain);

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A relay in a process of its own, started from environment and arguments alone. */
export interface RelayProcess {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** Everything that it wrote so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves once it listens. */
  readonly baseUrl: Promise<string>;
  kill(signal: NodeJS.Signals): void;
}

/** The least that a relay has to be told, on a free port. */
export const plainEnv = {
  AGENT_API_TOKEN: masterToken,
  X402_PAY_TO_ADDRESS: noPayments,
  AGENT_HOST: "127.0.0.1",
  AGENT_RATE_LIMIT_SCALE: "0",
  PORT: "0",
};

const running = new Set<RelayProcess>();

export function startRelay(
  env: Record<string, string>,
  { args = [], main = source }: { readonly args?: readonly string[]; readonly main?: string } = {},
): RelayProcess {
  const options = main === source ? ["--conditions=agent-source"] : [];
  const child = spawn(process.execPath, [...options, main, ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { promise: ended, resolve: end } = Promise.withResolvers<Ended>();
  const { promise: baseUrl, resolve: listen, reject } = Promise.withResolvers<string>();
  baseUrl.catch(() => {});
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
      const port = /"msg":"relay.listening".*"port":(\d+)/.exec(output.stdout)?.[1];
      if (port !== undefined) listen(`http://127.0.0.1:${port}`);
    });
  }
  const relay: RelayProcess = {
    pid: child.pid ?? 0,
    ended,
    baseUrl,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    kill: (signal) => void child.kill(signal),
  };
  running.add(relay);
  child.once("close", (code, signal) => {
    running.delete(relay);
    reject(new Error(`the relay ended before it listened: ${output.stderr}`));
    end({ code, signal });
  });
  return relay;
}

/** Ends what a test has left running. */
export async function endRelays(): Promise<void> {
  const left = [...running];
  for (const relay of left) relay.kill("SIGKILL");
  await Promise.all(left.map(({ ended }) => ended));
}

/** The log lines of a text; each has to be JSON. */
export function linesOf(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
