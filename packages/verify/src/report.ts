import { type Rung, RUNGS } from "./rungs.ts";
import type { Check, Verdict } from "./verdict.ts";

/**
 * A verdict for people: every rung of the ladder with what it proves and what it leaves open, and in
 * short the rungs of what is inside. Lines end with a line feed.
 */
export function reportOf(verdict: Verdict): string {
  const rungs = RUNGS.map((rung) => lineOf(verdict, rung, "  ", explained(rung)));
  return [headOf(verdict), ...rungs, ...insideOf(verdict, "  ")]
    .map((line) => `${line}\n`)
    .join("");
}

function insideOf({ nested }: Verdict, indent: string): string[] {
  return nested.flatMap((inner) => [
    `${indent}inside: ${headOf(inner)}`,
    ...RUNGS.filter(({ name }) => inner.checks.some((check) => check.name === name)).map((rung) =>
      lineOf(inner, rung, `${indent}  `, ""),
    ),
    ...insideOf(inner, `${indent}  `),
  ]);
}

function headOf({ kind, valid, code }: Verdict): string {
  const name = kind?.replace("_", " ") ?? "no known artifact";
  return valid ? `${name}: valid` : `${name}: refused, ${code}`;
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
