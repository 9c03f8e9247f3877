import { connectSocket, type AgentSocket } from "@agent/client";
import { canonicalize, sha256Hex } from "@agent/crypto";
import type { Quorum } from "@agent/wire";
import type { HomeLink } from "../agent.ts";
import type { Work } from "../execution/work.ts";
import { countTries, type OwnCounts } from "../gradient/counts.ts";
import type { FindSigner } from "../http/signed-token.ts";
import type { Identity } from "../identity.ts";
import type { ApprovalsFile } from "../policy/approvals-file.ts";
import type { Runtime } from "../runtime.ts";
import { askQuorum } from "./ask-quorum.ts";
import { openAskedCalls } from "./asked-calls.ts";
import { createCredentialKeeper } from "./credentials.ts";
import { createFindSigner } from "./find-signer.ts";
import { createHire } from "./hire.ts";
import { createIntake, type Intake } from "./intake.ts";
import { createIsWanted } from "./is-wanted.ts";
import { createIssuerKeys } from "./issuer-keys.ts";
import type { JoinResult, Membership, Profile } from "./join.ts";
import { createOutbox } from "./outbox.ts";
import { pacedSend } from "./paced-send.ts";
import { createReceiptPost } from "./post-receipt.ts";
import { receiptFolder, type Parcel, type ReceiptStore } from "./receipt-store.ts";
import { createReleaseClaim } from "./release-claim.ts";
import { notJoined, stayJoined } from "./stay-joined.ts";

export interface HomeOptions {
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
export interface Home extends HomeLink {
  readonly findSigner: FindSigner;
  readonly membership: () => Membership | undefined;
  /** Joins and takes work; resolves after the first attempt and goes on trying if that failed. */
  start(agent: {
    work: Work;
    counts: () => OwnCounts;
    endpointUrl: string | undefined;
  }): Promise<JoinResult>;
  stop(graceMs: number): Promise<void>;
}

/** Reads what the last run left to be delivered; nothing is sent before `start`. */
export async function openHome(options: HomeOptions): Promise<Home> {
  const { identity, quorum, runtime, url } = options;
  const { agentId } = identity;
  let socket: AgentSocket | undefined;
  let intake: Intake | undefined;
  let stopped = false;
  let cancelHousekeeping = () => {};

  const delegations = countTries();
  const heartbeats = countTries();
  const member = stayJoined(options, {
    heartbeats,
    joined() {
      connect();
      void credentials.handIn();
    },
    /** A look for work that the socket did not bring. */
    async synced({ client }) {
      const open = await client.listTasks({ params: { agentId }, query: { status: "pending" } });
      if (open.ok) for (const task of open.body.tasks) intake?.take(task);
    },
  });
  const { membership } = member;
  const credentials = createCredentialKeeper({ identity, membership, runtime });
  const send = pacedSend((message) => socket?.send(message) ?? notReady, runtime);
  const receipts = createReceiptPost({
    agentId,
    send,
    client: () => membership()?.client,
    runtime,
  });
  const store = receiptFolder({ path: options.outboxPath, relayUrl: url, agentId, runtime });
  const outbox = createOutbox({ post: receipts.post, store, runtime });
  const left = await loadLeft(store, runtime);
  const approver =
    quorum &&
    askQuorum({
      agentId,
      quorum,
      asked: openAskedCalls({
        file: options.approvalsFile,
        asker: sha256Hex(canonicalize([url, agentId, quorum.required, [...quorum.approvers]])),
      }),
      client: () => membership()?.client,
      relayKey: () => membership()?.relay.publicKey,
      runtime,
    });

  function connect(): void {
    socket?.close();
    if (stopped) return;
    let wasDown = false;
    socket = connectSocket({
      ...runtime,
      baseUrl: url,
      agentId,
      bearer: async () => membership()?.client.bearerFor("socket") ?? notJoined,
      onMessage(message) {
        if (message.type === "ready") {
          outbox.hurry();
          member.accepted(wasDown);
          wasDown = false;
        }
        receipts.onMessage(message);
        intake?.onMessage(message);
      },
      onDown: ({ code, retryInMs }) => {
        wasDown = true;
        receipts.onDown();
        runtime.log("info", "socket.down", { code, retry_in_ms: Math.round(retryInMs) });
      },
      onRefused: ({ code, status }) => {
        runtime.log("warn", "socket.refused", { code, status });
        member.refused();
      },
    });
  }

  function housekeep(counts: () => OwnCounts): void {
    const { housekeepingIntervalMs } = options;
    const all = {
      ...counts(),
      delegations: delegations.tries(),
      heartbeats: heartbeats.tries(),
    };
    credentials.issueGradient(all, housekeepingIntervalMs);
    void credentials.handIn();
    cancelHousekeeping = runtime.schedule(housekeepingIntervalMs, () => housekeep(counts));
  }

  return {
    membership,
    deviceId: () => membership()?.deviceId,
    hire: createHire({
      identity,
      membership,
      timeoutMs: options.taskTimeoutMs,
      count: (isGood) => delegations.count(isGood),
      runtime,
    }),
    credentials,
    ...(approver !== undefined && { approver }),
    gradient: () => credentials.gradient(),
    keysOf: createIssuerKeys({ membership, runtime }),
    deliver: outbox.deliver,
    undelivered: outbox.find,
    isWanted: createIsWanted({ agentId, client: () => membership()?.client, runtime }),
    release: createReleaseClaim({ agentId, client: () => membership()?.client, runtime }),
    findSigner: createFindSigner({ agentId, membership, runtime }),
    start({ work, counts, endpointUrl }) {
      housekeep(counts);
      outbox.resume(left);
      intake = createIntake({
        agentId,
        relayId: () => membership()?.relay.relayId ?? "",
        capabilities: options.profile.capabilities,
        work,
        send,
        runtime,
      });
      return member.start(endpointUrl);
    },
    async stop(graceMs) {
      stopped = true;
      member.stop();
      cancelHousekeeping();
      intake?.stop();
      await outbox.stop(graceMs);
      socket?.close();
    },
  };
}

async function loadLeft(store: ReceiptStore, { log }: Runtime): Promise<readonly Parcel[]> {
  try {
    return await store.load();
  } catch (cause) {
    log("error", "outbox.unreadable", { cause: String(cause) });
    return [];
  }
}

const notReady = { ok: false, code: "socket.not_ready" } as const;
