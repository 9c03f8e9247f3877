import type { ServerMessage, Task } from "@agent/wire";

/** A live, authenticated socket of one agent's device. */
export interface Connection {
  readonly id: string;
  readonly agentId: string;
  /** Null when the operator's token opened it. */
  readonly deviceId: string | null;
  /** What the device announced, now or on an earlier connection; undefined while it never did. */
  capabilities: readonly string[] | undefined;
  /** Tasks that were claimed here; the open socket keeps their leases alive. */
  readonly claimed: Set<string>;
  send(message: ServerMessage): void;
  /** Tells of a task that the device may claim. */
  offer(task: Task): void;
  close(code: number, reason: string): void;
}

/** Who is connected right now. Presence only: the store knows which tasks are whose. */
export interface Connections {
  add(connection: Connection): void;
  remove(connection: Connection): void;
  isOnline(agentId: string): boolean;
  forAgent(agentId: string): readonly Connection[];
  /** Notes that a device of the agent, connected or not, has announced what it can do. */
  markAnnounced(agentId: string): void;
  /** What a device can do as far as it is known now. */
  abilityOf(connection: Connection): Ability;
  /** Whether a task that requires these capabilities may go to a device. */
  canServe(connection: Connection, required: readonly string[]): boolean;
  all(): Iterable<Connection>;
}

/** What one device announced, and whether any device of its agent ever did. */
export interface Ability {
  readonly capabilities: readonly string[] | undefined;
  readonly agentAnnounces: boolean;
}

/**
 * A task with required capabilities goes to devices that announced them; to a device that announced
 * none only where no device of its agent ever did.
 */
export function meetsRequirements(
  { capabilities, agentAnnounces }: Ability,
  required: readonly string[],
): boolean {
  return capabilities === undefined
    ? required.length === 0 || !agentAnnounces
    : required.every((name) => capabilities.includes(name));
}

export function createConnections(): Connections {
  const byAgent = new Map<string, Set<Connection>>();
  /** Connected agents whose devices announce; those of an agent that has left are read again. */
  const announcing = new Set<string>();
  const abilityOf = ({ agentId, capabilities }: Connection): Ability => ({
    capabilities,
    agentAnnounces: announcing.has(agentId),
  });

  return {
    add(connection) {
      const own = byAgent.get(connection.agentId) ?? new Set();
      byAgent.set(connection.agentId, own.add(connection));
    },
    remove(connection) {
      const own = byAgent.get(connection.agentId);
      if (own?.delete(connection) !== true) return;
      if (own.size > 0) return;
      byAgent.delete(connection.agentId);
      announcing.delete(connection.agentId);
    },
    isOnline: (agentId) => byAgent.has(agentId),
    forAgent: (agentId) => [...(byAgent.get(agentId) ?? [])],
    markAnnounced: (agentId) => void (byAgent.has(agentId) && announcing.add(agentId)),
    abilityOf,
    canServe: (connection, required) => meetsRequirements(abilityOf(connection), required),
    *all() {
      for (const own of byAgent.values()) yield* own;
    },
  };
}

/** The name under which a connection claims: its device's, so that a reconnect keeps the claim. */
export function claimantIdOf(connection: Connection): string {
  return connection.deviceId ?? connection.id;
}
