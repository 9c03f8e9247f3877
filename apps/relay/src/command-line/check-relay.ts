import type { Operations, Result } from "@agent/wire";
import { DAY_MS } from "../clock/durations.ts";
import type { CommandCall, CommandResult } from "./operator-command.ts";
import { formatCount, formatDuration } from "./format-values.ts";
import { UNAVAILABLE_REMEDY } from "./run-operator-command.ts";
import { getUnfreezeRemedy } from "./unfreeze-remedy.ts";

interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** The way to end it; only of a fault. */
  readonly remedy?: string;
}

const REMEDIES: Readonly<Record<string, string>> = {
  clock: "correct the wall clock; if it is right, `agent-relay clock accept`",
  books: "freeze the relay, and compare the named rows with your records",
  storage_check: "restore the last good backup",
  log: "see docs/transparency.md: begin a new generation by `agent-relay log restart`",
  database: "see the log of the relay",
  migrations: "stop the relay and run `agent-relay migrate`",
};

/** Checks everything that an operator would look at, and names a remedy for each fault. */
export async function checkRelay({
  client,
  now,
}: Pick<CommandCall, "client" | "now">): Promise<CommandResult> {
  const overview = await client.getOverview();
  // On a full disk the relay refuses its overview too, and then the other checks matter most.
  if (!overview.ok && overview.code !== "server.unavailable") return overview;
  const [ready, books] = [await client.ready(), await client.reconcile()];
  const checks = ready.ok
    ? ready.body.checks
    : [{ check: "ready", ok: false, detail: `${ready.message} (${ready.code})` }];
  const findings: Finding[] = [
    // The freeze is in the overview too, also while the relay is not ready.
    ...checks
      .filter(({ check }) => check !== "freeze")
      .map(({ check, ok, detail }) => ({
        name: check,
        ok,
        detail,
        ...(!ok && { remedy: REMEDIES[check] ?? "see the log of the relay" }),
      })),
    ...(books.ok
      ? books.body.checks.map(({ name, ok, detail }) => ({
          name: "books",
          ok,
          detail: `${name}: ${detail}`,
        }))
      : [{ name: "books", ok: false, detail: `${books.message} (${books.code})` }]),
    ...(overview.ok
      ? checkState(overview.body, now())
      : [{ name: "writes", ok: false, detail: overview.message, remedy: UNAVAILABLE_REMEDY }]),
  ];
  const faults = findings.filter(({ ok }) => !ok);
  return {
    ok: true,
    isGood: faults.length === 0,
    body: { healthy: faults.length === 0, findings },
    blocks: [
      ...findings.flatMap(({ name, ok, detail, remedy }) => [
        {
          text: `${ok ? "ok   " : "FAULT"}  ${name}: ${detail}`,
          tone: ok ? "good" : "bad",
        } as const,
        ...(remedy === undefined ? [] : [`       ${remedy}`]),
      ]),
      faults.length === 0 ? "healthy" : `faults: ${faults.length}`,
    ],
  };
}

type Overview = Result<Operations["getOverview"]>;

function checkState(
  { freeze, jobs, database, outbox_failed }: Overview,
  now: number,
): readonly Finding[] {
  const { write_fault: writeFault } = database;
  const writes =
    writeFault === undefined
      ? { name: "writes", ok: true, detail: "the database accepts them" }
      : { name: "writes", ok: false, detail: writeFault, remedy: UNAVAILABLE_REMEDY };
  const late = jobs.filter(({ ok }) => !ok);
  return [
    writes,
    freeze.frozen
      ? {
          name: "freeze",
          ok: false,
          detail: `frozen: ${freeze.reason ?? ""}`,
          remedy: getUnfreezeRemedy(freeze),
        }
      : { name: "freeze", ok: true, detail: "not frozen" },
    late.length === 0
      ? { name: "jobs", ok: true, detail: `${jobs.length} jobs run in time` }
      : {
          name: "jobs",
          ok: false,
          detail: `late: ${late.map(({ job, failures }) => `${job} (${formatCount(failures, "failure")})`).join(", ")}`,
          remedy: "look for job.failed in the log of the relay",
        },
    checkBackup(database, now),
    outbox_failed === 0
      ? { name: "settlements", ok: true, detail: "none failed" }
      : {
          name: "settlements",
          ok: false,
          detail: `${outbox_failed} failed`,
          remedy: "retry or give up: `agent-relay outbox --state failed`",
        },
  ];
}

function checkBackup({ in_memory, last_backup_at }: Overview["database"], now: number): Finding {
  const name = "backup";
  if (in_memory) {
    return {
      name,
      ok: false,
      detail: "the database is in memory: everything is lost when the relay stops",
      remedy: "set AGENT_DB_PATH or AGENT_DATABASE_URL",
    };
  }
  if (last_backup_at === null) {
    return {
      name,
      ok: false,
      detail: "no backup is recorded",
      remedy:
        "run `agent-relay backup FILE`; backups of PostgreSQL by pg_dump are not recorded here",
    };
  }
  const age = now - last_backup_at;
  const detail = `made ${formatDuration(age)} ago`;
  return age < DAY_MS
    ? { name, ok: true, detail }
    : { name, ok: false, detail, remedy: "run `agent-relay backup FILE` every day" };
}
