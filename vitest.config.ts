import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import type { Reporter } from "vitest/node";

const conditions = ["agent-source", "module", "node", "development|production"];

/** The projects that `pnpm test` leaves to commands of their own. */
const ON_DEMAND = [
  ["slow", "started programs, kills and long searches", "test:slow"],
  ["proxy", "the contract through a validating proxy", "test:proxy"],
  ["browser", "the pages in a browser", "test:browser"],
  ["image", "the image of docs/deployment.md", "test:image"],
  ["cluster", "several processes on one database", "test:cluster"],
] as const;

/** One plain closing line that CI can read, and what was not run. */
const tally: Reporter = {
  onTestRunEnd(modules) {
    const all = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string, tests = all) =>
      tests.filter((test) => test.result().state === state).length;
    const onlyOnSqlite = count(
      "skipped",
      all.filter(({ project: { name } }) => name.endsWith("postgres")),
    );
    if (onlyOnSqlite > 0) console.log(`\n${onlyOnSqlite} tests are about SQLite only`);
    const skipped = count("skipped") - onlyOnSqlite;
    console.log(`\n${count("passed")} passed, ${count("failed")} failed, ${skipped} skipped`);
    const isRun = (project: string) => modules.some(({ project: { name } }) => name === project);
    for (const [project, what, command] of ON_DEMAND) {
      if (!isRun(project)) console.log(`not run here: ${what} (pnpm ${command})`);
    }
  },
};

const WORKSPACE_TESTS = "{test,examples,bench}/**/*.test.ts";
const IMAGE_TEST = "test/deployment.test.ts";

/** Tests that start programs, kill them, or search for seconds: `pnpm test:slow`. */
const SLOW_TESTS = "**/*.slow.test.ts";

const project = (name: string, include: string, ...exclude: string[]) => ({
  extends: true as const,
  test: {
    name,
    include: [include],
    exclude: [...configDefaults.exclude, "**/dist/**", ...exclude],
  },
});

const slow = project("slow", SLOW_TESTS, "apps/relay/test/engine/**");
/** The time for which a test waits for other work in real time; it must end before the test's own limit. */
const longWait = { AGENT_TEST_WAIT_MS: "100000" };
const slowTests = {
  ...slow,
  test: { ...slow.test, testTimeout: 120_000, hookTimeout: 120_000, env: longWait },
};

const browser = project("browser", "test/browser/*.test.ts");
/** A page verifies some hundred files in one test. */
const browserTests = { ...browser, test: { ...browser.test, testTimeout: 120_000 } };

/**
 * The relay once more on PostgreSQL, where a relay of a test costs a database. `pnpm test` runs the storage
 * there, `pnpm test:slow` what is near to it, and `pnpm test:postgres` all tests of the relay.
 */
const isWholeRun = process.env["AGENT_TEST_ENGINE"] === "postgres";
const onPostgres = (
  name: string,
  include: readonly string[],
  { exclude = [], processes = "1" }: { exclude?: readonly string[]; processes?: string } = {},
) => ({
  extends: true as const,
  test: {
    name,
    // Each statement is a round trip to another process.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    include: [...include],
    exclude: [...configDefaults.exclude, "**/dist/**", ...exclude],
    env: {
      ...longWait,
      AGENT_TEST_ENGINE: "postgres",
      AGENT_TEST_PROCESSES: processes,
      AGENT_TEST_WHOLE: String(isWholeRun),
    },
    globalSetup: "apps/relay/test/engine/postgres-setup.ts",
  },
});

const engineTests = "apps/relay/test/engine/*.test.ts";
const postgresProjects = isWholeRun
  ? [onPostgres("postgres", ["apps/relay/src/**/*.test.ts", engineTests])]
  : [
      onPostgres("postgres", ["apps/relay/src/storage/**/*.test.ts", engineTests], {
        exclude: [SLOW_TESTS],
      }),
      onPostgres("slow-postgres", [
        "apps/relay/src/{budget,admin,processes}/**/*.test.ts",
        "apps/relay/src/federation/{two-relays,unused-peers}.test.ts",
        "apps/relay/{src/storage,test/engine}/**/*.slow.test.ts",
      ]),
    ];

/** What several processes on one database do together, their kills and the contract: `pnpm test:cluster`. */
const onSeveralProcesses = onPostgres(
  "cluster",
  ["apps/relay/test/cluster/*.test.ts", "apps/relay/src/http/contract.test.ts"],
  { processes: "2" },
);

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    reporters: ["default", tally],
    setupFiles: ["./vitest.setup.ts"],
    // No test changes a module's state, so the files of a worker share what they import.
    isolate: false,
    // A third of the time of a test is waiting, for timers and for other processes.
    maxWorkers: 2 * availableParallelism(),
    // For the programs that tests start: compiling their sources is most of what a start costs.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), "agent-compiled") },
    // A machine that is busy with other work is slow, not wrong.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 10_000 } },
    projects: [
      project("packages", "packages/*/src/**/*.test.ts", SLOW_TESTS),
      project("apps", "apps/*/src/**/*.test.ts", SLOW_TESTS),
      project("workspace", WORKSPACE_TESTS, "test/browser/**", IMAGE_TEST, SLOW_TESTS),
      slowTests,
      ...postgresProjects,
      onSeveralProcesses,
      // The Dockerfile of docs/deployment.md, which builds everything again: `pnpm test:image`.
      project("image", IMAGE_TEST),
      // The pages in a real browser: `pnpm test:browser`.
      browserTests,
      // The contract once more, all of it through a validating proxy: `pnpm test:proxy`.
      project("proxy", "apps/relay/test/contract/through-proxy.ts"),
    ],
    coverage: { provider: "v8", include: ["packages/*/src/**", "apps/*/src/**"] },
  },
});
