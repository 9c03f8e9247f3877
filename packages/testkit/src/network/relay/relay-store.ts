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
  /** The peer that it is to go to; null for a task of an agent of this relay. */
  readonly peerId: string | null;
  readonly submittedAt: number;
  /** When its time is over, on the clock of the simulation. */
  readonly endsAt: number;
  state: "open" | "completed" | "failed" | "denied" | "expired";
}

/** What has to be known to send a task on, again or to another peer. */
export interface Outbound {
  /** The forward that the relay got itself, without `task_payload`. */
  readonly relayed?: Readonly<Record<string, unknown>> | undefined;
  readonly task: OutboundTask;
  readonly path: readonly string[];
  readonly payload: TaskPayload;
  /** The peers that certainly do not have it. */
  readonly tried: readonly string[];
}

export interface Inbound {
  readonly task: InboundTask;
  readonly path: readonly string[];
  readonly payload: TaskPayload;
  readonly submittedAt: number;
  readonly receipt: ExecutionReceipt | null;
  readonly receivedAt: number;
  /** Since when a settlement is awaited, on the clock of the simulation. */
  readonly awaitedSince: number;
  readonly booked: BookedSettlement | null;
}

export interface Peer {
  readonly relayId: string;
  readonly publicKey: string;
  readonly limit: Micro;
  /** The highest exposure that was allowed when the operator last lowered the limit. */
  readonly ceiling: Micro;
  readonly life: PeerRecord;
}

/** One movement, as it was posted. */
export interface Movement {
  readonly taskId: string | null;
  readonly postings: readonly Posting[];
}

/** How often a settlement was sent, and how often the peer said that it was frozen. */
export interface SendCounts {
  readonly sent: number;
  readonly metFrozen: number;
}

/** What a simulated relay keeps through a crash. */
export class RelayStore {
  ownTasks = new Map<string, OwnTask>();
  outbound = new Map<string, Outbound>();
  inbound = new Map<string, Inbound>();
  outbox = new Map<string, OutgoingSettlement>();
  sendCounts = new Map<string, SendCounts>();
  peers = new Map<string, Peer>();
  pending = new Map<string, PendingPeer>();
  references = new Set<string>();
  /** Results that a cheating relay has taken and not settled. */
  withheld = new Set<string>();
  /** When a cheating relay took a result of which it says nothing yet. */
  stalledSince = new Map<string, number>();
  movements: Movement[] = [];
  balances: ReadonlyMap<Account, Micro> = new Map();
  /** When each account last moved, by the relay's clock. */
  movedAt = new Map<Account, number>();

  post(taskId: string | null, postings: readonly Posting[], now: number): void {
    if (postings.length === 0) return;
    this.balances = applyPostings(this.balances, postings);
    this.movements.push({ taskId, postings });
    for (const { account } of postings) this.movedAt.set(account, now);
  }

  /** A backup: everything as it is now. */
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

  /** The tasks of which this store and another one know different things. */
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
