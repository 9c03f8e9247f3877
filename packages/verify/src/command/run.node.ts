import { reportOf } from "../report.ts";
import { verifyArtifact } from "../verify-artifact.ts";
import { readArguments, USAGE } from "./arguments.node.ts";

/** What the command needs of the machine that it runs on. */
export interface Machine {
  /** The bytes of a file; `-` is the standard input. */
  readonly read: (file: string) => Promise<Uint8Array>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly now: () => number;
  readonly version: string;
}

const VALID = 0;
const INVALID = 1;
const UNREADABLE = 2;

/** Runs `agent-verify` and answers its exit code: the worst of all files. */
export async function runCommand(args: readonly string[], machine: Machine): Promise<number> {
  const request = readArguments(args);
  switch (request.ask) {
    case "help":
      machine.out(USAGE);
      return VALID;
    case "version":
      machine.out(`${machine.version}\n`);
      return VALID;
    case "refused":
      machine.err(`agent-verify: ${request.message}\n\n${USAGE}`);
      return UNREADABLE;
    case "verify": {
      const { files, json, keys, taskId, now = machine.now() } = request;
      let worst = VALID;
      for (const file of files) {
        const text = await textOf(file, machine);
        const verdict =
          text === null ? null : verifyArtifact(text, { now, publicKey: keys, taskId });
        if (verdict !== null) {
          const name = file === "-" ? "standard input" : file;
          machine.out(
            json ? `${JSON.stringify({ file, ...verdict })}\n` : `${name}: ${reportOf(verdict)}`,
          );
        }
        const isReadable = verdict !== null && verdict.kind !== null;
        worst = Math.max(worst, isReadable ? (verdict.valid ? VALID : INVALID) : UNREADABLE);
      }
      return worst;
    }
  }
}

// Strict, because a lenient decoder reads several files as one text, and only one of them was signed.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

async function textOf(file: string, { read, err }: Machine): Promise<string | null> {
  try {
    return utf8.decode(await read(file));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    err(`agent-verify: ${file}: ${reason}\n`);
    return null;
  }
}
