import { randomBytes } from "node:crypto";
import { signSuccession } from "@agent/crypto";
import { createTestAgent, type TestAgent } from "@agent/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { onlyOn } from "../engine/engine.ts";
import { call, startCluster, type Cluster } from "./start-cluster.ts";

interface Act {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** The status of the answer when the owner then uses a new token. */
  readonly status: number;
}

/** Requests of an agent that write, by what they change. */
const acts: Record<string, (owner: TestAgent, worker: TestAgent) => Act> = {
  "a paid task": (_, { agentId }) => ({
    method: "POST",
    path: `/agent/${agentId}/task`,
    body: { prompt: "work" },
    status: 201,
  }),
  "a withdrawal": ({ agentId }) => ({
    method: "POST",
    path: `/api/v1/agents/${agentId}/withdrawals`,
    body: { amount: 1, destination: "a bank" },
    status: 201,
  }),
  "a new pairing": ({ agentId }) => ({
    method: "POST",
    path: `/pairing/initiate`,
    body: { agent_id: agentId },
    status: 201,
  }),
  "a listing": ({ agentId }) => ({
    method: "POST",
    path: `/api/v1/agents/${agentId}/listing`,
    body: { capabilities: ["count"] },
    status: 200,
  }),
  "a level of trust": ({ agentId }, worker) => ({
    method: "PUT",
    path: `/api/v1/agents/${agentId}/trust/${worker.agentId}`,
    body: { trust_level: "blocked" },
    status: 200,
  }),
};

describe.runIf(onlyOn("postgres"))("a token that another process has ended", () => {
  let cluster: Cluster;
  let worker: TestAgent;
  beforeAll(async () => {
    // Without notifications a process learns of a revocation up to a second later.
    cluster = await startCluster(2, { AGENT_DATABASE_LISTEN_URL: "off" });
    worker = await cluster.createWorker(1);
  });
  afterAll(() => cluster.stop());

  const a = () => cluster.members[0];
  const b = () => cluster.members[1];
  const perform = ({ method, path, body }: Act, token: string) =>
    call(b(), method, path, { token, body });

  /** Creates an agent with money, and a token for it that the second process has already verified. */
  async function createOwner() {
    const owner = await cluster.createAgent();
    await cluster.deposit(owner, 10);
    const token = await cluster.token(owner);
    const path = `/api/v1/agents/${owner.agentId}`;
    expect((await call(b(), "GET", `${path}/balance`, { token })).status).toBe(200);
    return { owner, token, path };
  }

  test.each(Object.keys(acts))(
    "D15: a token of a replaced key writes nothing: %s",
    async (name) => {
      const { owner, token, path } = await createOwner();
      const act = acts[name]?.(owner, worker) as Act;
      const next = createTestAgent({ now: Date.now, randomBytes });
      const succession = signSuccession({
        agent_id: owner.agentId,
        oldSecretKey: owner.secretKey,
        newSecretKey: next.secretKey,
        timestamp: Date.now(),
      });
      const rotation = { body: { succession } };
      const rotated = await cluster.as(owner, a(), "POST", `${path}/rotate-key`, rotation);
      expect(rotated.status).toBe(200);
      expect(await perform(act, token)).toMatchObject({ status: 401 });
      const renewed = await cluster.token({ ...owner, secretKey: next.secretKey });
      expect(await perform(act, renewed)).toMatchObject({ status: act.status });
    },
  );

  test.each(Object.keys(acts))(
    "D15: a token of a revoked agent writes nothing: %s",
    async (name) => {
      const { owner, token, path } = await createOwner();
      const act = acts[name]?.(owner, worker) as Act;
      expect((await cluster.asOperator(a(), "POST", `${path}/revoke`, {})).status).toBe(200);
      expect(await perform(act, token)).toMatchObject({ status: 403 });
    },
  );

  test("D15: the other tokens of an agent write while one is revoked", async () => {
    const { owner, token, path } = await createOwner();
    const act = acts["a paid task"]?.(owner, worker) as Act;
    const revocation = { body: { jtis: ["another"] } };
    const revoked = await cluster.as(owner, a(), "POST", `${path}/revoke-tokens`, revocation);
    expect(revoked.status).toBe(200);
    expect(await perform(act, token)).toMatchObject({ status: 201 });
  });
});
