import { dirname } from "node:path";
import type { Token } from "./read-tokens.ts";
import type { Rule } from "./rules.ts";
import type { Package, Source } from "./workspace.ts";

/** Permitted violations, as `<file> <the violating text>`, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

/** Figures of speech for which the field has a term. */
const METAPHORS = [
  "abroad",
  "climb",
  "climbs",
  "climbed",
  "door",
  "doors",
  "hire",
  "hires",
  "hired",
  "hiring",
  "hurry",
  "ladder",
  "ladders",
  "lapse",
  "lapses",
  "lapsed",
  "lapsing",
  "mandate",
  "mandates",
  "parcel",
  "parcels",
  "patience",
  "rung",
  "rungs",
  "weather",
];

/** Acceptable in a sentence, but a name made of them does not say what it does. */
const VAGUE_NAMES = [
  "beat",
  "beats",
  "bring",
  "brings",
  "fading",
  "fadings",
  "forget",
  "forgets",
  "forgotten",
  "judge",
  "judged",
  "judges",
  "standing",
  "standings",
  "tell",
  "tells",
  "teller",
  "told",
];

const VAGUE_PERSONS = ["anybody", "everybody", "nobody", "somebody", "whoever"];

const BANNED_IN_COMMENTS = new RegExp(
  String.raw`\b(?:${[...METAPHORS, ...VAGUE_PERSONS].join("|")}|ha(?:s|ve)\s+to)\b`,
  "gi",
);
const BANNED_IN_NAMES = new Set([...METAPHORS, ...VAGUE_NAMES, ...VAGUE_PERSONS]);

export const commentsUsePlainWords: Rule = function* (pkg) {
  for (const source of pkg.sources) {
    for (const comment of source.comments) {
      for (const { index, 0: found } of comment.text.matchAll(BANNED_IN_COMMENTS)) {
        yield* violation(pkg, source, lineOf(comment, index), `"${found.replace(/\s+/, " ")}"`);
      }
    }
  }
};

export const commentsAreSentences: Rule = function* (pkg) {
  for (const source of pkg.sources) {
    for (const { line, text } of source.comments) {
      const found = /^\s*(what|who|whom|whoever|how)\b/i.exec(text)?.[1];
      if (found !== undefined) yield* violation(pkg, source, line, `begins with "${found}"`);
    }
  }
};

export const namesUsePlainWords: Rule = function* (pkg) {
  for (const source of pkg.sources) {
    for (const { line, text } of source.names) {
      // Columns and fields of messages keep their names.
      if (/^[a-z\d]+(_[a-z\d]+)+$/.test(text)) continue;
      const found = wordsOf(text).find((word) => BANNED_IN_NAMES.has(word));
      if (found !== undefined) yield* violation(pkg, source, line, `${text} has "${found}"`);
    }
  }
};

export const messagesSayMust: Rule = function* (pkg) {
  for (const source of pkg.sources) {
    if (source.isTest) continue;
    for (const { line, text } of source.strings) {
      const found = /\bha(?:s|ve) to\b/i.exec(text)?.[0];
      if (found !== undefined) yield* violation(pkg, source, line, `"${found}" in a text`);
    }
  }
};

const MAX_SOURCES_PER_FOLDER = 15;

/** Migrations and tables are lists by nature. */
const LISTS = /(^|\/)(migrations|tables)$/;

export const foldersAreSmall: Rule = function* (pkg) {
  const counts = new Map<string, number>();
  for (const { path, isTest } of pkg.sources) {
    const folder = dirname(path);
    if (!isTest && !LISTS.test(folder)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  for (const [folder, count] of counts) {
    if (count > MAX_SOURCES_PER_FOLDER) yield `${pkg.folder}/${folder} has ${count} sources`;
  }
};

const NUMBER = String.raw`(?:0x[\da-f_]+|[\d_]+(?:\.\d+)?(?:e[+-]?\d+)?)n?`;
const OPERAND = String.raw`[-(]*(?:${NUMBER}|[A-Z][A-Z\d_]*)\)*`;
const MODULE_CONSTANT = new RegExp(
  String.raw`^(?:export )?const (\w+)(?:: \w+)? =\s+(?:${OPERAND}(?:\s+(?:\*\*?|[-+/])\s+${OPERAND})*|"[^"\n]*")(?: as const)?;$`,
  "gm",
);

export const constantsAreUpperCase: Rule = function* (pkg) {
  for (const source of pkg.sources) {
    if (source.isTest) continue;
    for (const { index, 1: name = "" } of source.code.matchAll(MODULE_CONSTANT)) {
      if (/^[A-Z][A-Z\d]*(_[A-Z\d]+)*$/.test(name)) continue;
      const line = lineOf({ line: 1, text: source.code }, index);
      yield* violation(pkg, source, line, `${name} is a constant in lower case`);
    }
  }
};

/** Schemas are named after their field, tables of operations after their feature, migrations after their file. */
const NAMED_FOR_FILES = /(^|\/)(fields\.ts|operations\/.+|migrations\/.+)$/;

/** Verbs and tables of the domain that are clear as a single word. */
const WHOLE_NAMES = [
  "authorize",
  "canonicalize",
  "commands",
  "compile",
  "either",
  "delegate",
  "deposit",
  "errors",
  "freeze",
  "limits",
  "migrate",
  "negate",
  "normalize",
  "operations",
  "param",
  "sensitivities",
  "refusal",
  "params",
  "owner",
  "issuer",
  "call",
  "rank",
  "reconcile",
  "refuse",
  "retry",
  "scopes",
  "serve",
  "sign",
  "simulate",
  "sleep",
  "tools",
  "unfreeze",
  "validate",
  "variables",
  "verify",
  "version",
];

const SINGLE_WORD_EXPORT = /^export (?:async )?(?:const|function\*?|let) ([a-z]+)\b/gm;

export const exportsHaveFullNames: Rule = function* (pkg) {
  for (const source of pkg.sources) {
    if (source.isTest || NAMED_FOR_FILES.test(source.path)) continue;
    for (const { index, 1: name = "" } of source.code.matchAll(SINGLE_WORD_EXPORT)) {
      if (WHOLE_NAMES.includes(name)) continue;
      const line = lineOf({ line: 1, text: source.code }, index);
      yield* violation(pkg, source, line, `exports the single word ${name}`);
    }
  }
};

/** `getHTTPStatus`, `HTTP_STATUS` and `http-status` consist of the same words. */
const wordsOf = (name: string): string[] =>
  name
    .split(/[_$]|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .map((word) => word.toLowerCase());

const lineOf = ({ line, text }: Token, index: number): number =>
  line + text.slice(0, index).split("\n").length - 1;

function* violation(pkg: Package, source: Source, line: number, text: string): Iterable<string> {
  const file = `${pkg.folder}/${source.path}`;
  if (!(`${file} ${text}` in EXCEPTIONS)) yield `${file}:${line} ${text}`;
}
