import { DAY_MS } from "../clock/durations.ts";
import type { Log } from "../observability/log.ts";
import type { Runtime } from "../runtime.ts";
import { StorageUnavailable, type Reader } from "../storage/storage.ts";
import type { BooksCheckContext } from "./books/books-check.ts";
import type { Freezer } from "./freeze.ts";
import { checkBooks, type ReconciliationResult } from "./books/check-books.ts";

/** The result of a check of the books. */
export interface Reconciliation {
  /** The start of the check by the relay's clock. */
  readonly at: number;
  readonly books: ReconciliationResult;
}

/** Checks the books by command and in the background. */
export interface Reconciler {
  /** Checks all rows now. */
  checkAll(): Promise<ReconciliationResult>;
  /** Checks open rows and those since the last check; all rows at first and once a day. */
  checkRecent(): Promise<void>;
  /** Returns the newest result of either check; undefined before the first. */
  latest(): Reconciliation | undefined;
  /** Stops a running check, so that the relay can close. */
  stop(): void;
}

/** Rows that changed while the last check began are checked again. */
const OVERLAP_MS = 60_000;

interface ReconcilerDependencies {
  readonly freezer: Pick<Freezer, "readSnapshot">;
  readonly runtime: Pick<Runtime, "now">;
  readonly elapsed: () => number;
  readonly log: Log;
}

export function createReconciler({
  freezer,
  runtime,
  elapsed,
  log,
}: ReconcilerDependencies): Reconciler {
  let latest: Reconciliation | undefined;
  let latestStartedAt = 0;
  let checkedAllAt: number | undefined;
  let stopped = false;

  function assertRunning(): void {
    if (stopped) throw new StorageUnavailable("the relay is closing");
  }

  const snapshot: BooksCheckContext["snapshot"] = (work) => {
    assertRunning();
    return freezer.readSnapshot((read) => work(createStoppableReader(read, assertRunning)));
  };

  async function check(since: number): Promise<ReconciliationResult> {
    const [at, began] = [runtime.now(), elapsed()];
    const failing = latest?.books.checks.filter(({ ok }) => !ok).map(({ code }) => code);
    const books = await checkBooks({ snapshot, now: at, since }, failing);
    if (since === 0) checkedAllAt = began;
    [latest, latestStartedAt] = [{ at, books }, began];
    for (const { code, name, ok, count, ids } of books.checks) {
      if (!ok) log.error("books.inconsistent", { check: name, code, count, ids: ids.join(" ") });
    }
    return books;
  }

  /** Returns the earlier of the time by the clock and by elapsed time, because the clock may go back. */
  function recentStart({ at }: Reconciliation): number {
    return Math.min(at, runtime.now() - (elapsed() - latestStartedAt)) - OVERLAP_MS;
  }

  return {
    checkAll: () => check(0),
    async checkRecent() {
      const isDue = checkedAllAt === undefined || elapsed() - checkedAllAt >= DAY_MS;
      try {
        await check(isDue || latest === undefined ? 0 : Math.max(1, recentStart(latest)));
      } catch (error) {
        // A check that the closing relay stopped has not failed.
        if (!stopped) throw error;
      }
    },
    latest: () => latest,
    stop() {
      stopped = true;
    },
  };
}

/** Wraps a reader so that it can be stopped before each statement. */
function createStoppableReader(read: Reader, assertRunning: () => void): Reader {
  return {
    get(query, params) {
      assertRunning();
      return read.get(query, params);
    },
    all(query, params) {
      assertRunning();
      return read.all(query, params);
    },
  };
}

/** Builds the readiness entry of the books, which never makes the relay unready. */
export function formatBooksCheck(latest: Reconciliation | undefined): {
  check: string;
  ok: boolean;
  detail: string;
} {
  if (latest === undefined) return { check: "books", ok: true, detail: "not checked yet" };
  const failing = latest.books.checks.filter(({ ok }) => !ok);
  const detail =
    failing.length === 0
      ? "consistent"
      : failing.map(({ name, count }) => `not true of ${count}: ${name}`).join("; ");
  return { check: "books", ok: failing.length === 0, detail };
}
