import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The `main` of a command of a package. */
const COMMANDS = {
  "agent-verify": resolveCommand("@agent/verify", "command/main.node.ts"),
  "agent-monitor": resolveCommand("@agent/client", "monitor/command/main.node.ts"),
} as const;

export interface CommandResult {
  readonly exitCode: number;
  /** The lines of its output, without empty lines. */
  readonly lines: readonly string[];
}

/** Runs a command to its end. */
export function runCommand(
  name: keyof typeof COMMANDS,
  args: readonly string[],
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const argv = [...process.execArgv, COMMANDS[name], ...args];
    const child = execFile(process.execPath, argv, (_, stdout, stderr) => {
      const lines = `${stdout}${stderr}`.split("\n").filter((line) => line.trim() !== "");
      resolve({ exitCode: child.exitCode ?? -1, lines });
    });
  });
}

function resolveCommand(packageName: string, path: string): string {
  return fileURLToPath(new URL(path, import.meta.resolve(packageName)));
}
