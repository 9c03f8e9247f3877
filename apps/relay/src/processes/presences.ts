import type { Ability, Connections } from "../realtime/connections.ts";
import { meetsRequirements } from "../realtime/connections.ts";
import type { Log } from "../observability/log.ts";
import type { Runtime } from "../runtime.ts";
import type { Storage } from "../storage/storage.ts";
import type { PresenceRow } from "../storage/tables/processes.ts";
import type { Membership } from "./membership.ts";
import {
  deletePresences,
  deletePresencesOf,
  listPresences,
  listPresencesOf,
  listLiveness,
  savePresences,
  type StoredDevice,
} from "./presence-store.ts";

/** The devices that are connected to other processes. */
export interface RemoteDevices {
  isOnline(agentId: string): boolean;
  listAgents(): Iterable<string>;
  countSockets(agentId: string): number;
  /** Returns whether a task that requires these capabilities may be sent to a device elsewhere. */
  canServe(agentId: string, required: readonly string[]): boolean;
}

/** Stores which devices are connected here for the other processes, and knows theirs. */
export interface Presences extends RemoteDevices {
  /** Records that the devices of an agent have changed here; they are stored shortly afterwards. */
  markChanged(agentId: string): void;
  /** Reads all rows of other processes. */
  load(): Promise<void>;
  /** Reads the rows of some agents again. */
  reload(agentIds: readonly string[]): Promise<void>;
  /** Reads which processes are alive. */
  checkProcesses(): Promise<void>;
  /** Whether another process was alive at the last check. */
  hasOthers(): boolean;
  /** Deletes the rows of this process and stores none from now on. */
  leave(): Promise<void>;
}

interface PresenceDependencies {
  readonly storage: Pick<Storage, "read" | "reserved" | "transaction">;
  readonly runtime: Pick<Runtime, "schedule">;
  readonly processes: Pick<Membership, "id">;
  readonly connections: Pick<Connections, "forAgent" | "abilityOf" | "all">;
  readonly log: Log;
}

/** Connections that open together are stored together. */
const SAVE_DELAY_MS = 100;
const MAX_PER_TRANSACTION = 500;

interface RemotePresence {
  readonly processId: string;
  readonly devices: readonly Ability[];
}

export function createPresences(dependencies: PresenceDependencies): Presences {
  return new StoredPresences(dependencies);
}

class StoredPresences implements Presences {
  readonly #dependencies: PresenceDependencies;
  readonly #byAgent = new Map<string, readonly RemotePresence[]>();
  #live: ReadonlySet<string> = new Set();
  #changed = new Set<string>();
  #savedAs = "";
  #cancelSaving: (() => void) | undefined;
  #hasLeft = false;

  constructor(dependencies: PresenceDependencies) {
    this.#dependencies = dependencies;
  }

  isOnline(agentId: string): boolean {
    return this.#listLive(agentId).length > 0;
  }

  *listAgents(): Iterable<string> {
    for (const agentId of this.#byAgent.keys()) if (this.isOnline(agentId)) yield agentId;
  }

  countSockets(agentId: string): number {
    return this.#listLive(agentId).reduce((sum, { devices }) => sum + devices.length, 0);
  }

  canServe(agentId: string, required: readonly string[]): boolean {
    return this.#listLive(agentId).some(({ devices }) =>
      devices.some((device) => meetsRequirements(device, required)),
    );
  }

  markChanged(agentId: string): void {
    this.#changed.add(agentId);
    this.#saveSoon();
  }

  async load(): Promise<void> {
    const rows = await listPresences(this.#dependencies.storage.read);
    this.#byAgent.clear();
    for (const [agentId, own] of Map.groupBy(rows, ({ agent_id }) => agent_id)) {
      this.#set(agentId, own);
    }
    await this.checkProcesses();
  }

  async reload(agentIds: readonly string[]): Promise<void> {
    const rows = await listPresencesOf(this.#dependencies.storage.read, agentIds);
    const byAgent = Map.groupBy(rows, ({ agent_id }) => agent_id);
    for (const agentId of agentIds) this.#set(agentId, byAgent.get(agentId) ?? []);
  }

  async checkProcesses(): Promise<void> {
    const { storage, processes, connections } = this.#dependencies;
    const rows = await listLiveness(storage.reserved);
    this.#live = new Set(rows.filter(({ is_live }) => is_live === 1).map((row) => row.process_id));
    const known = new Set(rows.map(({ process_id }) => process_id));
    for (const [agentId, presences] of this.#byAgent) {
      const left = presences.filter(({ processId }) => known.has(processId));
      if (left.length < presences.length) this.#replace(agentId, left);
    }
    // Others considered this process dead, so it continues under another id.
    if (this.#savedAs !== "" && this.#savedAs !== processes.id()) {
      for (const { agentId } of connections.all()) this.markChanged(agentId);
    }
  }

  hasOthers(): boolean {
    const own = this.#dependencies.processes.id();
    return [...this.#live].some((processId) => processId !== own);
  }

  async leave(): Promise<void> {
    this.#hasLeft = true;
    this.#cancelSaving?.();
    const { storage, processes } = this.#dependencies;
    await storage.transaction(async (tx) => {
      for (const agentId of await deletePresencesOf(tx, processes.id())) {
        tx.noteChange("presence", agentId);
      }
    });
  }

  #listLive(agentId: string): readonly RemotePresence[] {
    const presences = this.#byAgent.get(agentId) ?? [];
    const own = this.#dependencies.processes.id();
    return presences.filter(({ processId }) => processId !== own && this.#live.has(processId));
  }

  #set(agentId: string, rows: readonly PresenceRow[]): void {
    this.#replace(
      agentId,
      rows.map(({ process_id, devices }) => ({
        processId: process_id,
        devices: (JSON.parse(devices) as StoredDevice[]).map((device) => ({
          capabilities: device.capabilities ?? undefined,
          agentAnnounces: device.agent_announces,
        })),
      })),
    );
  }

  #replace(agentId: string, presences: readonly RemotePresence[]): void {
    if (presences.length === 0) this.#byAgent.delete(agentId);
    else this.#byAgent.set(agentId, presences);
  }

  #saveSoon(): void {
    if (this.#cancelSaving !== undefined || this.#hasLeft) return;
    this.#cancelSaving = this.#dependencies.runtime.schedule(SAVE_DELAY_MS, () => {
      void this.#saveChanged().then(() => {
        this.#cancelSaving = undefined;
        if (this.#changed.size > 0) this.#saveSoon();
      });
    });
  }

  /** Agents that could not be stored are stored later. */
  async #saveChanged(): Promise<void> {
    const agentIds = [...this.#changed].slice(0, MAX_PER_TRANSACTION);
    for (const agentId of agentIds) this.#changed.delete(agentId);
    const { storage, processes, connections, log } = this.#dependencies;
    const process_id = processes.id();
    const devices = new Map(
      agentIds.map((agentId) => [
        agentId,
        connections.forAgent(agentId).map(toStoredDevice(connections)),
      ]),
    );
    const left = agentIds.filter((agentId) => devices.get(agentId)?.length === 0);
    for (const agentId of left) devices.delete(agentId);
    try {
      await storage.transaction(async (tx) => {
        await savePresences(tx, process_id, devices);
        await deletePresences(tx, process_id, left);
        for (const agentId of agentIds) tx.noteChange("presence", agentId);
      });
      this.#savedAs = process_id;
    } catch (error) {
      for (const agentId of agentIds) this.#changed.add(agentId);
      log.warn("presence.not_stored", { error: String(error) });
    }
  }
}

const toStoredDevice =
  (connections: Pick<Connections, "abilityOf">) =>
  (device: Parameters<Connections["abilityOf"]>[0]): StoredDevice => {
    const { capabilities, agentAnnounces } = connections.abilityOf(device);
    return { capabilities: capabilities ?? null, agent_announces: agentAnnounces };
  };

/** The presences of a process that has the database to itself. */
export const noPresences: Presences = {
  isOnline: () => false,
  listAgents: () => [],
  countSockets: () => 0,
  canServe: () => false,
  markChanged() {},
  load: () => Promise.resolve(),
  reload: () => Promise.resolve(),
  checkProcesses: () => Promise.resolve(),
  hasOthers: () => false,
  leave: () => Promise.resolve(),
};
