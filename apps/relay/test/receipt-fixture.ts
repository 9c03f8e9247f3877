import { canonicalize, sign, toBase64Url } from "@agent/crypto";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { expect } from "vitest";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  getAgentStates,
  createSeller,
  getTaskAt,
  type Delegation,
} from "./market.ts";
import { OPERATOR_TOKEN, startTestRelay, type Reply, type TestRelay } from "./test-relay.ts";

export type ReceiptChange = Parameters<typeof createReceipt>[2];

/** A task at a price of 2 that `boss`, who has 10, gave to `worker`; `stranger` is registered too. */
export interface ReceiptFixture {
  readonly t: TestRelay;
  readonly boss: TestAgent;
  readonly worker: TestAgent;
  readonly stranger: TestAgent;
  readonly task: Delegation;
  receipt(change?: ReceiptChange): ReturnType<typeof createReceipt>;
  /** Posts as the operator, so that only the receipt itself can be refused. */
  post(body: unknown, path?: string): Promise<Reply>;
  postText(raw: string): Promise<Reply>;
  /** Builds the members of a correct receipt, which tests change and sign. */
  unsigned(change?: object): Record<string, unknown>;
  /** Signs any members validly. */
  signed(members: object, secretKey?: Uint8Array): object;
  /** Throws if the post has an effect, or if the correct receipt is not accepted afterwards. */
  expectNoEffect(posted: () => Promise<Reply>): Promise<Reply>;
  /** Returns the balances of boss and worker after a receipt was posted, by default the correct one. */
  balancesAfter(body?: unknown): Promise<[boss: number, worker: number]>;
}

export async function openReceiptFixture(): Promise<ReceiptFixture> {
  const t = await startTestRelay();
  const [boss, worker, stranger] = [
    await createBuyer(t, 10),
    await createSeller(t, 2),
    await t.createAgent(),
  ];
  const task = await submitAcceptedTask(t, boss, worker);

  const receipt = (change?: ReceiptChange) => createReceipt(worker, task, change);
  const post = (body: unknown, path = task.path) => t.asOperator("POST", `${path}/result`, body);

  async function balancesAfter(body: unknown = receipt()): Promise<[number, number]> {
    expect(await post(body)).toMatchObject({ status: 200, body: { status: "completed" } });
    await expectConsistentBooks(t);
    return [await t.getBalance(boss), await t.getBalance(worker)];
  }

  return {
    t,
    boss,
    worker,
    stranger,
    task,
    receipt,
    post,
    postText: (raw) => t.request("POST", `${task.path}/result`, { token: OPERATOR_TOKEN, raw }),
    unsigned: (change) => ({ ...receipt(), signature: undefined, ...change }),
    signed(members, secretKey = worker.secretKey) {
      const signature = toBase64Url(sign(canonicalize(members), secretKey));
      return { ...members, signature };
    },
    async expectNoEffect(posted) {
      const everyAgent = [boss, worker, stranger];
      const before = await getAgentStates(t, everyAgent);
      const answer = await posted();
      expect(await getAgentStates(t, everyAgent)).toEqual(before);
      expect(await getTaskAt(t, task.path)).toMatchObject({ status: "pending" });
      expect(await balancesAfter()).toEqual([8, 1.9]);
      return answer;
    },
    balancesAfter,
  };
}

/** Builds the shape of a refusal. */
export function matchRefusal(status: number, code: string): object {
  return { status, body: { code, status } };
}
