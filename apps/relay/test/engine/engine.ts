import { inject } from "vitest";

export type Engine = "sqlite" | "postgres";

/** The engine that this project of the test run uses. */
export const engine: Engine =
  process.env["AGENT_TEST_ENGINE"] === "postgres" ? "postgres" : "sqlite";

/** Whether this is `pnpm test:postgres`, which may take longer than the default run. */
export const isWholeRun = process.env["AGENT_TEST_WHOLE"] === "true";

/**
 * Returns whether tests about one engine run: `test.runIf(onlyOn("sqlite"))`. On the other engine they are
 * skipped, and the last lines of the run's output count them.
 */
export const onlyOn = (needed: Engine): boolean => engine === needed;

declare module "vitest" {
  interface ProvidedContext {
    /**
     * The server of the run, the database to copy, and the statements that reset a used copy; absent on SQLite.
     */
    readonly postgres: {
      readonly serverUrl: string;
      readonly template: string;
      readonly reset: string;
    };
  }
}

/** Returns the server of the run, which must be a run on Postgres. */
export function getServer() {
  const server = inject("postgres");
  if (server === undefined) throw new Error("this test must run in the project postgres");
  return server;
}
