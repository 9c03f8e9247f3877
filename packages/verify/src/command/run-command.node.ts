import { formatError, parseJsonText } from "@agent/crypto";
import { formatFault, formatSafeJson, formatUsageRefusal } from "@agent/command-line";
import type { VerifyOptions } from "../artifacts/options.ts";
import type { NamedKey } from "../keys/named-keys.ts";
import { listRelayKeys } from "../list-relay-keys.ts";
import { type Outcome, getOutcome } from "../outcome.ts";
import { formatClaim, formatReport } from "../format-report.ts";
import { verifyLogProof } from "../log/verify-log-proof.ts";
import { type FileDigest, verifyResultFile } from "../result-file.ts";
import type { Verdict } from "../verdict.ts";
import { buildGeneralRefusal, verifyArtifact } from "../verify-artifact.ts";
import { parseArguments, type Request, USAGE } from "./parse-arguments.node.ts";
import { parseTrustFile } from "./trust-file.node.ts";

/** The system functions that the command uses. */
export interface CommandEnvironment {
  /** Returns the bytes of a file; `-` is the standard input. */
  readonly read: (file: string) => Promise<Uint8Array>;
  /** Returns the hash and the length of a file of any size. */
  readonly digest: (file: string) => Promise<FileDigest>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly now: () => number;
  readonly version: string;
}

const EXIT_VALID = 0;
const EXIT_INVALID = 1;
const EXIT_UNREADABLE = 2;
const EXIT_UNANCHORED = 3;

/** The exit codes, from the best to the worst. */
const exitCodesBySeverity = [EXIT_VALID, EXIT_UNANCHORED, EXIT_INVALID, EXIT_UNREADABLE];

/** Runs `agent-verify` and returns its exit code, which is the worst of all files. */
export async function runCommand(
  args: readonly string[],
  environment: CommandEnvironment,
): Promise<number> {
  const request = parseArguments(args);
  switch (request.ask) {
    case "help":
      environment.out(USAGE);
      return EXIT_VALID;
    case "version":
      environment.out(`${environment.version}\n`);
      return EXIT_VALID;
    case "refused":
      return refuseCall(request.message, args.includes("--json"), environment);
    case "verify":
      return verifyFiles(request, environment);
  }
}

function refuseCall(message: string, isJson: boolean, { out, err }: CommandEnvironment): number {
  const refusal = formatUsageRefusal({ program: "agent-verify", message, isJson });
  if (refusal.out !== "") out(refusal.out);
  err(refusal.err);
  return EXIT_UNREADABLE;
}

type VerifyRequest = Extract<Request, { readonly ask: "verify" }>;

async function verifyFiles(
  request: VerifyRequest,
  environment: CommandEnvironment,
): Promise<number> {
  const { files, json, taskId, resultFile, log, now = environment.now() } = request;
  const named = await loadExpectedKeys(request, environment);
  // Without the requested trust file, artifacts that it would refuse would be reported as unanchored.
  if (!named.ok) return refuseOptionFile(named.message, json, environment);
  const succession = await loadSuccession(request.successionFile, environment);
  if (!succession.ok) return refuseOptionFile(succession.message, json, environment);
  const proof = await readIfNamed(request.proofFile, environment);
  if (!proof.ok) return refuseOptionFile(proof.message, json, environment);
  const options = { now, publicKey: named.keys, taskId, relaySuccession: succession.steps, log };
  let worst = EXIT_VALID;
  for (const file of files) {
    const read = await readText(file, environment);
    const digest = await digestIfNamed(resultFile, environment);
    const fault = [read, digest].find((each) => !each.ok);
    if (fault !== undefined) environment.err(`agent-verify: ${fault.message}\n`);
    const text = read.ok && digest.ok ? read.text : null;
    const parts = { file, text, proof: proof.text, options, request };
    const code = verifyText(
      { ...parts, digest: digest.ok ? digest.digest : undefined },
      environment,
    );
    if (exitCodesBySeverity.indexOf(code) > exitCodesBySeverity.indexOf(worst)) worst = code;
  }
  return worst;
}

/** A file with everything that it is verified with. */
interface FileRequest {
  readonly file: string;
  /** Null if the file, or the one that its result refers to, cannot be read. */
  readonly text: string | null;
  readonly digest: FileDigest | undefined;
  readonly proof: string | undefined;
  readonly options: VerifyOptions;
  readonly request: VerifyRequest;
}

type ReadableFile = FileRequest & { readonly text: string };

/** Verifies one file, prints the result and returns its exit code. */
function verifyText(parts: FileRequest, { out, err }: CommandEnvironment): number {
  const { text, request } = parts;
  if (text === null && !request.json) return EXIT_UNREADABLE;
  const result =
    text === null
      ? describeFile(parts, buildGeneralRefusal("artifact.unreadable"), null)
      : describeOrRefuse({ ...parts, text }, err);
  out(result.text);
  return result.exitCode;
}

/** A failure of the verifier must not hide its verdicts on the files after this one. */
function describeOrRefuse(parts: ReadableFile, err: CommandEnvironment["err"]): FileResult {
  try {
    // Proofs and checkpoints are not JSON; their text is the artifact.
    const artifact = parseJsonText(parts.text)?.value ?? parts.text;
    return describeFile(parts, verifyFile(parts, artifact), artifact);
  } catch (error) {
    err(`agent-verify: ${parts.file}: ${formatError(error)}\n`);
    return describeFile(parts, buildGeneralRefusal("artifact.verifier_failed"), null);
  }
}

function verifyFile({ text, digest, proof, options }: ReadableFile, artifact: unknown): Verdict {
  const alone = verifyArtifact(text, options);
  const withFile = digest === undefined ? alone : verifyResultFile(alone, artifact, digest);
  return verifyLogProof(withFile, artifact, proof, options);
}

/** The output for a file, and its exit code. */
interface FileResult {
  readonly text: string;
  readonly exitCode: number;
}

function describeFile(
  { file, options, proof, request }: FileRequest,
  verdict: Verdict,
  artifact: unknown,
): FileResult {
  const outcome = getOutcome(verdict, options);
  const exitCode = getExitCode(verdict, outcome, request);
  if (request.json) {
    const claim = formatClaim(verdict, artifact, options);
    const shown = toJsonVerdict(verdict, outcome, request);
    return { text: `${formatSafeJson({ file, ...shown, verdict: outcome, claim })}\n`, exitCode };
  }
  const name = file === "-" ? "standard input" : file.replaceAll(/\p{C}/gu, "?");
  const { explain } = request;
  const report = formatReport(verdict, artifact, { ...options, explain, proofFile: proof });
  return { text: `${name}: ${report}`, exitCode };
}

function getExitCode(
  { kind }: Verdict,
  outcome: Outcome,
  { allowUnanchored }: VerifyRequest,
): number {
  if (kind === null) return EXIT_UNREADABLE;
  if (outcome === "unanchored") return allowUnanchored ? EXIT_VALID : EXIT_UNANCHORED;
  return outcome === "valid" ? EXIT_VALID : EXIT_INVALID;
}

/**
 * Replaces `valid` if the exit code is not that of a valid artifact, for readers that look only at `valid`.
 */
function toJsonVerdict(verdict: Verdict, outcome: Outcome, { allowUnanchored }: VerifyRequest) {
  return outcome === "unanchored" && !allowUnanchored
    ? { ...verdict, valid: false, code: "artifact.unanchored" }
    : verdict;
}

type Refused = { readonly ok: false; readonly message: string };

/** A file that an option names decides about every verdict, so that nothing is verified without it. */
function refuseOptionFile(
  message: string,
  isJson: boolean,
  { out, err }: CommandEnvironment,
): number {
  if (isJson) out(formatFault({ code: "command.invalid", message, status: 0 }));
  err(`agent-verify: ${message}\n`);
  return EXIT_UNREADABLE;
}

/** Loads the keys of `--key` and of every `--trust`; undefined if neither was given. */
async function loadExpectedKeys(
  { keys, trustFiles }: VerifyRequest,
  environment: CommandEnvironment,
): Promise<{ readonly ok: true; readonly keys: readonly NamedKey[] | undefined } | Refused> {
  const all = [...(keys ?? [])];
  for (const file of trustFiles) {
    const read = await readText(file, environment);
    if (!read.ok) return read;
    const trusted = parseTrustFile(read.text);
    if (!trusted.ok) return { ok: false, message: `${file}: ${trusted.message}` };
    all.push(...trusted.keys);
  }
  return { ok: true, keys: all.length === 0 ? undefined : all };
}

async function digestIfNamed(
  file: string | undefined,
  { digest }: CommandEnvironment,
): Promise<{ readonly ok: true; readonly digest: FileDigest | undefined } | Refused> {
  if (file === undefined) return { ok: true, digest: undefined };
  try {
    return { ok: true, digest: await digest(file) };
  } catch (error) {
    return { ok: false, message: `${file}: ${formatError(error)}` };
  }
}

function isRelaySuccession(steps: readonly unknown[]): boolean {
  return steps.length === 0 || listRelayKeys({ relaySuccession: steps }).length > 0;
}

/** Loads a list of succession records. */
async function loadSuccession(
  file: string | undefined,
  environment: CommandEnvironment,
): Promise<{ readonly ok: true; readonly steps: readonly unknown[] | undefined } | Refused> {
  if (file === undefined) return { ok: true, steps: undefined };
  const read = await readText(file, environment);
  if (!read.ok) return read;
  const parsed = parseJsonText(read.text)?.value;
  const list: unknown = Array.isArray(parsed)
    ? parsed
    : (parsed as { succession?: unknown } | null | undefined)?.succession;
  // An invalid chain ends no key, so a stolen former key would still count.
  if (Array.isArray(list) && isRelaySuccession(list)) return { ok: true, steps: list };
  return { ok: false, message: `${file}: holds no unbroken succession of a relay's key` };
}

// Strict, because a lenient decoder reads different files as the same text, and only one of them
// was signed.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

async function readText(
  file: string,
  { read }: CommandEnvironment,
): Promise<{ readonly ok: true; readonly text: string } | Refused> {
  try {
    return { ok: true, text: utf8.decode(await read(file)) };
  } catch (error) {
    return { ok: false, message: `${file}: ${formatError(error)}` };
  }
}

async function readIfNamed(
  file: string | undefined,
  environment: CommandEnvironment,
): Promise<{ readonly ok: true; readonly text: string | undefined } | Refused> {
  return file === undefined ? { ok: true, text: undefined } : readText(file, environment);
}
