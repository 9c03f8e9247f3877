import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { toEngineEnv } from "../engine/database-of-path.ts";
import { OPERATOR_TOKEN, ZERO_ADDRESS } from "../test-relay.ts";

const source = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** The output of `pnpm build`, which is missing in a checkout that was never built. */
export const builtMain = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
export const isBuilt = existsSync(builtMain);

/** The exit code and signal of a process. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A relay in a separate process, configured by environment and arguments only. */
export interface RelayProcess {
  readonly pid: number;
  readonly ended: Promise<ProcessExit>;
  /** Returns the whole output so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves once it listens. */
  readonly baseUrl: Promise<string>;
  kill(signal: NodeJS.Signals): void;
  /** Stops reading its output, like a log collector that has crashed. */
  closeOutput(): void;
}

/** The smallest configuration of a relay, on a free port. */
export const minimalEnv = {
  AGENT_API_TOKEN: OPERATOR_TOKEN,
  X402_PAY_TO_ADDRESS: ZERO_ADDRESS,
  AGENT_HOST: "127.0.0.1",
  AGENT_RATE_LIMIT_SCALE: "0",
  PORT: "0",
};

const running = new Set<RelayProcess>();

interface StartOptions {
  readonly args?: readonly string[];
  readonly main?: string;
  /** If true, the database of the environment is used unchanged, whatever the engine of the run. */
  readonly isExact?: boolean;
}

export function startRelay(
  env: Record<string, string>,
  { args = [], main = source, isExact = false }: StartOptions = {},
): RelayProcess {
  const options = main.endsWith(".ts") ? ["--conditions=agent-source"] : [];
  const child = spawn(process.execPath, [...options, main, ...args], {
    env: {
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      ...(isExact ? env : toEngineEnv(env)),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const ended = new Promise<ProcessExit>((end) => {
    child.once("close", (code, signal) => end({ code, signal }));
  });
  const baseUrl = new Promise<string>((listens, ends) => {
    child.stdout.on("data", () => {
      const port = /"msg":"relay.listening".*"port":(\d+)/.exec(output.stdout)?.[1];
      if (port !== undefined) listens(`http://127.0.0.1:${port}`);
    });
    void ended.then(() => ends(new Error(`ended before it listened: ${output.stderr}`)));
  });
  // Some tests never await this promise.
  baseUrl.catch(() => {});
  const relay: RelayProcess = {
    pid: child.pid ?? 0,
    ended,
    baseUrl,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    kill: (signal) => void child.kill(signal),
    closeOutput() {
      child.stdout.destroy();
      child.stderr.destroy();
    },
  };
  running.add(relay);
  void ended.then(() => running.delete(relay));
  return relay;
}

/** Ends relays that a test left running. */
export async function endRelays(): Promise<void> {
  const left = [...running];
  for (const relay of left) relay.kill("SIGKILL");
  await Promise.all(left.map(({ ended }) => ended));
}

/** Parses the log lines of a text, each of which must be JSON. */
export function parseLogLines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
