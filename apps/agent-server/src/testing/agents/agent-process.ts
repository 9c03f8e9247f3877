import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The output of `pnpm build`; a checkout without a build has none. */
const builtMain = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const source = fileURLToPath(new URL("../../main.ts", import.meta.url));
const isBuilt = existsSync(builtMain);
if (!isBuilt) console.warn(`NOT AS BUILT: ${builtMain} is not there, run pnpm build`);

/** An agent in its own process, built or from its sources. */
export interface AgentProcess {
  /** Resolves when the output matches. */
  waitForOutput(pattern: RegExp): Promise<void>;
  /** The standard output so far. */
  output(): string;
  /** The log so far. */
  log(): string;
  /** Types a line at its standard input. */
  type(line: string): void;
  /** Closes its standard input. */
  closeInput(): void;
  /** Resolves with the exit code when the process ends on its own. */
  ended(): Promise<number | null>;
  /** Resolves when the process has ended. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

export function startAgentProcess(options: {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}): AgentProcess {
  const { args, env, cwd } = options;
  const command = isBuilt ? [builtMain] : ["--conditions=agent-source", source];
  const child = spawn(process.execPath, [...command, ...args], {
    cwd,
    env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return {
    async waitForOutput(pattern) {
      const matched = new Promise<void>((resolve) => {
        const checkOutput = () => void (pattern.test(output.stdout) && resolve());
        child.stdout.on("data", checkOutput);
        checkOutput();
      });
      const exited = ended.then(() => {
        throw new Error(`the agent ended: ${output.stderr}`);
      });
      await Promise.race([matched, exited]);
    },
    output: () => output.stdout,
    log: () => output.stderr,
    type: (line) => void child.stdin.write(`${line}\n`),
    closeInput: () => void child.stdin.end(),
    ended: async () => {
      await ended;
      return child.exitCode;
    },
    kill(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
