import { type Account, applyPostings, type Micro, type Posting } from "@agent/budget";
import type { InboundTask, OutboundTask, TaskPayload } from "@agent/federation-protocol/forwarding";
import type { PeerRecord, PendingPeer } from "@agent/federation-protocol/peering";
import type { BookedSettlement, OutgoingSettlement } from "@agent/federation-protocol/settlement";
import type { ExecutionReceipt } from "@agent/receipts";

/** A task that an agent of this relay submitted. */
export interface OwnTask {
  readonly taskId: string;
  readonly payerId: string;
  readonly agentId: string;
  readonly payload: TaskPayload;
  readonly price: Micro;
  readonly locked: Micro;
  readonly expiresAt: number;
  /** The peer that will receive it; null for a task to an agent of this relay. */
  readonly peerId: string | null;
  readonly submittedAt: number;
  /** The time at which it expires, on the simulation's clock. */
  readonly endsAt: number;
  state: "open" | "completed" | "failed" | "denied" | "expired";
}

/** The values that are needed to forward a task again, or to another peer. */
export interface Outbound {
  /** The forward request that the relay received, without `task_payload`. */
  readonly relayed?: Readonly<Record<string, unknown>> | undefined;
  readonly task: OutboundTask;
  readonly path: readonly string[];
  readonly payload: TaskPayload;
  /** The peers to exclude if it must be forwarded again, including the current one. */
  readonly tried: readonly string[];
}

export interface Inbound {
  readonly task: InboundTask;
  readonly payload: TaskPayload;
  readonly submittedAt: number;
  readonly receipt: ExecutionReceipt | null;
  readonly receivedAt: number;
  /** The time from which a settlement is expected, on the simulation's clock. */
  readonly awaitedSince: number;
  readonly booked: BookedSettlement | null;
}

export interface Peer {
  readonly relayId: string;
  readonly publicKey: string;
  readonly limit: Micro;
  /** Whether the operator set the limit. */
  readonly isLimitSet: boolean;
  /** The highest exposure that was allowed when the operator last lowered the limit. */
  readonly ceiling: Micro;
  readonly record: PeerRecord;
}

/** One posted movement. */
export interface Movement {
  readonly taskId: string | null;
  readonly postings: readonly Posting[];
}

/** The number of attempts to send a settlement, and of those that a frozen peer answered. */
export interface SendCounts {
  readonly sent: number;
  readonly metFrozen: number;
}

/** The durable state of a simulated relay. */
export class RelayStore {
  ownTasks = new Map<string, OwnTask>();
  outbound = new Map<string, Outbound>();
  inbound = new Map<string, Inbound>();
  outbox = new Map<string, OutgoingSettlement>();
  sendCounts = new Map<string, SendCounts>();
  peers = new Map<string, Peer>();
  pending = new Map<string, PendingPeer>();
  references = new Set<string>();
  /** Results that a cheating relay has accepted and not settled. */
  withheld = new Set<string>();
  /** The times at which a cheating relay accepted results without answering. */
  stalledSince = new Map<string, number>();
  movements: Movement[] = [];
  balances: ReadonlyMap<Account, Micro> = new Map();
  /** The time of each account's last movement, on the relay's clock. */
  movedAt = new Map<Account, number>();

  post(taskId: string | null, postings: readonly Posting[], now: number): void {
    if (postings.length === 0) return;
    this.balances = applyPostings(this.balances, postings);
    this.movements.push({ taskId, postings });
    for (const { account } of postings) this.movedAt.set(account, now);
  }

  /** Returns a backup of the current state. */
  copy(): RelayStore {
    const copy = new RelayStore();
    copy.ownTasks = new Map([...this.ownTasks].map(([taskId, task]) => [taskId, { ...task }]));
    copy.outbound = new Map(this.outbound);
    copy.inbound = new Map(this.inbound);
    copy.outbox = new Map(this.outbox);
    copy.sendCounts = new Map(this.sendCounts);
    copy.peers = new Map(this.peers);
    copy.pending = new Map(this.pending);
    copy.references = new Set(this.references);
    copy.withheld = new Set(this.withheld);
    copy.stalledSince = new Map(this.stalledSince);
    copy.movements = [...this.movements];
    copy.balances = this.balances;
    copy.movedAt = new Map(this.movedAt);
    return copy;
  }

  /** Lists the tasks whose states differ between this store and another one. */
  differingTasks(other: RelayStore): string[] {
    const ids = new Set<string>();
    for (const store of [this, other]) {
      for (const rows of [store.ownTasks, store.outbound, store.inbound, store.outbox]) {
        for (const taskId of rows.keys()) ids.add(taskId);
      }
    }
    return [...ids].filter(
      (taskId) =>
        this.ownTasks.get(taskId)?.state !== other.ownTasks.get(taskId)?.state ||
        this.outbound.get(taskId) !== other.outbound.get(taskId) ||
        this.inbound.get(taskId) !== other.inbound.get(taskId) ||
        this.outbox.get(taskId) !== other.outbox.get(taskId),
    );
  }

  balanceOf(account: Account): Micro {
    return this.balances.get(account) ?? (0 as Micro);
  }
}
