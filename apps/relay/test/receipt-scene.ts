import { canonicalize, sign, toBase64Url } from "@agent/crypto";
import { receiptOf, type TestAgent } from "@agent/testkit";
import { expect } from "vitest";
import {
  buyer,
  delegate,
  expectConsistentBooks,
  holdingsOf,
  seller,
  taskAt,
  type Delegation,
} from "./market.ts";
import { masterToken, startTestRelay, type Reply, type TestRelay } from "./test-relay.ts";

export type Change = Parameters<typeof receiptOf>[2];

/** A task of price 2 that `boss`, who has 10, gave to `worker`; `stranger` is registered too. */
export interface ReceiptScene {
  readonly t: TestRelay;
  readonly boss: TestAgent;
  readonly worker: TestAgent;
  readonly stranger: TestAgent;
  readonly task: Delegation;
  receipt(change?: Change): ReturnType<typeof receiptOf>;
  /** By the operator, so that the receipt itself is what is judged. */
  post(body: unknown, path?: string): Promise<Reply>;
  postText(raw: string): Promise<Reply>;
  /** The members of a right receipt, to be changed and signed. */
  unsigned(change?: object): Record<string, unknown>;
  /** Signed right, whatever the members are. */
  signed(members: object, secretKey?: Uint8Array): object;
  /** Throws unless what is posted is without effect and the right receipt is accepted afterwards. */
  withoutEffect(posted: () => Promise<Reply>): Promise<Reply>;
  /** What boss and worker have when a receipt, by default the right one, was accepted. */
  balancesAfter(body?: unknown): Promise<[boss: number, worker: number]>;
}

export async function openReceiptScene(): Promise<ReceiptScene> {
  const t = await startTestRelay();
  const [boss, worker, stranger] = [await buyer(t, 10), await seller(t, 2), await t.agent()];
  const task = await delegate(t, boss, worker);

  const receipt = (change?: Change) => receiptOf(worker, task, change);
  const post = (body: unknown, path = task.path) => t.asMaster("POST", `${path}/result`, body);

  async function balancesAfter(body: unknown = receipt()): Promise<[number, number]> {
    expect(await post(body)).toMatchObject({ status: 200, body: { status: "completed" } });
    await expectConsistentBooks(t);
    return [await t.balance(boss), await t.balance(worker)];
  }

  return {
    t,
    boss,
    worker,
    stranger,
    task,
    receipt,
    post,
    postText: (raw) => t.request("POST", `${task.path}/result`, { token: masterToken, raw }),
    unsigned: (change) => ({ ...receipt(), signature: undefined, ...change }),
    signed(members, secretKey = worker.secretKey) {
      const signature = toBase64Url(sign(canonicalize(members), secretKey));
      return { ...members, signature };
    },
    async withoutEffect(posted) {
      const everybody = [boss, worker, stranger];
      const before = await holdingsOf(t, everybody);
      const answer = await posted();
      expect(await holdingsOf(t, everybody)).toEqual(before);
      expect(await taskAt(t, task.path)).toMatchObject({ status: "pending" });
      expect(await balancesAfter()).toEqual([8, 1.9]);
      return answer;
    },
    balancesAfter,
  };
}

/** What a refusal looks like. */
export function refused(status: number, code: string): object {
  return { status, body: { code, status } };
}
