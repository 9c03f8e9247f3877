import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import type { Reporter } from "vitest/node";

const conditions = ["agent-source", "module", "node", "development|production"];

/** One plain closing line that CI can read. */
const tally: Reporter = {
  onTestRunEnd(modules) {
    const all = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => all.filter((test) => test.result().state === state).length;
    console.log(
      `\n${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped`,
    );
  },
};

const project = (name: string, include: string) => ({
  extends: true as const,
  test: { name, include: [include] },
});

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
    exclude: [...configDefaults.exclude, "**/dist/**"],
    projects: [
      project("packages", "packages/*/src/**/*.test.ts"),
      project("apps", "apps/*/src/**/*.test.ts"),
      project("workspace", "{test,examples}/**/*.test.ts"),
      // The contract once more, all of it through a validating proxy: `pnpm test:proxy`.
      project("proxy", "apps/relay/test/contract/through-proxy.ts"),
    ],
    coverage: { provider: "v8", include: ["packages/*/src/**", "apps/*/src/**"] },
  },
});
