import type { ServerMessage, Task } from "@agent/wire";

/** A live, authenticated socket of one agent's device. */
export interface Connection {
  readonly id: string;
  readonly agentId: string;
  /** Null when the operator's token opened it. */
  readonly deviceId: string | null;
  /** What the device says that it can do; undefined while it has not said. */
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
  of(agentId: string): readonly Connection[];
  all(): Iterable<Connection>;
}

export function createConnections(): Connections {
  const byAgent = new Map<string, Set<Connection>>();
  return {
    add(connection) {
      const own = byAgent.get(connection.agentId) ?? new Set();
      byAgent.set(connection.agentId, own.add(connection));
    },
    remove(connection) {
      const own = byAgent.get(connection.agentId);
      if (own?.delete(connection) !== true) return;
      if (own.size === 0) byAgent.delete(connection.agentId);
    },
    isOnline: (agentId) => byAgent.has(agentId),
    of: (agentId) => [...(byAgent.get(agentId) ?? [])],
    *all() {
      for (const own of byAgent.values()) yield* own;
    },
  };
}

/** The name under which a connection claims: its device's, so that a reconnect keeps the claim. */
export function workerOf(connection: Connection): string {
  return connection.deviceId ?? connection.id;
}

/** A device that has not declared its capabilities is taken to have those that its agent registered. */
export function canServe(
  { capabilities }: Pick<Connection, "capabilities">,
  required: readonly string[],
): boolean {
  return capabilities === undefined || required.every((name) => capabilities.includes(name));
}
