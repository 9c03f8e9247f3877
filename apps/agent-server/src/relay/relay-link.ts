import { connectSocket, type AgentSocket } from "@agent/client";
import { canonicalize, sha256Hex } from "@agent/crypto";
import type { Quorum } from "@agent/wire";
import type { RelayFeatures } from "../agent.ts";
import type { Work } from "../execution/work.ts";
import { createAttemptCounter, type LocalCounts } from "../gradient/counts.ts";
import type { FindSigner } from "../http/authentication/check-signed-token.ts";
import type { Identity } from "../identity/identity.ts";
import type { ApprovalsFile } from "../policy/approvals-file.ts";
import type { Runtime } from "../runtime.ts";
import { createQuorumApprover } from "./quorum/quorum-approver.ts";
import { openQuorumRequests } from "./quorum/quorum-requests.ts";
import { createAgentCredentials } from "./membership/agent-credentials.ts";
import { createFindSigner } from "./intake/find-signer.ts";
import { createDelegateTask } from "./delegation/delegate-task.ts";
import { createTaskReceiver, type TaskReceiver } from "./intake/task-receiver.ts";
import { createIsWanted } from "./intake/is-wanted.ts";
import { createGetIssuerKeys } from "./intake/issuer-keys.ts";
import type { JoinResult, Membership, Profile } from "./membership/join-relay.ts";
import { createOutbox } from "./delivery/outbox.ts";
import { createPacedSend } from "./delivery/paced-send.ts";
import { createReceiptSender } from "./delivery/receipt-sender.ts";
import {
  createReceiptStore,
  type PendingReceipt,
  type ReceiptStore,
} from "./delivery/receipt-store.ts";
import { createReleaseClaim } from "./intake/release-claim.ts";
import { notJoinedRefusal, maintainMembership } from "./membership/maintain-membership.ts";

export interface RelayLinkOptions {
  readonly url: string;
  /** The relay's own key as the owner named it, or an earlier one of its chain. */
  readonly relayKey?: string | undefined;
  readonly registrationToken: string | undefined;
  readonly syncIntervalMs: number;
  /** Between gradient credentials. */
  readonly housekeepingIntervalMs: number;
  readonly taskTimeoutMs: number;
  readonly identity: Identity;
  readonly profile: Profile;
  /** Receipts that the relay has not acknowledged are kept there. */
  readonly outboxPath: string;
  /** So are the calls that the quorum was asked about. */
  readonly approvalsFile: ApprovalsFile;
  /** Who approves calls in the owner's place. */
  readonly quorum?: Quorum | undefined;
  readonly runtime: Runtime;
}

/** An agent's life with its home relay. */
export interface RelayLink extends RelayFeatures {
  readonly findSigner: FindSigner;
  readonly membership: () => Membership | undefined;
  /** Joins and takes work; resolves after the first attempt and goes on trying if that failed. */
  start(agent: {
    work: Work;
    counts: () => LocalCounts;
    endpointUrl: string | undefined;
  }): Promise<JoinResult>;
  stop(graceMs: number): Promise<void>;
}

/** Reads what the last run left to be delivered; nothing is sent before `start`. */
export async function connectToRelay(options: RelayLinkOptions): Promise<RelayLink> {
  const { identity, quorum, runtime, url } = options;
  const { agentId } = identity;
  let socket: AgentSocket | undefined;
  let intake: TaskReceiver | undefined;
  let stopped = false;
  let cancelHousekeeping = () => {};

  const delegations = createAttemptCounter();
  const heartbeats = createAttemptCounter();
  const maintained = maintainMembership(options, {
    heartbeats,
    joined() {
      openSocket();
      void credentials.submitCredentials();
    },
    /** A look for work that the socket did not bring. */
    async synced({ client }) {
      const open = await client.listTasks({ params: { agentId }, query: { status: "pending" } });
      if (open.ok) for (const task of open.body.tasks) intake?.receiveTask(task);
    },
  });
  const { membership } = maintained;
  const credentials = createAgentCredentials({ identity, membership, runtime });
  const send = createPacedSend((message) => socket?.send(message) ?? notReadyRefusal, runtime);
  const receiptSender = createReceiptSender({
    agentId,
    send,
    client: () => membership()?.client,
    runtime,
  });
  const receiptStore = createReceiptStore({
    path: options.outboxPath,
    relayUrl: url,
    agentId,
    runtime,
  });
  const outbox = createOutbox({ post: receiptSender.post, store: receiptStore, runtime });
  const unsentReceipts = await loadUnsentReceipts(receiptStore, runtime);
  const approver =
    quorum &&
    createQuorumApprover({
      agentId,
      quorum,
      asked: openQuorumRequests({
        file: options.approvalsFile,
        asker: sha256Hex(canonicalize([url, agentId, quorum.required, [...quorum.approvers]])),
      }),
      client: () => membership()?.client,
      relayKey: () => membership()?.relay.publicKey,
      runtime,
    });

  function openSocket(): void {
    socket?.close();
    if (stopped) return;
    let isReconnect = false;
    socket = connectSocket({
      ...runtime,
      baseUrl: url,
      agentId,
      bearer: async () => membership()?.client.getBearer("socket") ?? notJoinedRefusal,
      onMessage(message) {
        if (message.type === "ready") {
          outbox.flush();
          maintained.handleAccepted(isReconnect);
          isReconnect = false;
        }
        receiptSender.onMessage(message);
        intake?.onMessage(message);
      },
      onDisconnect: ({ code, retryInMs }) => {
        isReconnect = true;
        receiptSender.onDown();
        runtime.log("info", "socket.down", { code, retry_in_ms: Math.round(retryInMs) });
      },
      onRefused: ({ code, status }) => {
        runtime.log("warn", "socket.refused", { code, status });
        maintained.handleRefused();
      },
    });
  }

  function issueCredentials(counts: () => LocalCounts): void {
    const { housekeepingIntervalMs } = options;
    const all = {
      ...counts(),
      delegations: delegations.attempts(),
      heartbeats: heartbeats.attempts(),
    };
    credentials.issueGradient(all, housekeepingIntervalMs);
    void credentials.submitCredentials();
    cancelHousekeeping = runtime.schedule(housekeepingIntervalMs, () => issueCredentials(counts));
  }

  return {
    membership,
    deviceId: () => membership()?.deviceId,
    delegateTask: createDelegateTask({
      identity,
      membership,
      timeoutMs: options.taskTimeoutMs,
      count: (isGood) => delegations.record(isGood),
      runtime,
    }),
    credentials,
    ...(approver !== undefined && { approver }),
    gradient: () => credentials.gradient(),
    getIssuerKeys: createGetIssuerKeys({ membership, runtime }),
    deliverReceipt: outbox.deliver,
    findUndelivered: outbox.findReceipt,
    isWanted: createIsWanted({ agentId, client: () => membership()?.client, runtime }),
    releaseClaim: createReleaseClaim({ agentId, client: () => membership()?.client, runtime }),
    findSigner: createFindSigner({ agentId, membership, runtime }),
    start({ work, counts, endpointUrl }) {
      issueCredentials(counts);
      outbox.resume(unsentReceipts);
      intake = createTaskReceiver({
        agentId,
        relayId: () => membership()?.relay.relayId ?? "",
        capabilities: options.profile.capabilities,
        work,
        send,
        runtime,
      });
      return maintained.start(endpointUrl);
    },
    async stop(graceMs) {
      stopped = true;
      maintained.stop();
      cancelHousekeeping();
      intake?.stop();
      await outbox.stop(graceMs);
      socket?.close();
    },
  };
}

async function loadUnsentReceipts(
  store: ReceiptStore,
  { log }: Runtime,
): Promise<readonly PendingReceipt[]> {
  try {
    return await store.load();
  } catch (cause) {
    log("error", "outbox.unreadable", { cause: String(cause) });
    return [];
  }
}

const notReadyRefusal = { ok: false, code: "socket.not_ready" } as const;
