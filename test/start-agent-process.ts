import { spawn } from "node:child_process";

/** An agent server, or one of its commands, in a separate process. */
export interface AgentProcess {
  /** Everything that it has printed so far. */
  output(): string;
  /** Resolves with the groups of the pattern once the output matches it. */
  waitForOutput(pattern: RegExp): Promise<readonly string[]>;
  /** Writes a line to its standard input. */
  type(line: string): void;
  /** Resolves with the exit code when the process ends by itself. */
  ended(): Promise<number | null>;
  stop(): Promise<void>;
}

const source = new URL("../apps/agent-server/src/main.ts", import.meta.url).pathname;

/** Starts the agent server from source. */
export function startAgentProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): AgentProcess {
  const child = spawn(process.execPath, ["--conditions=agent-source", source, ...args], {
    env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], AGENT_PORT: "0", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return {
    output: () => output,
    async waitForOutput(pattern) {
      const matched = new Promise<readonly string[]>((resolve) => {
        const check = () => {
          const found = pattern.exec(output);
          if (found !== null) resolve([...found].slice(1));
        };
        for (const stream of [child.stdout, child.stderr]) stream.on("data", check);
        check();
      });
      const exited = ended.then(() => {
        throw new Error(`the agent server ended: ${output}`);
      });
      return Promise.race([matched, exited]);
    },
    type: (line) => void child.stdin.write(`${line}\n`),
    ended: () => ended,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
