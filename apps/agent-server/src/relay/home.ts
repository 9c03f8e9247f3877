import { connectSocket, type AgentSocket, type CallRefusal } from "@agent/client";
import type { HomeLink } from "../agent.ts";
import type { Work } from "../execution/work.ts";
import { countTries, type OwnCounts } from "../gradient/counts.ts";
import type { FindSigner } from "../http/signed-token.ts";
import type { Identity } from "../identity.ts";
import type { Runtime } from "../runtime.ts";
import { retryDelayMs } from "./backoff.ts";
import { createCredentialKeeper } from "./credentials.ts";
import { createFindSigner } from "./find-signer.ts";
import { createHire } from "./hire.ts";
import { createIntake, type Intake } from "./intake.ts";
import { createIssuerKeys } from "./issuer-keys.ts";
import { announce, join, type JoinResult, type Membership, type Profile } from "./join.ts";
import { createOutbox } from "./outbox.ts";
import { pacedSend } from "./paced-send.ts";
import { createReceiptPost } from "./post-receipt.ts";
import { receiptFolder, type Parcel, type ReceiptStore } from "./receipt-store.ts";

export interface HomeOptions {
  readonly url: string;
  readonly registrationToken: string | undefined;
  readonly syncIntervalMs: number;
  /** Between gradient credentials. */
  readonly housekeepingIntervalMs: number;
  readonly taskTimeoutMs: number;
  readonly identity: Identity;
  readonly profile: Profile;
  /** Receipts that the relay has not acknowledged are kept there. */
  readonly outboxPath: string;
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

const rejoinCapMs = 30_000;

/** Reads what the last run left to be delivered; nothing is sent before `start`. */
export async function openHome(options: HomeOptions): Promise<Home> {
  const { identity, runtime, syncIntervalMs, url } = options;
  const { agentId } = identity;
  let membership: Membership | undefined;
  let socket: AgentSocket | undefined;
  let intake: Intake | undefined;
  let endpointUrl: string | undefined;
  let rejoined = false;
  let failures = 0;
  let cycling = false;
  let stopped = false;
  let cancelNext = () => {};
  let cancelHousekeeping = () => {};

  const current = () => membership;
  const send = pacedSend((message) => socket?.send(message) ?? notReady, runtime);
  const receipts = createReceiptPost({ send, client: () => membership?.client, runtime });
  const store = receiptFolder({ path: options.outboxPath, relayUrl: url, agentId, runtime });
  const outbox = createOutbox({ post: receipts.post, store, runtime });
  const left = await loadLeft(store, runtime);
  const credentials = createCredentialKeeper({ identity, membership: current, runtime });
  const delegations = countTries();
  const heartbeats = countTries();

  async function tryToJoin(): Promise<JoinResult> {
    const result = await join({ ...options, endpointUrl });
    if (!result.ok) {
      const { code, status, message } = result;
      runtime.log("warn", "relay.join_failed", { code, status, reason: message });
      return result;
    }
    failures = 0;
    membership = result.membership;
    runtime.log("info", "relay.joined", { relay_id: membership.relay.relayId });
    connect();
    void credentials.handIn();
    return result;
  }

  function connect(): void {
    socket?.close();
    if (stopped) return;
    let wasDown = false;
    socket = connectSocket({
      ...runtime,
      baseUrl: url,
      agentId,
      bearer: async () => membership?.client.bearerFor("socket") ?? notJoined,
      onMessage(message) {
        if (message.type === "ready") {
          outbox.hurry();
          // It may have come back from a backup that is older than this registration.
          if (wasDown) void announceAgain();
          wasDown = false;
          rejoined = false;
        }
        receipts.onMessage(message);
        intake?.onMessage(message);
      },
      onDown: ({ code, retryInMs }) => {
        wasDown = true;
        runtime.log("info", "socket.down", { code, retry_in_ms: Math.round(retryInMs) });
      },
      onRefused: ({ code, status }) => {
        runtime.log("warn", "socket.refused", { code, status });
        forget();
      },
    });
  }

  async function announceAgain(): Promise<void> {
    if (membership === undefined) return;
    const answer = await announce(membership.client, { ...options, endpointUrl });
    if (answer.ok) return;
    runtime.log("warn", "relay.announce_failed", { code: answer.code, status: answer.status });
    if (forgotten.has(answer.code)) forget();
  }

  /** Joins anew: at once, but a second time in vain only when it is due. */
  function forget(): void {
    membership = undefined;
    if (cycling || stopped || rejoined) return;
    rejoined = true;
    cancelNext();
    void cycle();
  }

  /** Heartbeat, and a look for work that the socket did not bring. */
  async function sync({ client }: Membership): Promise<void> {
    const beat = await client.heartbeat({ body: { agent_id: agentId } });
    heartbeats.count(beat.ok);
    if (!beat.ok && forgotten.has(beat.code)) {
      runtime.log("warn", "relay.forgot_agent", { code: beat.code });
      membership = undefined;
      return;
    }
    const open = await client.listTasks({ params: { agentId }, query: { status: "pending" } });
    if (open.ok) for (const task of open.body.tasks) intake?.take(task);
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

  async function cycle(): Promise<JoinResult | undefined> {
    cycling = true;
    let result: JoinResult | undefined;
    try {
      if (membership !== undefined) await sync(membership);
      // A relay that lost this agent is joined again at once, not a whole interval later.
      if (membership === undefined && !stopped) result = await tryToJoin();
    } catch (cause) {
      runtime.log("error", "relay.cycle_failed", { cause: String(cause) });
    }
    cycling = false;
    if (stopped) return result;
    const refused = result !== undefined && !result.ok ? result : undefined;
    const delay =
      refused === undefined
        ? syncIntervalMs
        : retryDelayMs(failures++, refused, { runtime, capMs: rejoinCapMs });
    cancelNext = runtime.schedule(delay, () => void cycle());
    return result;
  }

  return {
    membership: current,
    deviceId: () => membership?.deviceId,
    hire: createHire({
      identity,
      membership: current,
      timeoutMs: options.taskTimeoutMs,
      count: (isGood) => delegations.count(isGood),
      runtime,
    }),
    credentials,
    gradient: () => credentials.gradient(),
    keysOf: createIssuerKeys({ membership: current, runtime }),
    deliver: (receipt) => outbox.deliver(receipt, agentId),
    undelivered: outbox.find,
    findSigner: createFindSigner({ agentId, membership: current, runtime }),
    async start({ work, counts, endpointUrl: address }) {
      endpointUrl = address;
      housekeep(counts);
      outbox.resume(left);
      intake = createIntake({
        agentId,
        relayId: () => membership?.relay.relayId ?? "",
        work,
        send,
        deliver: outbox.deliver,
        runtime,
      });
      return (await cycle()) ?? notJoined;
    },
    async stop(graceMs) {
      stopped = true;
      cancelNext();
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

/** Answers of a relay that no longer knows this agent, as after it lost its memory. */
const forgotten: ReadonlySet<string> = new Set([
  "agent.not_found",
  "auth.device_not_authorized",
  "auth.verification_failed",
]);

const notReady = { ok: false, code: "socket.not_ready" } as const;

const notJoined: CallRefusal = {
  ok: false,
  code: "network.unreachable",
  status: 0,
  message: "The relay has not been joined yet",
};
