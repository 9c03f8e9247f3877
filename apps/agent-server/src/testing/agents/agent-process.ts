import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What `pnpm build` makes; a checkout that was never built has none. */
const builtMain = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const source = fileURLToPath(new URL("../../main.ts", import.meta.url));
const isBuilt = existsSync(builtMain);
if (!isBuilt) console.warn(`NOT AS BUILT: ${builtMain} is not there, run pnpm build`);

/** An agent in a process of its own, as it is built wherever it was. */
export interface AgentProcess {
  /** Resolves when it printed what fits. */
  waitForOutput(pattern: RegExp): Promise<void>;
  /** Everything that it printed so far. */
  output(): string;
  /** Everything that it logged so far. */
  log(): string;
  /** Resolves when it is gone. */
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
    stdio: ["ignore", "pipe", "pipe"],
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
    kill(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
