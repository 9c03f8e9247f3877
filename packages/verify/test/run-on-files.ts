import { digestFile } from "../src/command/digest-file.node.ts";
import { runCommand } from "../src/command/run-command.node.ts";
import { now } from "./artifacts.ts";

/** Runs `agent-verify` on files in memory, with a clock fixed at `now`. */
export async function runOnFiles(
  files: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<{ readonly exitCode: number; readonly out: string }> {
  let out = "";
  const exitCode = await runCommand(args, {
    read: (file) => {
      const text = files[file];
      return text === undefined
        ? Promise.reject(new Error("no such file"))
        : Promise.resolve(new TextEncoder().encode(text));
    },
    digest: digestFile,
    out: (text) => (out += text),
    err: (text) => (out += text),
    now: () => now,
    version: "1.2.3",
  });
  return { exitCode, out };
}
