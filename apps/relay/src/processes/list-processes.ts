import type { Answer, Operations, RelayProcess } from "@agent/wire";
import type { Services } from "../services.ts";
import { version } from "../version.ts";
import { LEADER } from "./join.ts";
import {
  countLiveProcesses,
  type KnownProcess,
  listKnownProcesses,
  PROCESS_LIFETIME_MS,
} from "./process-store.ts";

type ListServices = Pick<Services, "processes" | "storage" | "runtime" | "connections">;

/** Lists the processes of the relay; one that is always alone has no row and describes itself. */
export async function listProcesses(
  services: ListServices,
  uptimeMs: number,
): Promise<Answer<Operations["listProcesses"]>> {
  const { processes, storage } = services;
  if (!processes.isShared) {
    return { status: 200, body: { processes: [describeItself(services, uptimeMs)] } };
  }
  const rows = await listKnownProcesses(storage.read, LEADER);
  const ownId = processes.id();
  return { status: 200, body: { processes: rows.map((row) => describeProcess(row, ownId)) } };
}

/** Counts the processes that are alive. */
export async function countProcesses({
  processes,
  storage,
}: Pick<Services, "processes" | "storage">): Promise<number> {
  return processes.isShared ? countLiveProcesses(storage.read) : 1;
}

function describeItself(
  { processes, runtime, connections }: ListServices,
  uptimeMs: number,
): RelayProcess {
  const now = runtime.now();
  return {
    process_id: null,
    name: processes.name,
    version,
    started_at: Math.round(now - uptimeMs),
    renewed_at: now,
    alive: true,
    leads: true,
    answers: true,
    agents: connections.listAgents().size,
  };
}

/** Describes a process from its row, whose times are those of the database. */
export function describeProcess(row: KnownProcess, ownId: string): RelayProcess {
  const { process_id, name, started_at, until, is_live, leads, agents } = row;
  return {
    process_id,
    name,
    version: row.version,
    started_at,
    renewed_at: until - PROCESS_LIFETIME_MS,
    alive: is_live === 1,
    leads: leads > 0,
    answers: process_id === ownId,
    agents,
  };
}
