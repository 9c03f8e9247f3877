import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import type { Reporter } from "vitest/node";

const conditions = ["agent-source", "module", "node", "development|production"];

/** One plain closing line that CI can read. */
const tally: Reporter = {
  onTestRunEnd(modules) {
    const all = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string, tests = all) =>
      tests.filter((test) => test.result().state === state).length;
    const onlyOnSqlite = count(
      "skipped",
      all.filter(({ project: { name } }) => name === "postgres"),
    );
    if (onlyOnSqlite > 0) console.log(`\n${onlyOnSqlite} tests are about SQLite only`);
    const skipped = count("skipped") - onlyOnSqlite;
    console.log(`\n${count("passed")} passed, ${count("failed")} failed, ${skipped} skipped`);
    if (!modules.some(({ moduleId }) => moduleId.includes("/test/browser/"))) {
      console.log("not run here: the pages in a browser (pnpm test:browser)");
      console.log("not run here: the image of docs/deployment.md (pnpm test:image)");
      console.log("not run here: several processes on one database (pnpm test:cluster)");
    }
  },
};

const IMAGE_TEST = "test/deployment.test.ts";

const project = (name: string, include: string, ...exclude: string[]) => ({
  extends: true as const,
  test: { name, include: [include], exclude },
});

/** Where the engines differ most. A relay of a test costs a database there, so the rest takes too long. */
const nearTheEngine = ["storage", "budget", "admin", "processes"];

/**
 * The relay once more on PostgreSQL. With AGENT_TEST_ENGINE=postgres these are all of its tests, as
 * `pnpm test:postgres` runs them.
 */
const isWholeRun = process.env["AGENT_TEST_ENGINE"] === "postgres";
const folders = isWholeRun
  ? ["apps/relay/src/**/*.test.ts"]
  : [
      ...nearTheEngine.map((folder) => `apps/relay/src/${folder}/**/*.test.ts`),
      "apps/relay/src/federation/two-relays.test.ts",
    ];
const onPostgres = {
  extends: true as const,
  test: {
    name: "postgres",
    // Each statement is a round trip to another process.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    include: [...folders, "apps/relay/test/engine/*.test.ts"],
    env: { AGENT_TEST_ENGINE: "postgres", AGENT_TEST_WHOLE: String(isWholeRun) },
    globalSetup: "apps/relay/test/engine/postgres-setup.ts",
  },
};

/** What several processes on one database do together, their kills and the contract: `pnpm test:cluster`. */
const onSeveralProcesses = {
  ...onPostgres,
  test: {
    ...onPostgres.test,
    name: "cluster",
    include: ["apps/relay/test/cluster/*.test.ts", "apps/relay/src/http/contract.test.ts"],
    env: { ...onPostgres.test.env, AGENT_TEST_PROCESSES: "2" },
  },
};

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    reporters: ["default", tally],
    // No test changes a module's state, so the files of a worker share what they import.
    isolate: false,
    maxWorkers: availableParallelism(),
    // For the programs that tests start: compiling their sources is most of what a start costs.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), "agent-compiled") },
    // A machine that is busy with other work is slow, not wrong.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 10_000 } },
    exclude: [...configDefaults.exclude, "**/dist/**"],
    projects: [
      project("packages", "packages/*/src/**/*.test.ts"),
      project("apps", "apps/*/src/**/*.test.ts"),
      onPostgres,
      onSeveralProcesses,
      project("workspace", "{test,examples,bench}/**/*.test.ts", "test/browser/**", IMAGE_TEST),
      // The Dockerfile of docs/deployment.md, which builds everything again: `pnpm test:image`.
      project("image", IMAGE_TEST),
      // The pages in a real browser: `pnpm test:browser`.
      project("browser", "test/browser/*.test.ts"),
      // The contract once more, all of it through a validating proxy: `pnpm test:proxy`.
      project("proxy", "apps/relay/test/contract/through-proxy.ts"),
    ],
    coverage: { provider: "v8", include: ["packages/*/src/**", "apps/*/src/**"] },
  },
});
