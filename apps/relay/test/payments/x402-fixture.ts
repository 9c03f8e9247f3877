import { createSeededRandom, type TestAgent } from "@agent/testkit";
import { createBuyer, createSeller } from "../market.ts";
import { startTestRelay, type Reply, type RequestOptions, type TestRelay } from "../test-relay.ts";
import { startLocalFacilitator, x402Env, type LocalFacilitator } from "./x402-facilitator.ts";
import { openWallet, type Wallet } from "./x402-wallet.ts";

/** A relay that accepts payments, its facilitator, a wallet, and a worker that charges 2. */
export interface X402Fixture {
  readonly t: TestRelay;
  readonly facilitator: LocalFacilitator;
  readonly wallet: Wallet;
  readonly boss: TestAgent;
  readonly worker: TestAgent;
  /** Submits a task to the worker, by default as the boss. */
  readonly submit: (options?: RequestOptions) => Promise<Reply>;
  close(): Promise<void>;
}

export async function openX402Fixture(env: Record<string, string> = {}): Promise<X402Fixture> {
  // The relay's clock does not exist yet, so the facilitator reads it later.
  let now = () => 0;
  const facilitator = await startLocalFacilitator(() => now());
  const t = await startTestRelay({ ...x402Env(facilitator.url), ...env });
  now = t.clock.now;
  const [boss, worker] = [await createBuyer(t, 0.5), await createSeller(t, 2)];
  await t.relay.tick();
  const path = `/agent/${worker.agentId}/task`;
  const scene: X402Fixture = {
    t,
    facilitator,
    wallet: openWallet(createSeededRandom(7).randomBytes, t.clock.now),
    boss,
    worker,
    submit: async ({ token, body = { prompt: "work" }, ...options } = {}) =>
      t.request("POST", path, { token: token ?? (await t.token(boss)), body, ...options }),
    async close() {
      await t.close();
      await facilitator.close();
    },
  };
  await waitForPaymentRequest(scene);
  return scene;
}

/**
 * Waits until a 402 contains payment terms, because the relay connects to the facilitator in the background.
 */
export async function waitForPaymentRequest({
  submit,
}: Pick<X402Fixture, "submit">): Promise<Headers> {
  for (let tries = 0; tries < 200; tries += 1) {
    const { headers } = await submit();
    if (headers.has("payment-required")) return headers;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("no payment is requested");
}
