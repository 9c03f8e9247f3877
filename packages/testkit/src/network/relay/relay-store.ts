import { type Account, applyPostings, type Micro, type Posting } from "@agent/budget";
import type {
  BookedSettlement,
  InboundTask,
  OutboundTask,
  OutgoingSettlement,
  PeerLife,
  PendingPeer,
  TaskPayload,
} from "@agent/federation-protocol";
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
  readonly booked: BookedSettlement | null;
}

export interface Peer {
  readonly relayId: string;
  readonly publicKey: string;
  readonly limit: Micro;
  readonly life: PeerLife;
}

/** One movement, as it was posted. */
export interface Movement {
  readonly taskId: string | null;
  readonly postings: readonly Posting[];
}

/** What a simulated relay keeps through a crash. */
export class RelayStore {
  readonly own = new Map<string, OwnTask>();
  readonly outbound = new Map<string, Outbound>();
  readonly inbound = new Map<string, Inbound>();
  readonly outbox = new Map<string, OutgoingSettlement>();
  readonly peers = new Map<string, Peer>();
  readonly pending = new Map<string, PendingPeer>();
  readonly references = new Set<string>();
  readonly movements: Movement[] = [];
  balances: ReadonlyMap<Account, Micro> = new Map();

  post(taskId: string | null, postings: readonly Posting[]): void {
    if (postings.length === 0) return;
    this.balances = applyPostings(this.balances, postings);
    this.movements.push({ taskId, postings });
  }

  balanceOf(account: Account): Micro {
    return this.balances.get(account) ?? (0 as Micro);
  }
}
