import type { ServerResponse } from "node:http";
import { signRelaySuccession, type RelaySuccessionRecord } from "@agent/crypto";
import type { ExecutionReceipt } from "@agent/receipts";
import {
  createSeededRandom,
  createTestAgent,
  type SeededRandom,
  type TestAgent,
} from "@agent/testkit";
import { createFakePeer, type FakePeer } from "../../network/fake-peer.ts";
import {
  startListeningPeer,
  type ListeningPeer,
  type ReceivedRequest,
} from "../../network/listening-peer.ts";
import type { HistoryRelay } from "../history-relay.ts";

type Body = Readonly<Record<string, unknown>>;

/** A message that the peer may send again later, as it was or with new headers. */
export interface SentMessage {
  readonly path: string;
  readonly body: Body;
  readonly headers: Record<string, string>;
}

/** Answers a request of the honest relay; undefined closes the connection instead. */
export type AnswerRequest = (
  peer: HostilePeer,
  request: ReceivedRequest,
  response: ServerResponse,
) => unknown;

const AGENTS = 3;
const MAX_KEPT = 30;

/** A relay that has keys and agents of its own, and sends and answers whatever it likes. */
export class HostilePeer {
  readonly honest: HistoryRelay;
  readonly random: SeededRandom;
  readonly agents: TestAgent[];
  /** Every how many answers one is a lie; 1 lies always, and 0 never. */
  lieEvery = 0;
  /** The number by which the peer always chooses the same lie about a message; null chooses at random. */
  habit: number | null = null;
  /** The orders of the honest relay, and the peer's own orders to it. */
  readonly received: Body[] = [];
  readonly ordered: Body[] = [];
  /** The results, receipts included, and the settlements that the honest relay sent. */
  readonly results: (Body & { readonly receipt: ExecutionReceipt })[] = [];
  readonly settlements: Body[] = [];
  readonly sent: SentMessage[] = [];
  readonly succession: RelaySuccessionRecord[] = [];
  #signer!: FakePeer;
  #server!: ListeningPeer;

  private constructor(honest: HistoryRelay, seed: number) {
    this.honest = honest;
    this.random = createSeededRandom(seed);
    const world = { now: honest.clock.now, randomBytes: this.random.randomBytes };
    this.agents = Array.from({ length: AGENTS }, () => createTestAgent(world));
  }

  static async open(
    honest: HistoryRelay,
    { seed, answer }: { readonly seed: number; readonly answer: AnswerRequest },
  ): Promise<HostilePeer> {
    const peer = new HostilePeer(honest, seed);
    peer.#server = await startListeningPeer((request, response) => {
      peer.#keep(request);
      return answer(peer, request, response);
    });
    const relay = {
      clock: { now: () => honest.now() },
      relay: { relayId: honest.t.relay.relayId },
      request: ((method, path, options) =>
        honest.report(
          `from the hostile peer: ${method} ${path}`,
          honest.t.request(method, path, options),
        )) satisfies HistoryRelay["t"]["request"],
    };
    peer.#signer = createFakePeer(relay, peer.#server.url);
    return peer;
  }

  /** Signs with the peer's present key. */
  get signer(): FakePeer {
    return this.#signer;
  }

  get url(): string {
    return this.#server.url;
  }

  /** Chooses an agent of this peer; the honest relay's submitters send tasks to them. */
  chooseParty(pick: number): TestAgent {
    return this.agents[pick % this.agents.length]!;
  }

  /** Decides whether the next answer is a lie. */
  lies(): boolean {
    return this.lieEvery > 0 && this.random.below(this.lieEvery) === 0;
  }

  /** Chooses one of several lies. */
  chooseLie<Lie>(lies: readonly [Lie, ...Lie[]]): Lie {
    return this.habit === null ? this.random.pick(lies) : lies[this.habit % lies.length]!;
  }

  async send(path: string, body: object, headers?: Record<string, string>) {
    const signed = headers ?? this.signer.headers("POST", path, body);
    keep(this.sent, { path, body: body as Body, headers: signed });
    return this.signer.post(path, body, signed);
  }

  /** Replaces the relay's key, as an honest relay may do too. */
  rotateKey(): void {
    const { secretKey } = createTestAgent({
      now: this.honest.clock.now,
      randomBytes: this.random.randomBytes,
    });
    this.succession.push(
      signRelaySuccession({
        relay_id: this.signer.relayId,
        oldSecretKey: this.signer.secretKey,
        newSecretKey: secretKey,
        timestamp: this.honest.now(),
      }),
    );
    this.signer.replaceKey(secretKey);
  }

  #keep({ path, body }: ReceivedRequest): void {
    if (path.endsWith("/task/forward")) keep(this.received, body);
    if (path.endsWith("/task/result")) keep(this.results, body as (typeof this.results)[number]);
    if (path.endsWith("/settlement/forward")) keep(this.settlements, body);
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

/** Adds an item, and drops the oldest ones beyond the number that a peer keeps. */
export function keep<Item>(items: Item[], item: Item): void {
  items.push(item);
  if (items.length > MAX_KEPT) items.shift();
}
