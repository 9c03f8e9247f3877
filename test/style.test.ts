import { describe, expect, it } from "vitest";
import type { Rule } from "./rules.ts";
import {
  commentsAreSentences,
  commentsUsePlainWords,
  constantsAreUpperCase,
  exportsHaveFullNames,
  foldersAreSmall,
  messagesSayMust,
  namesUsePlainWords,
} from "./style-rules.ts";
import { buildPackage } from "./synthetic-package.ts";
import { readWorkspace, type Package } from "./workspace.ts";

const workspace = readWorkspace();

interface Case {
  readonly rule: Rule;
  readonly files: Readonly<Record<string, string>>;
  readonly found: readonly string[];
}

const numberedFiles = (folder: string, count: number, suffix = ".ts") =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${folder}/file-${index}${suffix}`, ""]),
  );

const cases: Readonly<Record<string, Case>> = {
  "comments use no metaphors and no vague persons": {
    rule: commentsUsePlainWords,
    files: {
      "src/allowed.ts": `// A caller must wait.\nconst text = "nobody has to // knock at the door";\n`,
      "src/fee.ts": "const x = 1; // Nobody pays it.\n\n/**\n * A fee has\n * to be paid.\n */\n",
      "src/fee.test.ts": "/** The last rung\n * of the ladder. */\n",
    },
    found: [
      `packages/wire/src/fee.ts:1 "Nobody"`,
      `packages/wire/src/fee.ts:4 "has to"`,
      `packages/wire/src/fee.test.ts:1 "rung"`,
      `packages/wire/src/fee.test.ts:2 "ladder"`,
    ],
  },
  "comments are sentences, not noun clauses": {
    rule: commentsAreSentences,
    files: {
      "src/allowed.ts": "// Says what a task costs,\n// who pays it,\n// and how.\n",
      "src/fee.ts":
        "/** What a task costs. */\n\n// who pays it\n/**\n * How it is rounded.\n */\n",
    },
    found: [
      `packages/wire/src/fee.ts:1 begins with "What"`,
      `packages/wire/src/fee.ts:3 begins with "who"`,
      `packages/wire/src/fee.ts:4 begins with "How"`,
    ],
  },
  "names use the terms of the field": {
    rule: namesUsePlainWords,
    files: {
      "src/allowed.ts": `const standalone = /door/.test(row.told_at) || "lapse" in \`\${x} rung\`;\n`,
      "src/fee.ts": "// A rung.\nfunction climbLadder() {\n  return PEER_STANDING;\n}\n",
      "src/fee.test.ts": "interface HTTPDoor {}\n",
    },
    found: [
      `packages/wire/src/fee.ts:2 climbLadder has "climb"`,
      `packages/wire/src/fee.ts:3 PEER_STANDING has "standing"`,
      `packages/wire/src/fee.test.ts:1 HTTPDoor has "door"`,
    ],
  },
  'texts of sources say "must"': {
    rule: messagesSayMust,
    files: {
      "src/allowed.ts": `// It has to be.\nconst text = "must be positive";\n`,
      "src/fee.test.ts": `it("has to be allowed here");\n`,
      "src/fee.ts": 'const text = `${name} has to be positive`;\nf("they have to be equal");\n',
    },
    found: [
      `packages/wire/src/fee.ts:1 "has to" in a text`,
      `packages/wire/src/fee.ts:2 "have to" in a text`,
    ],
  },
  "a folder has at most 15 sources": {
    rule: foldersAreSmall,
    files: {
      ...numberedFiles("src/fees", 15),
      ...numberedFiles("src/fees", 15, ".test.ts"),
      ...numberedFiles("src/storage/tables", 16),
      ...numberedFiles("test/fees", 16),
      ...numberedFiles("src/tasks", 16),
    },
    found: ["packages/wire/src/tasks has 16 sources"],
  },
  "constants of a module are in upper case": {
    rule: constantsAreUpperCase,
    files: {
      "src/allowed.ts":
        "const MAX_FEE = 1;\nconst fee = parseFee(1);\nfunction f() {\n  const rate = 2;\n}\n",
      "src/fee.test.ts": "const fee = 1;\n",
      "src/fee.ts": [
        "const dayMs = 24 * 60 * 60_000;",
        "export const weekMs: number = 7 * DAY_MS;",
        'const name = "fee" as const;',
        "const share =\n  -0.5;",
        "const mask = 0xffn;",
        "",
      ].join("\n"),
    },
    found: [
      "packages/wire/src/fee.ts:1 dayMs is a constant in lower case",
      "packages/wire/src/fee.ts:2 weekMs is a constant in lower case",
      "packages/wire/src/fee.ts:3 name is a constant in lower case",
      "packages/wire/src/fee.ts:4 share is a constant in lower case",
      "packages/wire/src/fee.ts:6 mask is a constant in lower case",
    ],
  },
  "exported names of one word are on the list of those that are clear": {
    rule: exportsHaveFullNames,
    files: {
      "src/allowed.ts":
        "export function verify() {}\nexport const feeRate = f();\nexport interface fee {}\n",
      "src/fields.ts": "export const fee = v.number();\n",
      "src/fee.test.ts": "export const fee = f();\n",
      "src/fee.ts": "export const fee = f();\n\nexport async function charge() {}\n",
    },
    found: [
      "packages/wire/src/fee.ts:1 exports the single word fee",
      "packages/wire/src/fee.ts:3 exports the single word charge",
    ],
  },
};

const violations = (rule: Rule, packages: readonly Package[]) =>
  packages.flatMap((pkg) => [...rule(pkg, packages)]);

describe.each(Object.entries(cases))("%s", (_, { rule, files, found }) => {
  it("the rule of style holds in every file of this repository", () => {
    expect(violations(rule, workspace)).toEqual([]);
  });

  it("the rule of style finds its counter-example", () => {
    expect(violations(rule, [buildPackage("@agent/wire", { files })])).toEqual(found);
  });
});

it("the rules of style read the comments, texts and names of every package", () => {
  const sources = workspace.flatMap((pkg) => pkg.sources);
  for (const kind of ["comments", "strings", "names"] as const) {
    const tokens = sources.flatMap((source) => source[kind]);
    expect(tokens.length).toBeGreaterThan(1000);
  }
});
