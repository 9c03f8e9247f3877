import type { RelayClient } from "@agent/client";
import { canonicalize, sha256Hex } from "@agent/crypto";
import type { RelayFeatures } from "./relay-features.ts";
import { openAttempts } from "../execution/attempts/attempts.ts";
import { endAttemptsWith } from "../execution/attempts/end-attempts.ts";
import type { Work } from "../execution/work.ts";
import { createAttemptCounter, type LocalCounts, type AttemptCounter } from "../gradient/counts.ts";
import type { FindSigner } from "../http/authentication/check-signed-token.ts";
import type { Identity } from "../identity/identity.ts";
import type { Approver } from "../policy/approvals.ts";
import type { ApprovalsFile } from "../policy/approvals-file.ts";
import type { Runtime } from "../runtime.ts";
import type { ConfiguredQuorum } from "./quorum/configured-quorum.ts";
import { createQuorumApprover } from "./quorum/quorum-approver.ts";
import { openQuorumRequests } from "./quorum/quorum-requests.ts";
import { createAgentCredentials } from "./membership/agent-credentials.ts";
import { createFindSigner } from "./intake/find-signer.ts";
import { createRelaySocket } from "./relay-socket.ts";
import type { Contester } from "../tools/built-in/agent-contest.ts";
import { contestRejection } from "./contest-rejection.ts";
import { openBegunDelegations, type BegunDelegations } from "./delegation/begun-delegations.ts";
import { createDelegateTask } from "./delegation/delegate-task.ts";
import { createDelegator, type Delegator } from "./delegator/delegator.ts";
import { createHousekeeping } from "./housekeeping.ts";
import { createTaskReceiver, type TaskReceiver } from "./intake/task-receiver.ts";
import { createRejectionLog, type RejectionLog } from "./intake/rejection-log.ts";
import { createIsWanted } from "./intake/is-wanted.ts";
import { createResumeTasks } from "./intake/resume-tasks.ts";
import { createFindIssuerKey } from "./intake/find-issuer-key.ts";
import type { JoinResult, Membership, Profile } from "./membership/join-relay.ts";
import { createOutbox } from "./delivery/outbox.ts";
import { createPacedSend } from "./delivery/paced-send.ts";
import { createReceiptSender } from "./delivery/receipt-sender.ts";
import {
  createReceiptStore,
  type PendingReceipt,
  type ReceiptStore,
} from "./delivery/receipt-store.ts";
import { createRelayMonitor, type RelayMonitorParts } from "./monitor/relay-monitor.ts";
import { openReceiptHashes } from "./monitor/receipt-hashes.ts";
import { createReleaseClaim } from "./intake/release-claim.ts";
import { maintainMembership } from "./membership/maintain-membership.ts";

export interface RelayLinkOptions {
  readonly url: string;
  /** The relay's key that the owner configured, current or former. */
  readonly relayKey?: string | undefined;
  readonly registrationToken: string | undefined;
  readonly syncIntervalMs: number;
  /** The interval between gradient credentials. */
  readonly housekeepingIntervalMs: number;
  /** The interval between checks of the relay's transparency log; 0 for none. */
  readonly monitorIntervalMs: number;
  readonly taskTimeoutMs: number;
  /** Whether the owner lets other agents work and pays them. */
  readonly delegation: boolean;
  readonly identity: Identity;
  readonly profile: Profile;
  /** The folder of receipts that the relay has not acknowledged. */
  readonly outboxPath: string;
  /** The file with the counts of attempts at tasks. */
  readonly attemptsPath: string;
  /** The file of the delegations of unfinished tasks. */
  readonly delegationsPath: string;
  /** The folder of the owner's orders that may have a task at the relay. */
  readonly ordersPath: string;
  /** The file with the hashes of signed receipts. */
  readonly receiptHashesPath: string;
  /** The folder of what the monitor of the relay's log keeps. */
  readonly monitorPath: string;
  /** Stores the calls that the quorum was asked about. */
  readonly approvalsFile: ApprovalsFile;
  /** The agents that approve calls in the owner's place. */
  readonly quorum?: ConfiguredQuorum | undefined;
  readonly runtime: Runtime;
}

/** An agent's connection to its relay. */
export interface RelayLink extends RelayFeatures {
  readonly findSigner: FindSigner;
  readonly membership: () => Membership | undefined;
  /** Joins and accepts tasks; resolves after the first attempt and retries if that failed. */
  start(agent: {
    work: Work;
    counts: () => LocalCounts;
    endpointUrl: string | undefined;
  }): Promise<JoinResult>;
  stop(graceMs: number): Promise<void>;
}

/** Loads the undelivered receipts of the last run; sends nothing before `start`. */
export async function connectToRelay(options: RelayLinkOptions): Promise<RelayLink> {
  const { identity, runtime, url } = options;
  const [{ agentId }, { capabilities }] = [identity, options.profile];
  let taskReceiver: TaskReceiver | undefined;
  let stopped = false;
  const rejections = createRejectionLog(agentId, runtime);
  const counters = { delegations: createAttemptCounter(), heartbeats: createAttemptCounter() };
  const maintained = maintainMembership(options, {
    heartbeats: counters.heartbeats,
    retrySocket: () => openSocket(),
    joined() {
      openSocket();
      monitor.start();
      void credentials.submitCredentials();
    },
    synced: (current) => fetchMissed(options, current, { taskReceiver, rejections }),
  });
  const { membership } = maintained;
  const client = () => membership()?.client;
  const credentials = createAgentCredentials({ identity, membership, runtime });
  const { housekeepingIntervalMs: intervalMs } = options;
  const housekeeping = createHousekeeping({ credentials, counters, intervalMs, runtime });
  const send = createPacedSend((message) => socket.send(message), runtime);
  const receiptSender = createReceiptSender({ agentId, send, client, runtime });
  const opened = await openWorkState(options, client);
  const { store, attempts, begun, unsentReceipts, resumeTasks } = opened;
  const outbox = createOutbox({ sender: receiptSender, store, runtime });
  const receiptHashes = await openReceiptHashes(options.receiptHashesPath, runtime);
  const monitor = openMonitor(options, { membership, receiptHashes });
  const ownerParts = await openOwnerParts(options, membership);
  const socket = createRelaySocket({
    url,
    agentId,
    membership,
    onReady(isReconnect) {
      outbox.flush();
      maintained.handleAccepted(isReconnect);
      void resumeTasks((task) => taskReceiver?.receiveTask(task));
    },
    onMessage(message) {
      receiptSender.onMessage(message);
      taskReceiver?.onMessage(message);
    },
    onDown: () => receiptSender.onDown(),
    onRefused: () => maintained.handleSocketRefused(),
    runtime,
  });
  const openSocket = () => (stopped ? socket.close() : socket.openSocket());

  return {
    membership,
    deviceId: () => membership()?.deviceId,
    ...createRelayRequests(options, { membership, begun, delegations: counters.delegations }),
    credentials,
    ...ownerParts,
    gradient: () => credentials.gradient(),
    recordSigned: receiptHashes.record,
    deliverWork: outbox.deliver,
    findUndelivered: outbox.findReceipt,
    attempts,
    start({ work, counts, endpointUrl }) {
      housekeeping.start(counts);
      outbox.resume(unsentReceipts);
      const relayId = () => membership()?.relay.relayId ?? "";
      const received = { agentId, relayId, capabilities, work, send, rejections, runtime };
      taskReceiver = createTaskReceiver(received);
      return maintained.start(endpointUrl);
    },
    async stop(graceMs) {
      stopped = true;
      maintained.stop();
      housekeeping.stop();
      taskReceiver?.stop();
      await monitor.stop();
      await outbox.stop(graceMs);
      await attempts.close();
      socket.close();
    },
  };
}

/**
 * Fetches the tasks and the rejections that the socket did not deliver. A ready socket delivers each task
 * once: a task that this agent postponed, or whose claim got no answer, is found only here.
 */
async function fetchMissed(
  { identity: { agentId }, profile }: RelayLinkOptions,
  { client }: Membership,
  to: { readonly taskReceiver: TaskReceiver | undefined; readonly rejections: RejectionLog },
): Promise<void> {
  const open = await client.listTasks({ params: { agentId }, query: { status: "pending" } });
  if (open.ok) for (const task of open.body.tasks) to.taskReceiver?.receiveTask(task);
  if (profile.listing?.acceptance !== undefined) await to.rejections.noteMissed(client);
}

/** Creates the requests that the agent sends to its relay while it works. */
function createRelayRequests(
  options: RelayLinkOptions,
  on: {
    membership: () => Membership | undefined;
    begun: BegunDelegations;
    delegations: Pick<AttemptCounter, "record">;
  },
): Pick<
  RelayLink,
  "delegateTask" | "findIssuerKey" | "isWanted" | "releaseClaim" | "findSigner" | "contester"
> {
  const { identity, taskTimeoutMs, runtime } = options;
  const { agentId } = identity;
  const { membership } = on;
  const client = () => membership()?.client;
  return {
    delegateTask: createDelegateTask({
      identity,
      membership,
      timeoutMs: taskTimeoutMs,
      count: (isCompleted) => on.delegations.record(isCompleted),
      begun: on.begun,
      runtime,
    }),
    findIssuerKey: createFindIssuerKey({ membership, runtime }),
    isWanted: createIsWanted({ agentId, client, runtime }),
    releaseClaim: createReleaseClaim({ agentId, client, runtime }),
    findSigner: createFindSigner({ agentId, membership, runtime }),
    ...(options.profile.listing?.acceptance !== undefined && {
      contester: createContester(options, membership),
    }),
  };
}

/** Opens what only some owners configure: delegation by the owner, and approvers in the owner's place. */
async function openOwnerParts(
  options: RelayLinkOptions,
  membership: () => Membership | undefined,
): Promise<Pick<RelayLink, "delegator" | "approver">> {
  const approver = openApprover(options, membership);
  return {
    ...(options.delegation && { delegator: await openDelegator(options, membership) }),
    ...(approver !== undefined && { approver }),
  };
}

function openDelegator(
  options: RelayLinkOptions,
  membership: () => Membership | undefined,
): Promise<Delegator> {
  const { taskTimeoutMs: timeoutMs, url: relayUrl, identity, ordersPath, runtime } = options;
  return createDelegator({ identity, relayUrl, membership, timeoutMs, ordersPath, runtime });
}

function openMonitor(
  { url, identity, monitorPath: folder, monitorIntervalMs: intervalMs, runtime }: RelayLinkOptions,
  on: Pick<RelayMonitorParts, "membership" | "receiptHashes">,
) {
  const address = url.replace(/\/+$/, "");
  return createRelayMonitor({ ...on, url: address, identity, folder, intervalMs, runtime });
}

/** Creates the owner's way to contest rejections; refused until the agent has joined its relay. */
function createContester(
  { identity, runtime }: RelayLinkOptions,
  membership: () => Membership | undefined,
): Contester {
  return async (order, signal) => {
    const client = membership()?.client;
    if (client !== undefined) return contestRejection({ identity, client, runtime }, order, signal);
    const message = "This agent has not joined its relay yet";
    return { ok: false, code: "relay.not_joined", message };
  };
}

/** Returns the approver in the owner's place if the owner configured a quorum. */
function openApprover(
  { identity, quorum, approvalsFile: file, runtime, url }: RelayLinkOptions,
  membership: () => Membership | undefined,
): Approver | undefined {
  if (quorum === undefined) return undefined;
  const { agentId } = identity;
  const askerParts = [url, agentId, quorum.required, [...quorum.approvers]];
  return createQuorumApprover({
    agentId,
    quorum,
    requests: openQuorumRequests({ file, asker: sha256Hex(canonicalize(askerParts)) }),
    client: () => membership()?.client,
    relayKey: () => membership()?.relay.publicKey,
    runtime,
  });
}

/** Opens what the last run of this agent left: receipts that are not delivered, and tasks that it did not end. */
async function openWorkState(options: RelayLinkOptions, client: () => RelayClient | undefined) {
  const { url: relayUrl, outboxPath, attemptsPath, identity, runtime } = options;
  const { agentId } = identity;
  const of = { relayUrl, agentId };
  const begun = await openBegunDelegations({ ...of, path: options.delegationsPath }, runtime);
  const attempts = await openAttempts({ ...of, path: attemptsPath }, runtime);
  const receipts = createReceiptStore({ ...of, path: outboxPath, runtime });
  const unsentReceipts = await loadUnsentReceipts(receipts, runtime);
  const end = (taskId: string) => {
    attempts.end(taskId);
    begun.end(taskId);
  };
  for (const { receipt } of unsentReceipts) end(receipt.task_id);
  const resumeTasks = createResumeTasks({
    agentId,
    interrupted: attempts.listOpen(),
    client,
    attempts,
    runtime,
  });
  const store = endAttemptsWith(receipts, { end });
  return { store, attempts, begun, unsentReceipts, resumeTasks };
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
