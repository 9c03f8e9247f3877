import { refuse, type Answer, type Operations } from "@agent/wire";
import type { RelayClock } from "../clock/relay-clock.ts";
import { MAX_CLOCK_SKEW_MS } from "../processes/join.ts";
import type { Services } from "../services.ts";
import { migrations } from "../storage/migrations/index.ts";
import { StorageUnavailable, type Hints } from "../storage/storage.ts";
import { checkWrites } from "./check-writes.ts";
import { formatBooksCheck } from "./reconciler.ts";
import { formatStorageCheck } from "./storage-check.ts";
import { countMigrations, pingDatabase } from "./store.ts";

/** Checks whether the relay can take work, for orchestrators and the operator. */
export async function checkReadiness(
  {
    storage,
    writes,
    jobMonitor,
    freezer,
    clock,
    reconciler,
    storageCheck,
    relayLog,
    processes,
  }: Pick<
    Services,
    | "storage"
    | "writes"
    | "jobMonitor"
    | "freezer"
    | "clock"
    | "reconciler"
    | "storageCheck"
    | "relayLog"
    | "processes"
  >,
  draining: boolean,
): Promise<Answer<Operations["ready"]>> {
  try {
    await pingDatabase(storage.reserved);
    const fault = await checkWrites({ writes, freezer });
    const applied = await countMigrations(storage.reserved);
    // The jobs of a frozen relay wait by design.
    const jobs = freezer.frozen() === undefined ? jobMonitor.listStates() : [];
    const checks = [
      { check: "database", ok: fault === undefined, detail: fault ?? "answers" },
      {
        check: "migrations",
        ok: applied >= migrations.length,
        detail: `${applied} of ${migrations.length}`,
      },
      ...(processes.isShared ? [formatProcessCheck(processes, storage.hints)] : []),
      ...jobs.map(({ job, ageMs, isOverdue }) => ({
        check: `job ${job}`,
        ok: !isOverdue,
        detail: `${Math.floor(ageMs / 1_000)} s since it succeeded`,
      })),
    ];
    if (draining) return refuse("server.draining");
    const all = [
      ...checks,
      formatClockCheck(clock),
      formatBooksCheck(reconciler.latest()),
      formatStorageCheck(storageCheck.state()),
      formatLogCheck(relayLog),
      formatFreezeCheck(freezer),
    ];
    const failing = checks.filter(({ ok }) => !ok);
    if (failing.length === 0) return { status: 200, body: { status: "ready", checks: all } };
    const names = failing.map(({ check }) => check).join(", ");
    return { ...refuse("server.not_ready", names), members: { checks: all } };
  } catch (error) {
    if (error instanceof StorageUnavailable) return refuse("server.unavailable");
    throw error;
  }
}

/** Reports a freeze. The relay stays ready, because it answers every request that reads. */
function formatFreezeCheck(freezer: Services["freezer"]) {
  const state = freezer.frozen();
  const since = state === undefined ? "" : new Date(state.since).toISOString();
  const detail = state === undefined ? "not frozen" : `since ${since}: ${state.reason}`;
  return { check: "freeze", ok: state === undefined, detail };
}

/** A process that the others may count as dead, or that knows too little of them, must get no requests. */
function formatProcessCheck(processes: Services["processes"], hints: Hints) {
  const skew = processes.clockSkew();
  const fault = !processes.isAlive()
    ? "could not renew its row"
    : !processes.isUpToDate()
      ? "has not read what other processes changed"
      : skew > MAX_CLOCK_SKEW_MS
        ? `its clock differs from the database's by ${skew} ms`
        : undefined;
  const role = processes.isLeader() ? "leads" : "follows";
  const deaf = hints.isMissing() ? ", without notifications" : "";
  return {
    check: "process",
    ok: fault === undefined,
    detail: `${processes.name} ${fault ?? role + deaf}`,
  };
}

/** Reports a log that signs no head. The relay stays ready, because delegations continue to work. */
function formatLogCheck(relayLog: Services["relayLog"]) {
  const held = relayLog.holdReason();
  const detail = relayLog.isOn ? "signs heads" : "off";
  return {
    check: "log",
    ok: held === undefined,
    detail: held === undefined ? detail : `log.behind_witness: ${held}`,
  };
}

/** Reports a jump of the clock to the operator. The relay stays ready, because requests continue. */
function formatClockCheck(clock: RelayClock) {
  const jump = clock.jump();
  const detail =
    jump === null
      ? "follows the wall clock"
      : `the wall clock differs by ${Math.round(jump.offset / 1_000)} s and is not believed`;
  return { check: "clock", ok: jump === null, detail };
}
