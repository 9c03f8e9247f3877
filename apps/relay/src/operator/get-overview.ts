import { toDollars } from "@agent/budget";
import { ListedStatus, type Answer, type Operations } from "@agent/wire";
import { checkWrites } from "../admin/check-writes.ts";
import { getFreezeReport } from "../admin/freeze-report.ts";
import { countOnlineAgents } from "../agents/discovery/count-online.ts";
import { getFees } from "../budget/accounts/get-fees.ts";
import { DAY_MS } from "../clock/durations.ts";
import { numberIfPossible } from "../feed/number-events.ts";
import { countDisputesToDecide } from "../inspections/reading/dispute-terms.ts";
import { countProcesses } from "../processes/list-processes.ts";
import type { Services } from "../services.ts";
import { readBackupNote } from "../storage/database/backup-note.ts";
import { version } from "../version.ts";
import {
  countOpenTasksByState,
  countPeersByState,
  countWaiting,
  findDatabaseBytes,
  findLastSequence,
  listEndedTasks,
  sumMoney,
} from "./overview-store.ts";

/** Returns the state of the relay in one answer. */
export async function getOverview(
  services: Services,
  { isDraining, uptimeMs }: { readonly isDraining: boolean; readonly uptimeMs: number },
): Promise<Answer<Operations["getOverview"]>> {
  const { storage, runtime, connections, freezer, jobMonitor, config, federation } = services;
  const { read } = storage;
  await numberIfPossible(services);
  const writeFault = await checkWrites(services);
  const midnight = Math.floor(runtime.now() / DAY_MS) * DAY_MS;
  const [open, ended, money, fees, waiting, online, peers, bytes, disputes] = await Promise.all([
    countOpenTasksByState(read),
    listEndedTasks(read),
    sumMoney(read),
    getFees(read, midnight),
    countWaiting(read),
    countOnlineAgents(services),
    countPeersByState(read),
    findDatabaseBytes(read),
    countDisputesToDecide(services),
  ]);
  const { bound, registered, ...counts } = waiting;
  const pendingPeers = (await federation?.pendingPeers.list())?.length ?? 0;
  const { databasePath, databaseUrl } = config.storage;
  const isFile = databaseUrl === undefined && databasePath !== ":memory:";
  const held = open.reduce((sum, { locked }) => sum + locked, money.awaiting);
  return {
    status: 200,
    body: {
      tasks: countTasks(open, ended),
      open: {
        count: open.reduce((sum, { tasks }) => sum + tasks, 0),
        oldest_at: open.length === 0 ? null : Math.min(...open.map(({ oldest }) => oldest)),
      },
      money: {
        balances: toDollars(money.balances),
        held: toDollars(held),
        inspected: toDollars(money.inspected),
        pending_withdrawals: toDollars(money.pending_withdrawals),
        fees_today: toDollars(fees.recent),
        fees_total: toDollars(fees.total),
      },
      agents: { bound, registered, online },
      sockets: countSockets(connections),
      peers: {
        ...Object.fromEntries(peers.map((row) => [row.state, row.peers])),
        ...(pendingPeers > 0 && { pending: pendingPeers }),
      },
      ...counts,
      disputes_pending: disputes,
      freeze: getFreezeReport(freezer),
      draining: isDraining,
      processes: await countProcesses(services),
      jobs: jobMonitor.listStates().map(({ job, ageMs, failures, isOverdue }) => ({
        job,
        // The jobs of a frozen relay wait by design.
        ok: !isOverdue || freezer.frozen() !== undefined,
        age_ms: Math.round(ageMs),
        failures,
      })),
      books: summarizeBooks(services),
      database: {
        bytes,
        in_memory: databaseUrl === undefined && !isFile,
        last_backup_at: isFile ? readBackupNote(databasePath) : null,
        ...(writeFault !== undefined && { write_fault: writeFault }),
      },
      last_event: await findLastSequence(read),
      uptime_ms: Math.round(uptimeMs),
      version,
    },
  };
}

/** Counts the devices that are connected to the relay, at any of its processes. */
function countSockets(connections: Services["connections"]): number {
  let sockets = 0;
  for (const agentId of connections.listAgents()) sockets += connections.countSockets(agentId);
  return sockets;
}

/** Every state has a number, also one in which no task ever was. */
function countTasks(
  open: readonly { readonly status: string; readonly tasks: number }[],
  ended: readonly { readonly state: string; readonly tasks: number }[],
): Record<ListedStatus, number> {
  const known = new Map([
    ...ended.map(({ state, tasks }) => [state, tasks] as const),
    ...open.map(({ status, tasks }) => [status, tasks] as const),
  ]);
  const entries = ListedStatus.options.map((state) => [state, known.get(state) ?? 0]);
  return Object.fromEntries(entries) as Record<ListedStatus, number>;
}

function summarizeBooks({ reconciler }: Pick<Services, "reconciler">) {
  const latest = reconciler.latest();
  return latest === undefined ? null : { at: latest.at, consistent: latest.books.consistent };
}
