import type { VerifyOptions } from "./artifacts/options.ts";
import { verifyBundle } from "./bundle/verify.ts";
import type { Claim } from "./claim/claim.ts";
import { claimOf } from "./claim/claim-of.ts";
import { printable } from "./claim/words.ts";
import { isRelaySigned, outcomeOf, type Outcome } from "./outcome.ts";
import { type Rung, RUNGS } from "./rungs.ts";
import type { Check, Verdict } from "./verdict.ts";

export interface ReportOptions extends VerifyOptions {
  /** Adds every rung with what it proves and what it does not. */
  readonly explain?: boolean | undefined;
}

/**
 * A verdict for people: the claim in words, the verdict, and the rungs that do not hold. Lines end with a
 * line feed.
 *
 * @param artifact the parsed artifact that the verdict is about
 * @param options those that it was judged with
 */
export function reportOf(verdict: Verdict, artifact: unknown, options: ReportOptions = {}): string {
  const lines = [
    ...claimLines(verdict, artifact, options),
    ...verdictLines(verdict, artifact, options),
  ];
  const rungs = options.explain === true ? explainedRungs(verdict) : failedRungs(verdict);
  const [first = "", ...rest] = lines;
  return [first, ...rest.map((line) => `  ${line}`), ...rungs].map((line) => `${line}\n`).join("");
}

const PREFIX: Readonly<Record<Outcome, string>> = {
  valid: "",
  unanchored: "claimed: ",
  refused: "not proven: ",
};

/** What the artifact says and by whose word, the most important line first. */
export function claimLines(verdict: Verdict, artifact: unknown, options: VerifyOptions): string[] {
  const judged = contentVerdict(verdict, artifact, options) ?? verdict;
  const claim = claimOf(judged, artifact);
  const prefix = PREFIX[outcomeOf(verdict, options)];
  if (claim === null || judged.kind === null) return [`${prefix}it says nothing that can be read`];
  const signature = signedBy(claim, judged, options);
  return isRelaySigned(judged.kind)
    ? [`${prefix}${claim.statement}`, ...claim.details, signature]
    : [`${prefix}${claim.statement}; ${signature}`, ...claim.details];
}

/** Who signed, by which key, and whether the caller vouched for that key. */
function signedBy(
  { signer, key }: Claim,
  { kind, valid, checks }: Verdict,
  { publicKey }: VerifyOptions,
): string {
  if (signer === null) return "it is not signed";
  const by = kind !== null && isRelaySigned(kind) ? "by the word of" : "signed by";
  const words = `${by} ${signer}, ${key === null ? "with a key that is not in it" : `key ${printable(key)}`}`;
  if (publicKey === undefined) {
    return `${words}, which is not vouched for (name it with --key or --trust)`;
  }
  if (valid) return `${words}, which you named`;
  const isUnbound = checks.some(({ name, ok }) => name === "key_bound" && !ok);
  return isUnbound ? `${words}, which is none of those that you named` : words;
}

/** The verdict on the members of a bundle whose text was reformatted; undefined for anything else. */
function contentVerdict(
  { code }: Verdict,
  artifact: unknown,
  options: VerifyOptions,
): Verdict | undefined {
  return code === "bundle.not_canonical" ? verifyBundle(artifact, options) : undefined;
}

function verdictLines(verdict: Verdict, artifact: unknown, options: VerifyOptions): string[] {
  const content = contentVerdict(verdict, artifact, options);
  if (content === undefined) return [headOf(verdict, outcomeOf(verdict, options))];
  const members = content.valid
    ? "its members are those that were signed, its text is not: ask for the file as it came"
    : `and its members are refused, ${content.code}`;
  return [`${headOf(verdict, "refused")}: reformatted, ${members}`];
}

function headOf({ kind, code }: Verdict, outcome: Outcome): string {
  const name = kind?.replace("_", " ") ?? "no known artifact";
  return code === undefined ? `${name}: ${outcome}` : `${name}: ${outcome}, ${code}`;
}

function explainedRungs(verdict: Verdict): string[] {
  const rungs = RUNGS.map((rung) => lineOf(verdict, rung, "  ", explained(rung)));
  return [...rungs, ...insideOf(verdict, "  ")];
}

/** The rungs that do not hold, of the artifact and of those inside it. */
function failedRungs(verdict: Verdict, indent = "  "): string[] {
  const failed = RUNGS.filter(({ name }) =>
    verdict.checks.some((check) => check.name === name && !check.ok),
  );
  return [
    ...failed.map((rung) => lineOf(verdict, rung, indent, "")),
    ...verdict.nested.flatMap((inner) => {
      const lines = failedRungs(inner, `${indent}  `);
      return lines.length === 0 ? [] : [`${indent}inside: ${innerHead(inner)}`, ...lines];
    }),
  ];
}

function insideOf({ nested }: Verdict, indent: string): string[] {
  return nested.flatMap((inner) => [
    `${indent}inside: ${innerHead(inner)}`,
    ...RUNGS.filter(({ name }) => inner.checks.some((check) => check.name === name)).map((rung) =>
      lineOf(inner, rung, `${indent}  `, ""),
    ),
    ...insideOf(inner, `${indent}  `),
  ]);
}

/** What is inside was judged by the keys that the artifact around it names. */
function innerHead(verdict: Verdict): string {
  return headOf(verdict, verdict.valid ? "valid" : "refused");
}

const titleWidth = Math.max(...RUNGS.map(({ title }) => title.length));

function lineOf({ checks }: Verdict, { name, title }: Rung, indent: string, text: string): string {
  const check = checks.find((each) => each.name === name);
  const said = check === undefined ? "nothing to judge it by" : (check.code ?? text);
  return `${indent}${markOf(check)}  ${title.padEnd(titleWidth)}  ${said}`.trimEnd();
}

function markOf(check: Check | undefined): string {
  if (check === undefined) return "--";
  return check.ok ? "ok" : "NO";
}

function explained({ proves, doesNotProve }: Rung): string {
  return `${proves} Not: ${doesNotProve}`;
}
