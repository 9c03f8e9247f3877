import { parseJsonText } from "@agent/crypto";
import type { VerifyOptions } from "../artifacts/options.ts";
import { type Outcome, outcomeOf } from "../outcome.ts";
import { claimLines, reportOf } from "../report.ts";
import { type FileDigest, verifyResultFile } from "../result-file.ts";
import type { Verdict } from "../verdict.ts";
import { verifyArtifact } from "../verify-artifact.ts";
import { readArguments, type Request, USAGE } from "./arguments.node.ts";
import { readTrustFile } from "./trust-file.node.ts";

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
const UNANCHORED = 3;

/** The exit codes from the best to the worst. */
const RANKING = [VALID, UNANCHORED, INVALID, UNREADABLE];

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
    case "verify":
      return verifyFiles(request, machine);
  }
}

type VerifyRequest = Extract<Request, { readonly ask: "verify" }>;

async function verifyFiles(request: VerifyRequest, machine: Machine): Promise<number> {
  const { files, taskId, resultFile, now = machine.now() } = request;
  const named = await namedKeys(request, machine);
  // Judging without a file of keys that was asked for would call unanchored what it refuses.
  if (!named.ok) return UNREADABLE;
  const relaySuccession = await successionOf(request.successionFile, machine);
  if (relaySuccession === null) return UNREADABLE;
  const options = { now, publicKey: named.keys, taskId, relaySuccession };
  let worst = VALID;
  for (const file of files) {
    const text = await textOf(file, machine);
    const digest = await digestOf(resultFile, machine);
    const code =
      text === null || digest === null
        ? UNREADABLE
        : verifyText({ file, text, digest, options, request }, machine);
    if (RANKING.indexOf(code) > RANKING.indexOf(worst)) worst = code;
  }
  return worst;
}

/** Judges one file, says so, and answers its exit code. */
function verifyText(
  parts: {
    readonly file: string;
    readonly text: string;
    readonly digest: FileDigest | undefined;
    readonly options: VerifyOptions;
    readonly request: VerifyRequest;
  },
  { out }: Machine,
): number {
  const { file, text, digest, options, request } = parts;
  const artifact = parseJsonText(text)?.value;
  const judged = verifyArtifact(text, options);
  const verdict = digest === undefined ? judged : verifyResultFile(judged, artifact, digest);
  const outcome = outcomeOf(verdict, options);
  if (request.json) {
    const claim = claimLines(verdict, artifact, options);
    out(
      `${JSON.stringify({ file, ...inJson(verdict, outcome, request), verdict: outcome, claim })}\n`,
    );
  } else {
    const name = file === "-" ? "standard input" : file.replaceAll(/\p{C}/gu, "?");
    out(`${name}: ${reportOf(verdict, artifact, { ...options, explain: request.explain })}`);
  }
  if (verdict.kind === null) return UNREADABLE;
  if (outcome === "unanchored") return request.allowUnanchored ? VALID : UNANCHORED;
  return outcome === "valid" ? VALID : INVALID;
}

/** A reader of `valid` alone must not take for valid what the exit code does not. */
function inJson(verdict: Verdict, outcome: Outcome, { allowUnanchored }: VerifyRequest) {
  return outcome === "unanchored" && !allowUnanchored
    ? { ...verdict, valid: false, code: "artifact.unanchored" }
    : verdict;
}

/** The keys of `--key` and of every `--trust`; undefined where neither was given. */
async function namedKeys(
  { keys, trustFiles }: VerifyRequest,
  machine: Machine,
): Promise<
  { readonly ok: true; readonly keys: readonly string[] | undefined } | { readonly ok: false }
> {
  const all = [...(keys ?? [])];
  for (const file of trustFiles) {
    const text = await textOf(file, machine);
    if (text === null) return { ok: false };
    const read = readTrustFile(text);
    if (!read.ok) {
      machine.err(`agent-verify: ${file}: ${read.message}\n`);
      return { ok: false };
    }
    all.push(...read.keys);
  }
  return { ok: true, keys: all.length === 0 ? undefined : all };
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
  const parsed = parseJsonText(text)?.value;
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
