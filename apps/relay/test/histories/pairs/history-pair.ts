import { join } from "node:path";
import { mkdirSync } from "node:fs";
import type { ManualClock } from "@agent/testkit";
import { createSerialClock } from "../create-serial-clock.ts";
import { HistoryRelay } from "../history-relay.ts";
import { MessageLink } from "./message-link.ts";

const SECOND_SEED = 500_000;
/** The answer of one relay can start work at the other, and that work more at the first. */
const SETTLE_ROUNDS = 2;

/** One of the two relays, with the address at which its peer reaches it. */
export interface Site {
  readonly relay: HistoryRelay;
  readonly link: MessageLink;
  readonly other: Site;
}

/** Two relays on one clock that become peers, and what their operators decided about the money between them. */
export class HistoryPair {
  readonly sites: readonly [Site, Site];
  /** The tasks whose settlement an operator gave up, so that the two books may differ by it. */
  readonly gaveUp = new Set<string>();
  /** The tasks that a peer did not pay, which an operator wrote off. */
  readonly cleared = new Set<string>();
  /** The payments between the relays that only the sender has recorded. */
  readonly unrecorded: { site: Site; amount: number; reference: string }[] = [];
  /** By how much the two books differed because of such payments, in micro-units. */
  readonly differences = new Set<number>();
  /** Whether relays may be restored from a backup in this history. */
  canRestore = false;
  /** Whether a relay was restored from a backup, after which its books may lack what its peer has. */
  isRestored = false;
  #payments = 0;

  private constructor(sites: readonly [Site, Site]) {
    this.sites = sites;
  }

  static async open(folder: string, env: Record<string, string>): Promise<HistoryPair> {
    const clock = createSerialClock();
    const [a, b] = [
      await openSite(join(folder, "alpha"), { env, clock, seed: 0, name: "alpha" }),
      await openSite(join(folder, "beta"), { env, clock, seed: SECOND_SEED, name: "beta" }),
    ];
    for (const [own, peer] of [
      [a, b],
      [b, a],
    ] as const) {
      own.link.sender = peer.relay;
      own.relay.neighbour = peer.relay;
    }
    b.relay.joinNotes(a.relay);
    const first: { -readonly [Key in keyof Site]: Site[Key] } = { ...a, other: undefined! };
    const second: Site = { ...b, other: first };
    first.other = second;
    return new HistoryPair([first, second]);
  }

  /** Chooses one of the two relays. */
  chooseSite(pick: number): Site {
    return this.sites[pick % 2]!;
  }

  /** Runs the jobs of both relays, and waits for their messages to each other. */
  async settle(): Promise<void> {
    for (let round = 0; round < SETTLE_ROUNDS; round += 1) {
      for (const { relay } of this.sites) await relay.tick();
    }
  }

  async advance(ms: number): Promise<void> {
    await this.sites[0].relay.clock.advance(ms);
    await this.settle();
  }

  /** Returns a name for a payment between the relays. */
  nextPayment(): string {
    this.#payments += 1;
    return `wire ${this.#payments}`;
  }

  async close(): Promise<void> {
    for (const { relay } of this.sites) await relay.close();
    for (const { link } of this.sites) await link.close();
  }
}

async function openSite(
  folder: string,
  {
    env,
    clock,
    seed,
    name,
  }: {
    readonly env: Record<string, string>;
    readonly clock: ManualClock;
    readonly seed: number;
    readonly name: string;
  },
): Promise<{ readonly relay: HistoryRelay; readonly link: MessageLink }> {
  mkdirSync(folder);
  const link = await MessageLink.open();
  const own = { ...env, AGENT_FEDERATION_ENDPOINT_URL: link.url, AGENT_RELAY_NAME: name };
  const relay = await HistoryRelay.open(folder, own, { clock, seed, name });
  link.relay = relay;
  return { relay, link };
}
