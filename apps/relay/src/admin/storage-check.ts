import type { Log } from "../observability/log.ts";
import type { Runtime } from "../runtime.ts";
import type { FileCheck } from "../storage/check/file-check.ts";
import type { Freezer } from "./freeze.ts";

/** The progress or the result of the check of the whole database. */
export type StorageCheckState =
  | { readonly status: "memory" }
  | { readonly status: "waiting" }
  | { readonly status: "running"; readonly done: number; readonly of: number }
  | { readonly status: "passed"; readonly at: number }
  | { readonly status: "failed" | "unfinished"; readonly reason: string };

/** Checks the whole database behind the running relay, and freezes the relay when it is damaged. */
export interface StorageCheck {
  readonly start: () => void;
  /** Resolves when no check is running, with false if damage was found. */
  waitForEnd(): Promise<boolean>;
  state(): StorageCheckState;
  /** Ends a running check at once. */
  stop(): Promise<void>;
}

interface StorageCheckDependencies {
  /** Absent for a database in memory. */
  readonly fileCheck?: FileCheck;
  readonly freezer: Pick<Freezer, "freezeDamaged">;
  readonly runtime: Pick<Runtime, "now">;
  readonly log: Log;
}

export function createStorageCheck({
  fileCheck,
  freezer,
  runtime,
  log,
}: StorageCheckDependencies): StorageCheck {
  let state: StorageCheckState = { status: fileCheck === undefined ? "memory" : "waiting" };
  let running: Promise<void> | undefined;

  async function checkFile(file: FileCheck): Promise<void> {
    state = { status: "running", done: 0, of: 0 };
    const verdict = await file.run((done, of) => {
      state = { status: "running", done, of };
    });
    if (verdict === undefined) return;
    if (verdict.ok) {
      state = { status: "passed", at: runtime.now() };
      return log.info("storage.check_passed", {});
    }
    const { code, detail } = verdict;
    state = { status: file.isDamaged() ? "failed" : "unfinished", reason: detail };
    if (state.status === "unfinished")
      return log.warn("storage.check_unfinished", { code, detail });
    freezer.freezeDamaged(`the database is damaged: ${detail}`);
    log.error("storage.check_failed", { code, detail });
  }

  return {
    start() {
      if (fileCheck !== undefined && running === undefined) running = checkFile(fileCheck);
    },
    async waitForEnd() {
      await running;
      return state.status !== "failed";
    },
    state: () => state,
    async stop() {
      await fileCheck?.stop();
    },
  };
}

/** Builds the readiness entry of the check, which never makes the relay unready. */
export function formatStorageCheck(state: StorageCheckState): {
  check: string;
  ok: boolean;
  detail: string;
} {
  const ok = state.status !== "failed" && state.status !== "unfinished";
  return { check: "storage_check", ok, detail: describeState(state) };
}

function describeState(state: StorageCheckState): string {
  switch (state.status) {
    case "memory":
      return "in memory, there is no file";
    case "waiting":
      return "begins when the relay listens";
    case "running":
      return `running: ${state.done} of ${state.of} tables are whole`;
    case "passed":
      return `passed at ${new Date(state.at).toISOString()}`;
    case "failed":
      return `failed: ${state.reason}`;
    case "unfinished":
      return `did not finish: ${state.reason}`;
  }
}
