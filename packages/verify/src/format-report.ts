import { readJsonText } from "@agent/crypto";
import type { VerifyOptions } from "./artifacts/options.ts";
import { verifyBundle } from "./bundle/verify-bundle.ts";
import type { Claim } from "./claim/claim.ts";
import { getClaim } from "./claim/get-claim.ts";
import { toPrintable } from "./claim/format.ts";
import { formatLogLines } from "./log/format-log-lines.ts";
import { parseDidKey } from "./expected-key.ts";
import { listNamedKeys } from "./keys/named-keys.ts";
import { isRelaySigned, getOutcome, type Outcome } from "./outcome.ts";
import { type ProofLevel, PROOF_LEVELS } from "./proof-levels.ts";
import type { CheckResult, Verdict } from "./verdict.ts";

/** The options that the artifact was verified with, and the length of the report. */
export interface ReportOptions extends VerifyOptions {
  /** Adds every proof level with the facts that it proves and that it does not. */
  readonly explain?: boolean | undefined;
  /** The proof file that the artifact was verified with. */
  readonly proofFile?: string | undefined;
}

/**
 * Formats a verdict for people: the claim in words, the verdict, and the failed proof levels. Lines
 * end with a line feed.
 *
 * @param artifact the parsed artifact that the verdict is about
 * @param options those that it was verified with
 */
export function formatReport(
  verdict: Verdict,
  artifact: unknown,
  options: ReportOptions = {},
): string {
  const lines = [
    ...formatClaim(verdict, artifact, options),
    ...formatVerdict(verdict, artifact, options),
    ...formatLogLines(verdict, artifact, options, options.proofFile),
  ];
  const levelLines =
    options.explain === true ? formatAllLevels(verdict) : formatFailedLevels(verdict);
  const [first = "", ...rest] = lines;
  return [first, ...rest.map((line) => `  ${line}`), ...levelLines]
    .map((line) => `${line}\n`)
    .join("");
}

const outcomePrefixes: Readonly<Record<Outcome, string>> = {
  valid: "",
  unanchored: "claimed: ",
  refused: "not proven: ",
};

/** Returns the statement of the artifact and its signer, the most important line first. */
export function formatClaim(verdict: Verdict, artifact: unknown, options: VerifyOptions): string[] {
  const content = verifyContent(verdict, artifact, options) ?? verdict;
  const claim = getClaim(content, artifact, options);
  const prefix = outcomePrefixes[getOutcome(verdict, options)];
  if (claim === null || content.kind === null) return [`${prefix}it says nothing that can be read`];
  const signature = formatSigner(claim, content, options);
  return isRelaySigned(content.kind)
    ? [`${prefix}${claim.statement}`, ...claim.details, signature]
    : [`${prefix}${claim.statement}; ${signature}`, ...claim.details];
}

/** Returns the signer, the key and whether the caller named that key. */
function formatSigner(
  { signer, key }: Claim,
  { kind, valid, checks }: Verdict,
  { publicKey }: VerifyOptions,
): string {
  if (signer === null) return "it is not signed";
  const by = kind !== null && isRelaySigned(kind) ? "as stated by" : "signed by";
  const words = `${by} ${signer}, ${key === null ? "with a key that is not in it" : `key ${toPrintable(key)}`}`;
  if (kind === "log_proof" || kind === "checkpoint")
    return valid ? "signed by the log key that you named" : words;
  if (publicKey === undefined) {
    return `${words}, which you have not named (name it with --key or --trust)`;
  }
  if (valid) return `${words}, which you named`;
  const isUnbound = checks.some(({ name, ok }) => name === "key_bound" && !ok);
  if (!isUnbound) return words;
  const hex = parseDidKey(key) ?? key;
  return listNamedKeys(publicKey).some((each) => each.publicKey === hex)
    ? `${words}, which you did not name for this signer (KEY=agent:ID or KEY=relay:ID does)`
    : `${words}, which is none of those that you named`;
}

/** Verifies the members of a bundle whose text was reformatted; undefined for anything else. */
function verifyContent(
  { code }: Verdict,
  artifact: unknown,
  options: VerifyOptions,
): Verdict | undefined {
  return code === "bundle.not_canonical" ? verifyBundle(artifact, options) : undefined;
}

function formatVerdict(verdict: Verdict, artifact: unknown, options: VerifyOptions): string[] {
  const content = verifyContent(verdict, artifact, options);
  if (content === undefined) {
    const head = formatHead(verdict, getOutcome(verdict, options));
    return [head + formatRemedy(verdict) + formatTextFault(verdict, artifact)];
  }
  const members = content.valid
    ? "its members are those that were signed, its text is not: ask for the file as it came"
    : `and its members are refused, ${content.code}`;
  return [`${formatHead(verdict, "refused")}: reformatted, ${members}`];
}

/** Returns the missing or correct input that the verifier must supply. */
function formatRemedy({ kind, code }: Verdict): string {
  if (code === "artifact.unrecognised") {
    return ": one artifact of a kind that --help lists is needed";
  }
  if (kind === "bundle") return "";
  if (code === "log.entry_missing") return ": --proof takes the file that proves it";
  if (code === "log.key_unknown") return ": --log takes the key of its log";
  const isOfProof = code === "log.malformed" || code === "log.entry_malformed";
  const isProof = kind === "log_proof" || kind === "checkpoint";
  return isOfProof && !isProof ? ": the file of --proof has another form than a proof" : "";
}

/** Returns the rule that an unreadable text breaks, and the member; such a text has no parsed artifact. */
function formatTextFault({ code }: Verdict, artifact: unknown): string {
  if (code !== "artifact.unreadable" || typeof artifact !== "string") return "";
  const read = readJsonText(artifact);
  if (!("fault" in read)) return "";
  const { path, message } = read.fault;
  return path === "" ? `: ${message}` : `: ${toPrintable(path)} ${message}`;
}

function formatHead({ kind, code }: Verdict, outcome: Outcome): string {
  const name = kind?.replace("_", " ") ?? "no known artifact";
  return code === undefined ? `${name}: ${outcome}` : `${name}: ${outcome}, ${code}`;
}

function formatAllLevels(verdict: Verdict): string[] {
  const levelLines = PROOF_LEVELS.map((level) =>
    formatLine(verdict, level, "  ", formatExplanation(level)),
  );
  return [...levelLines, ...formatNested(verdict, "  ")];
}

/** Formats the failed proof levels of the artifact and of those inside it. */
function formatFailedLevels(verdict: Verdict, indent = "  "): string[] {
  const failed = PROOF_LEVELS.filter(({ name }) =>
    verdict.checks.some((check) => check.name === name && !check.ok),
  );
  return [
    ...failed.map((level) => formatLine(verdict, level, indent, "")),
    ...verdict.nested.flatMap((inner) => {
      const lines = formatFailedLevels(inner, `${indent}  `);
      return lines.length === 0 ? [] : [`${indent}inside: ${formatNestedHead(inner)}`, ...lines];
    }),
  ];
}

function formatNested({ nested }: Verdict, indent: string): string[] {
  return nested.flatMap((inner) => [
    `${indent}inside: ${formatNestedHead(inner)}`,
    ...PROOF_LEVELS.filter(({ name }) => inner.checks.some((check) => check.name === name)).map(
      (level) => formatLine(inner, level, `${indent}  `, ""),
    ),
    ...formatNested(inner, `${indent}  `),
  ]);
}

/** Inner artifacts are verified with keys that the outer one names, so they are never unanchored. */
function formatNestedHead(verdict: Verdict): string {
  return formatHead(verdict, verdict.valid ? "valid" : "refused");
}

const TITLE_WIDTH = Math.max(...PROOF_LEVELS.map(({ title }) => title.length));

function formatLine(
  { checks }: Verdict,
  { name, title }: ProofLevel,
  indent: string,
  text: string,
): string {
  const check = checks.find((each) => each.name === name);
  const detail = check === undefined ? "nothing to verify" : (check.code ?? text);
  return `${indent}${formatMark(check)}  ${title.padEnd(TITLE_WIDTH)}  ${detail}`.trimEnd();
}

function formatMark(check: CheckResult | undefined): string {
  if (check === undefined) return "--";
  return check.ok ? "ok" : "NO";
}

function formatExplanation({ proves, doesNotProve }: ProofLevel): string {
  return `${proves} It does not prove ${doesNotProve}`;
}
