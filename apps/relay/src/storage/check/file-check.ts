import { fork, type ChildProcess } from "node:child_process";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { refuseDatabase, type DatabaseRefusal } from "../database/database-refusal.ts";
import type { CheckMessage } from "./check-message.ts";

/** The result of reading a whole database; undefined if the check was stopped. */
export type FileVerdict = { readonly ok: true } | DatabaseRefusal | undefined;

/** The check of a whole database behind a running relay. It is made once. */
export interface FileCheck {
  run(onProgress: (done: number, of: number) => void): Promise<FileVerdict>;
  /** Ends a running check at once. */
  stop(): Promise<void>;
  /** Whether damage was found. */
  isDamaged(): boolean;
}

/** Requests have priority. */
const LOWEST_PRIORITY = 19;

/** The sources and the build have different extensions. */
const SCRIPT = fileURLToPath(
  new URL(`./check-process${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url),
);

/** A system may refuse it, and the check is needed all the same. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, LOWEST_PRIORITY);
  } catch {
    // The check then competes with requests.
  }
}

/**
 * SQLite does not return before a table is read, and a thread inside it delays the exit, so the file is
 * read by a process that can be killed.
 */
export function createFileCheck(path: string): FileCheck {
  let child: ChildProcess | undefined;
  let ended: Promise<void> = Promise.resolve();
  let stopped = false;
  let damaged = false;

  return {
    async run(onProgress) {
      if (stopped) return undefined;
      const started = fork(SCRIPT, [path], { execArgv: [], stdio: "ignore", env: {} });
      child = started;
      if (started.pid !== undefined) lowerPriority(started.pid);
      const { promise, resolve } = Promise.withResolvers<void>();
      ended = promise;
      let verdict: FileVerdict;
      started.on("message", (message: CheckMessage) => {
        if (message.type === "progress") return onProgress(message.done, message.of);
        verdict = message.type === "passed" ? { ok: true } : message.refusal;
      });
      let reason = "the checking process ended early";
      started.once("error", (error) => {
        reason = error.message;
        resolve();
      });
      started.once("exit", () => resolve());
      await ended;
      if (stopped) return undefined;
      damaged = verdict?.ok === false && verdict.code === "database.damaged";
      return verdict ?? refuseDatabase("database.unusable", `${path}: ${reason}`);
    },
    async stop() {
      stopped = true;
      child?.kill("SIGKILL");
      await ended;
    },
    isDamaged: () => damaged,
  };
}
