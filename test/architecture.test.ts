import { describe, expect, it } from "vitest";
import {
  argumentsAreParsedInOnePlace,
  effectsStayAtTheEdge,
  exportsAreNamedOneByOne,
  filesAreNamedForOnePurpose,
  importsAreDeclared,
  layersPointDown,
  pureRunsAnywhere,
  referencesAreDependencies,
  relayKeepsItsFolders,
  relayReadsOneClock,
  toolsRunInOnePlace,
  type Rule,
} from "./rules.ts";
import { buildPackage } from "./synthetic-package.ts";
import { readWorkspace, type Package } from "./workspace.ts";

const workspace = readWorkspace();

const importing = (specifier: string) => `import { x } from "${specifier}";\n`;
const lazily = (specifier: string) => `const { x } = await import("${specifier}");\n`;

interface Case {
  readonly rule: Rule;
  readonly broken: readonly Package[];
  readonly found: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  "packages depend on lower layers only": {
    rule: layersPointDown,
    broken: [
      buildPackage("@agent/receipts", {
        dependencies: ["@agent/crypto", "@agent/budget", "valibot"],
      }),
      buildPackage("@agent/client", { dependencies: ["@agent/testkit"] }),
      buildPackage("@agent/wire", { devDependencies: ["@agent/testkit", "@agent/demo"] }),
      buildPackage("@agent/newcomer"),
    ],
    found: [
      "@agent/receipts must not depend on @agent/budget",
      "@agent/client must not depend on @agent/testkit",
      "@agent/wire must not be tested with @agent/demo",
      "@agent/newcomer has no place in the layers",
    ],
  },
  "project references are the workspace dependencies": {
    rule: referencesAreDependencies,
    broken: [
      buildPackage("@agent/wire", {
        dependencies: ["@agent/budget"],
        tsconfig: { extends: "", references: ["packages/crypto"] },
      }),
    ],
    found: [
      "@agent/wire does not refer to packages/budget",
      "@agent/wire refers to packages/crypto without depending on it",
    ],
  },
  "imports are declared, and enter a package by its exports": {
    rule: importsAreDeclared,
    broken: [
      buildPackage("@agent/wire", {
        dependencies: ["@agent/budget"],
        devDependencies: ["json-canonicalize"],
        files: {
          "src/allowed.ts": importing("@agent/budget") + importing("node:fs"),
          "src/allowed.test.ts": importing("json-canonicalize") + importing("vitest"),
          "src/undeclared.ts": importing("hono/cors"),
          "src/lazy.ts": lazily("ws"),
          "src/untested.ts": `export type { F } from "json-canonicalize";\n`,
          "src/deep.ts": importing("@agent/budget/src/fee.ts"),
          "src/relative.ts": importing("../../budget/src/fee.ts"),
        },
      }),
    ],
    found: [
      "packages/wire/src/undeclared.ts imports undeclared hono",
      "packages/wire/src/lazy.ts imports undeclared ws",
      "packages/wire/src/untested.ts imports undeclared json-canonicalize",
      "packages/wire/src/deep.ts reaches into @agent/budget/src/fee.ts",
      "packages/wire/src/relative.ts leaves its package: ../../budget/src/fee.ts",
    ],
  },
  "clock, chance, timers and process are named at the edge only": {
    rule: effectsStayAtTheEdge,
    broken: [
      buildPackage("@agent/budget", {
        files: {
          "src/allowed.ts": "// Never Date.now(): time is an argument.\nnew Date(now);\n",
          "src/allowed.node.ts": "Date.now();\n",
          "src/allowed.test.ts": "Date.now();\n",
          "src/main.ts": "process.exit();\n",
          "src/clock.ts": `const url = "http://a"; Date.now(); new Date();\n`,
          "src/chance.ts": "Math.random();\n",
        },
      }),
      buildPackage("@agent/relay", {
        files: {
          "src/main.ts": "process.exit(Date.now());\n",
          "src/storage/writing/batch-runner.ts": "setImmediate(f); Date.now();\n",
          "src/tasks/submit.ts": "fetch(url); setTimeout(f);\n",
        },
      }),
    ],
    found: [
      "packages/budget/src/main.ts uses process.",
      "packages/budget/src/clock.ts uses Date.now",
      "packages/budget/src/clock.ts uses Date()",
      "packages/budget/src/chance.ts uses Math.random",
      "packages/relay/src/storage/writing/batch-runner.ts uses Date.now",
      "packages/relay/src/tasks/submit.ts uses fetch(",
      "packages/relay/src/tasks/submit.ts uses setTimeout",
    ],
  },
  "A5: the relay reads the time from its one clock": {
    rule: relayReadsOneClock,
    broken: [
      buildPackage("@agent/relay", {
        files: {
          "src/main.ts":
            "createRelayClock({ wall: Date.now, monotonic: () => performance.now() });\n",
          "src/tasks/submit.ts": "runtime.now(); new Date(now).toISOString();\n",
          "src/tasks/submit.test.ts": "Date.now();\n",
          "src/tasks/expire.ts": "const now = new Date;\n",
          "src/tasks/store.ts": "sql`select unixepoch() as now`;\n",
          "src/jobs.ts": "const started = performance.now();\n",
        },
      }),
      buildPackage("@agent/relay", {
        files: {
          "src/main.ts":
            "createRelayClock({ wall: Date.now, monotonic: () => performance.now() });\nconst runtime = { now: Date.now };\n",
        },
      }),
    ],
    found: [
      "packages/relay/src/tasks/expire.ts reads the time by new Date",
      "packages/relay/src/tasks/store.ts reads the time by unixepoch",
      "packages/relay/src/jobs.ts reads the time by performance",
      "packages/relay/src/main.ts reads the time by Date.now",
    ],
  },
  "pure packages run on any platform": {
    rule: pureRunsAnywhere,
    broken: [
      buildPackage("@agent/budget", {
        tsconfig: { extends: "../../tsconfig.base.json", references: [] },
        files: {
          "src/allowed.node.ts": importing("node:fs"),
          "src/allowed.test.ts": importing("node:fs"),
          "src/file.ts": importing("node:fs"),
          "src/hash.ts": importing("crypto"),
        },
      }),
    ],
    found: [
      "@agent/budget is not compiled as pure",
      "packages/budget/src/file.ts imports node:fs",
      "packages/budget/src/hash.ts imports crypto",
    ],
  },
  "the relay keeps libraries and stores in their folders": {
    rule: relayKeepsItsFolders,
    broken: [
      buildPackage("@agent/relay", {
        files: {
          "src/app.ts": importing("hono") + importing("./tasks/routes.ts"),
          "src/tasks/store.ts": importing("../storage/queries/compiled-query.ts"),
          "src/tasks/submit.ts": importing("../agents/store.ts") + importing("./store.ts"),
          "src/tasks/cancel.ts": importing("hono"),
          "src/tasks/poll.ts": importing("../storage/queries/compiled-query.ts"),
          "src/tasks/settle.ts": importing("../budget/store.ts"),
          "src/webhooks/enqueue.ts": importing("../tasks/routes.ts"),
          "src/routing/rank.ts": importing("../tasks/task.ts"),
          "src/tasks/expire.ts":
            importing("../delivery/router.ts") + importing("../routing/price.ts"),
          "src/http/mount.ts": importing("../tasks/submit.ts"),
          "src/budget/store.ts": importing("kysely"),
        },
      }),
    ],
    found: [
      "packages/relay/src/tasks/cancel.ts must not import hono",
      "packages/relay/src/tasks/poll.ts must not import storage/queries/compiled-query.ts",
      "packages/relay/src/tasks/settle.ts must not import budget/store.ts",
      "packages/relay/src/webhooks/enqueue.ts must not import tasks/routes.ts",
      "packages/relay/src/routing/rank.ts must not import tasks/task.ts",
      "packages/relay/src/tasks/expire.ts must not import delivery/router.ts",
      "packages/relay/src/http/mount.ts must not import tasks/submit.ts",
      "packages/relay/src/budget/store.ts must not import kysely",
    ],
  },
  "E1: the agent server runs tools in one place, behind the offer and the policy": {
    rule: toolsRunInOnePlace,
    broken: [
      buildPackage("@agent/agent-server", {
        files: {
          "src/tools/calling/call-tool.ts": "tool.handler(args, context);\n",
          "src/http/new-entry.ts": "await registry.get(name)?.handler(args, context);\n",
          "src/testing/direct.ts": "// tool.handler(args)\n",
        },
      }),
    ],
    found: ["packages/agent-server/src/http/new-entry.ts uses .handler("],
  },
  "OP18: the arguments of a program are parsed in one place, by one rule": {
    rule: argumentsAreParsedInOnePlace,
    broken: [
      buildPackage("@agent/command-line", {
        files: { "src/parse-options.ts": "parseArgs({ options });\n" },
      }),
      buildPackage("@agent/verify", {
        files: {
          "src/command/new-command.node.ts": "const { values } = parseArgs({ options });\n",
          "src/command/new-command.test.ts": "parseArgs({ options });\n",
        },
      }),
    ],
    found: ["packages/verify/src/command/new-command.node.ts uses parseArgs"],
  },
  "files are in kebab case and named for one purpose": {
    rule: filesAreNamedForOnePurpose,
    broken: [
      buildPackage("@agent/wire", {
        files: {
          "src/migrations/001-initial.ts": "",
          "src/seal.node.ts": "",
          "src/submitTask.ts": "",
          "src/token-utils.ts": "",
          "src/common/fee.ts": "",
        },
      }),
    ],
    found: [
      "packages/wire/src/submitTask.ts is not in kebab case",
      "packages/wire/src/token-utils.ts says nothing about its purpose",
      "packages/wire/src/common/fee.ts says nothing about its purpose",
    ],
  },
  "exports are named one by one": {
    rule: exportsAreNamedOneByOne,
    broken: [
      buildPackage("@agent/wire", {
        files: {
          "vitest.config.ts": "export default {};\n",
          "src/one.ts": "export default 1;\n",
          "src/all.ts": `export * from "./one.ts";\n`,
        },
      }),
    ],
    found: [
      `packages/wire/src/one.ts has "export default"`,
      `packages/wire/src/all.ts has "export *"`,
    ],
  },
};

describe.each(Object.entries(cases))("%s", (_, { rule, broken, found }) => {
  const violations = (packages: readonly Package[], all = packages) =>
    packages.flatMap((pkg) => [...rule(pkg, all)]);

  it("the rule of the architecture holds in every package of this repository", () => {
    expect(violations(workspace)).toEqual([]);
  });

  it("the rule of the architecture finds its counter-example", () => {
    expect(violations(broken, [buildPackage("@agent/budget"), ...broken])).toEqual(found);
  });
});

it("every package of the workspace is read with its sources", () => {
  const read = workspace.filter(({ sources }) => sources.length > 0).map(({ name }) => name);
  expect(read).toEqual(expect.arrayContaining(["@agent/crypto", "@agent/relay"]));
  const imports = workspace.flatMap(({ sources }) => sources.flatMap((source) => source.imports));
  expect(imports).toEqual(expect.arrayContaining(["hono", "node:fs", "vitest", "./seal.node.ts"]));
});
