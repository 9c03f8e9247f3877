import { parseJsonText } from "@agent/crypto";
import type { VerifyOptions } from "../artifacts/options.ts";
import { reportOf } from "../report.ts";
import { type FileDigest, verifyResultFile } from "../result-file.ts";
import type { Verdict } from "../verdict.ts";
import { verifyArtifact } from "../verify-artifact.ts";
import { readArguments, USAGE } from "./arguments.node.ts";

/** What the command needs of the machine that it runs on. */
export interface Machine {
  /** The bytes of a file; `-` is the standard input. */
  readonly read: (file: string) => Promise<Uint8Array>;
  /** The hash and the length of a file of any size. */
  readonly digest: (file: string) => Promise<FileDigest>;
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
      const { files, json, keys, taskId, resultFile, successionFile } = request;
      const { now = machine.now() } = request;
      const relaySuccession = await successionOf(successionFile, machine);
      if (relaySuccession === null) return UNREADABLE;
      let worst = VALID;
      for (const file of files) {
        const text = await textOf(file, machine);
        const digest = await digestOf(resultFile, machine);
        const options = { now, publicKey: keys, taskId, relaySuccession };
        const verdict = text === null || digest === null ? null : judge(text, options, digest);
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

function judge(text: string, options: VerifyOptions, digest: FileDigest | undefined): Verdict {
  const verdict = verifyArtifact(text, options);
  return digest === undefined ? verdict : verifyResultFile(verdict, parsedOf(text), digest);
}

function parsedOf(text: string): unknown {
  return parseJsonText(text)?.value;
}

/** Undefined where no file was named, null where it cannot be read. */
async function digestOf(
  file: string | undefined,
  { digest, err }: Machine,
): Promise<FileDigest | null | undefined> {
  if (file === undefined) return undefined;
  try {
    return await digest(file);
  } catch (error) {
    err(`agent-verify: ${file}: ${messageOf(error)}\n`);
    return null;
  }
}

/** Undefined where no file was named, null where it holds no list of steps. */
async function successionOf(
  file: string | undefined,
  machine: Machine,
): Promise<readonly unknown[] | null | undefined> {
  if (file === undefined) return undefined;
  const text = await textOf(file, machine);
  if (text === null) return null;
  const parsed = parsedOf(text);
  const list: unknown = Array.isArray(parsed)
    ? parsed
    : (parsed as { succession?: unknown } | null | undefined)?.succession;
  if (Array.isArray(list)) return list;
  machine.err(`agent-verify: ${file}: holds no succession of a relay's key\n`);
  return null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Strict, because a lenient decoder reads several files as one text, and only one of them was signed.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

async function textOf(file: string, { read, err }: Machine): Promise<string | null> {
  try {
    return utf8.decode(await read(file));
  } catch (error) {
    err(`agent-verify: ${file}: ${messageOf(error)}\n`);
    return null;
  }
}
