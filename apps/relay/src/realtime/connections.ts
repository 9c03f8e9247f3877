import type { BoundedMap } from "@agent/crypto";
import type { ServerMessage, Task } from "@agent/wire";

/** A live, authenticated socket of one agent's device. */
export interface Connection {
  readonly id: string;
  readonly agentId: string;
  /** In ms of the relay's clock. */
  readonly openedAt: number;
  /** Null when the operator's token opened it. */
  readonly deviceId: string | null;
  /**
   * The device's announcement on this or an earlier connection; undefined when it never made one.
   */
  capabilities: readonly string[] | undefined;
  /** Tasks that were claimed on this socket, which keeps their leases alive while it is open. */
  readonly claimed: Set<string>;
  send(message: ServerMessage): void;
  /** Sends a task that the device may claim. */
  sendTask(task: Task): void;
  /** The newest event of each task at which it was last sent to the device. */
  readonly sentTasks: BoundedMap<string, number>;
  close(code: number, reason: string): void;
}

/** The sockets of this process that are open now. The database, not this, knows which agent has which task. */
export interface Connections {
  add(connection: Connection): void;
  remove(connection: Connection): void;
  /** Whether a device of the agent is connected, to this process or another. */
  isOnline(agentId: string): boolean;
  /** Lists the agents with a connected device, at this process or another. */
  listAgents(): ReadonlySet<string>;
  /** Counts the connected devices of an agent, those of other processes included. */
  countSockets(agentId: string): number;
  /** Lists the devices that are connected to this process. */
  forAgent(agentId: string): readonly Connection[];
  /** Records that a device of the agent, connected or not, has announced capabilities. */
  markAnnounced(agentId: string): void;
  /** Returns the announcements that decide about tasks for a device. */
  abilityOf(connection: Connection): Ability;
  /** Returns whether a task that requires these capabilities may be sent to a device. */
  canServe(connection: Connection, required: readonly string[]): boolean;
  all(): Iterable<Connection>;
}

/** The announcement of one device, and whether any device of its agent ever made one. */
export interface Ability {
  readonly capabilities: readonly string[] | undefined;
  readonly agentAnnounces: boolean;
}

/**
 * Returns whether a task may be sent to a device. One with required capabilities is sent to devices
 * that announced them, and to a device without an announcement only if no device of its agent ever
 * made one.
 */
export function meetsRequirements(
  { capabilities, agentAnnounces }: Ability,
  required: readonly string[],
): boolean {
  return capabilities === undefined
    ? required.length === 0 || !agentAnnounces
    : required.every((name) => capabilities.includes(name));
}

/** The interface to the other processes through which the connections of this one are announced. */
export interface OtherProcesses {
  /** Whether a device of the agent is connected to another process. */
  isOnline(agentId: string): boolean;
  /** Lists the agents with a device that is connected to another process. */
  listAgents(): Iterable<string>;
  /** Counts the devices of an agent that are connected to other processes. */
  countSockets(agentId: string): number;
  /** Called when the connected devices of an agent, or what they may be sent, have changed. */
  markChanged(agentId: string): void;
}

const noOtherProcesses: OtherProcesses = {
  isOnline: () => false,
  listAgents: () => [],
  countSockets: () => 0,
  markChanged: () => {},
};

export function createConnections(
  getOthers: () => OtherProcesses = () => noOtherProcesses,
): Connections {
  const byAgent = new Map<string, Set<Connection>>();
  /** Connected agents whose devices announce; an agent that reconnects is read again. */
  const announcing = new Set<string>();
  const abilityOf = ({ agentId, capabilities }: Connection): Ability => ({
    capabilities,
    agentAnnounces: announcing.has(agentId),
  });

  return {
    add(connection) {
      const own = byAgent.get(connection.agentId) ?? new Set();
      byAgent.set(connection.agentId, own.add(connection));
      getOthers().markChanged(connection.agentId);
    },
    remove(connection) {
      const own = byAgent.get(connection.agentId);
      if (own?.delete(connection) !== true) return;
      getOthers().markChanged(connection.agentId);
      if (own.size > 0) return;
      byAgent.delete(connection.agentId);
      announcing.delete(connection.agentId);
    },
    isOnline: (agentId) => byAgent.has(agentId) || getOthers().isOnline(agentId),
    listAgents: () => new Set([...byAgent.keys(), ...getOthers().listAgents()]),
    countSockets: (agentId) =>
      (byAgent.get(agentId)?.size ?? 0) + getOthers().countSockets(agentId),
    forAgent: (agentId) => [...(byAgent.get(agentId) ?? [])],
    markAnnounced(agentId) {
      if (!byAgent.has(agentId)) return;
      announcing.add(agentId);
      getOthers().markChanged(agentId);
    },
    abilityOf,
    canServe: (connection, required) => meetsRequirements(abilityOf(connection), required),
    *all() {
      for (const own of byAgent.values()) yield* own;
    },
  };
}

/** Returns the claimant of a connection: its device, so that a reconnect keeps the claim. */
export function claimantIdOf(connection: Connection): string {
  return connection.deviceId ?? connection.id;
}
