import { canonicalize, sha256Hex } from "@agent/crypto";
import type { Quorum } from "@agent/wire";
import type { RelayFeatures } from "../agent.ts";
import type { Work } from "../execution/work.ts";
import { createAttemptCounter, type LocalCounts, type AttemptCounter } from "../gradient/counts.ts";
import type { FindSigner } from "../http/authentication/check-signed-token.ts";
import type { Identity } from "../identity/identity.ts";
import type { Approver } from "../policy/approvals.ts";
import type { ApprovalsFile } from "../policy/approvals-file.ts";
import type { Runtime } from "../runtime.ts";
import { createQuorumApprover } from "./quorum/quorum-approver.ts";
import { openQuorumRequests } from "./quorum/quorum-requests.ts";
import { createAgentCredentials } from "./membership/agent-credentials.ts";
import { createFindSigner } from "./intake/find-signer.ts";
import { createHomeSocket } from "./relay-socket.ts";
import { createDelegateTask } from "./delegation/delegate-task.ts";
import { createHousekeeping } from "./housekeeping.ts";
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
import { maintainMembership } from "./membership/maintain-membership.ts";

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
  const { identity, runtime, url } = options;
  const { agentId } = identity;
  const { capabilities } = options.profile;
  let intake: TaskReceiver | undefined;
  let stopped = false;
  const counters = { delegations: createAttemptCounter(), heartbeats: createAttemptCounter() };
  const maintained = maintainMembership(options, {
    heartbeats: counters.heartbeats,
    joined() {
      if (stopped) socket.close();
      else socket.openSocket();
      void credentials.submitCredentials();
    },
    /** A look for work that the socket did not bring. */
    async synced({ client }) {
      const open = await client.listTasks({ params: { agentId }, query: { status: "pending" } });
      if (open.ok) for (const task of open.body.tasks) intake?.receiveTask(task);
    },
  });
  const { membership } = maintained;
  const client = () => membership()?.client;
  const credentials = createAgentCredentials({ identity, membership, runtime });
  const { housekeepingIntervalMs: intervalMs } = options;
  const housekeeping = createHousekeeping({ credentials, counters, intervalMs, runtime });
  const send = createPacedSend((message) => socket.send(message), runtime);
  const receiptSender = createReceiptSender({ agentId, send, client, runtime });
  const receiptStore = createReceiptStore({
    path: options.outboxPath,
    relayUrl: url,
    agentId,
    runtime,
  });
  const outbox = createOutbox({ post: receiptSender.post, store: receiptStore, runtime });
  const unsentReceipts = await loadUnsentReceipts(receiptStore, runtime);
  const approver = openApprover(options, membership);
  const socket = createHomeSocket({
    url,
    agentId,
    membership,
    onReady(again) {
      outbox.flush();
      maintained.handleAccepted(again);
    },
    onMessage(message) {
      receiptSender.onMessage(message);
      intake?.onMessage(message);
    },
    onDown: () => receiptSender.onDown(),
    onRefused: () => maintained.handleRefused(),
    runtime,
  });

  return {
    membership,
    deviceId: () => membership()?.deviceId,
    ...createRelayRequests(options, { membership, delegations: counters.delegations }),
    credentials,
    ...(approver !== undefined && { approver }),
    gradient: () => credentials.gradient(),
    deliverReceipt: outbox.deliver,
    findUndelivered: outbox.findReceipt,
    start({ work, counts, endpointUrl }) {
      housekeeping.start(counts);
      outbox.resume(unsentReceipts);
      const relayId = () => membership()?.relay.relayId ?? "";
      intake = createTaskReceiver({ agentId, relayId, capabilities, work, send, runtime });
      return maintained.start(endpointUrl);
    },
    async stop(graceMs) {
      stopped = true;
      maintained.stop();
      housekeeping.stop();
      intake?.stop();
      await outbox.stop(graceMs);
      socket.close();
    },
  };
}

/** What the agent asks its relay while it works, each by a request of its own. */
function createRelayRequests(
  { identity, taskTimeoutMs, runtime }: RelayLinkOptions,
  on: { membership: () => Membership | undefined; delegations: Pick<AttemptCounter, "record"> },
): Pick<RelayLink, "delegateTask" | "getIssuerKeys" | "isWanted" | "releaseClaim" | "findSigner"> {
  const { agentId } = identity;
  const { membership } = on;
  const client = () => membership()?.client;
  return {
    delegateTask: createDelegateTask({
      identity,
      membership,
      timeoutMs: taskTimeoutMs,
      count: (isGood) => on.delegations.record(isGood),
      runtime,
    }),
    getIssuerKeys: createGetIssuerKeys({ membership, runtime }),
    isWanted: createIsWanted({ agentId, client, runtime }),
    releaseClaim: createReleaseClaim({ agentId, client, runtime }),
    findSigner: createFindSigner({ agentId, membership, runtime }),
  };
}

/** Returns the approver in the owner's place, where the owner named a quorum. */
function openApprover(
  { identity, quorum, approvalsFile: file, runtime, url }: RelayLinkOptions,
  membership: () => Membership | undefined,
): Approver | undefined {
  if (quorum === undefined) return undefined;
  const { agentId } = identity;
  const asked = [url, agentId, quorum.required, [...quorum.approvers]];
  return createQuorumApprover({
    agentId,
    quorum,
    asked: openQuorumRequests({ file, asker: sha256Hex(canonicalize(asked)) }),
    client: () => membership()?.client,
    relayKey: () => membership()?.relay.publicKey,
    runtime,
  });
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
