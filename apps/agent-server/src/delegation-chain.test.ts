import { bootstrapAgent, createRelayClient, type RelayClient } from "@agent/client";
import { signSuccession } from "@agent/crypto";
import {
  attenuateDelegationToken,
  type DelegationToken,
  type DelegationTokenBody,
  type ExecutionReceipt,
  parseReceipt,
  signDelegationToken,
  verifyReceipt,
} from "@agent/receipts";
import type { Received, Task } from "@agent/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { DelegateRequest } from "./execution/delegation/delegation.ts";
import type { Identity } from "./identity/identity.ts";
import { silentLog } from "./log.ts";
import { createSystemRuntime } from "./runtime.ts";
import { awaitReceipt } from "./testing/agents/await-receipt.ts";
import { createTestIdentity } from "./testing/agents/test-identity.ts";
import { startTestRelay, type TestRelay } from "./testing/agents/test-relay.ts";
import { startAgentWithoutSocket } from "./testing/agents/agent-without-socket.ts";
import { startJoinedAgent } from "./testing/agents/start-agent.ts";
import { createTextTool } from "./testing/tools/test-tools.ts";

const runtime = createSystemRuntime(silentLog);
const hour = 3_600_000;

let relay: TestRelay;
let boss: Identity;
let ran: string[] = [];
const stops: (() => Promise<void>)[] = [];

/** A tool that passes its prompt to `context.delegate`. */
const manage = createTextTool("manage", async (prompt, { delegate }) => {
  const answer = await delegate?.(JSON.parse(prompt) as DelegateRequest);
  return answer ?? { ok: false, error: "no relay" };
});

beforeAll(async () => {
  relay = await startTestRelay();
  boss = createTestIdentity("boss");
  const running = await startJoinedAgent({
    relayUrl: relay.url,
    identity: boss,
    tools: [manage],
    file: { taskTimeoutMs: 10_000 },
  });
  stops.push(running.stop);
  await deposit(boss, 100);
});
afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()));
  await relay.stop();
});
beforeEach(() => {
  ran = [];
});

const noting = (name: string) =>
  createTextTool(name, (text) => {
    ran.push(name);
    return { ok: true, data: `${name} ${text}` };
  });

const worker = {
  tools: [noting("write"), noting("read")],
  listing: { capabilities: ["write"], pricing: [{ capability: "write", unit_cost: 1 }] },
};

async function deposit({ agentId }: Identity, amount: number): Promise<void> {
  const answer = await relay.operator.deposit({ params: { agentId }, body: { amount } });
  if (!answer.ok) throw new Error(answer.message);
}

interface Patron extends Identity {
  readonly client: RelayClient;
}

/** A client without a server that pays the boss for its work. */
async function newPatron(): Promise<Patron> {
  const identity = createTestIdentity("patron");
  const known = await bootstrapAgent({ ...runtime, ...identity, baseUrl: relay.url });
  if (!known.ok) throw new Error(known.message);
  const client = createRelayClient({ baseUrl: relay.url, identity: known.identity });
  return { ...identity, client };
}

function tokenFor(
  delegate: Identity,
  by: Identity,
  change: Partial<DelegationTokenBody> = {},
): DelegationToken {
  return signDelegationToken(
    {
      token_id: crypto.randomUUID(),
      issuer_agent_id: by.agentId,
      issuer_public_key: by.publicKey,
      delegate_agent_id: delegate.agentId,
      scope: "manage,read,write",
      max_budget: 3,
      not_before: Date.now() - 1_000,
      expires_at: Date.now() + hour,
      ...change,
    },
    by.secretKey,
  );
}

/** Returns the boss's answer to its patron, and the task that it delegated. */
async function ask(patron: Patron, request: DelegateRequest, token?: DelegationToken) {
  const submitted = await patron.client.submitTask({
    params: boss,
    body: {
      prompt: JSON.stringify(request),
      delegation_token: { ...(token ?? tokenFor(boss, patron)) },
    },
  });
  if (!submitted.ok) throw new Error(submitted.message);
  const params = { agentId: boss.agentId, taskId: submitted.body.task_id };
  const { receipt } = await finished(patron.client, params);
  expect(verifyReceipt(receipt, { publicKey: boss.publicKey, taskId: params.taskId }).valid).toBe(
    true,
  );
  const [nested] = receipt.delegation_receipts ?? [];
  if (nested === undefined) return { receipt };
  const of = { agentId: nested.agent_id, taskId: nested.task_id };
  return { receipt, nested, passedOn: (await finished(relay.operator, of)).task };
}

async function finished(
  client: RelayClient,
  params: { agentId: string; taskId: string },
): Promise<{ task: Received<typeof Task>; receipt: ExecutionReceipt }> {
  const { task, receipt } = await awaitReceipt(client, params);
  const parsed = parseReceipt(receipt);
  if (!parsed.ok) throw new Error(parsed.code);
  return { task, receipt: parsed.receipt };
}

const transports = [
  ["over its socket", startJoinedAgent],
  ["over MCP", startAgentWithoutSocket],
] as const;

describe.each(transports)("tokens that the boss issues to a worker %s", (_, start) => {
  let patron: Patron;
  let workerIdentity: Identity;
  beforeAll(async () => {
    patron = await newPatron();
    workerIdentity = createTestIdentity("worker");
    const { tools, listing } = worker;
    const { stop } = await start({
      relayUrl: relay.url,
      identity: workerIdentity,
      tools,
      file: { listing },
    });
    stops.push(stop);
  });

  const request = (change: Partial<DelegateRequest>) => ({
    agent_id: workerIdentity.agentId,
    prompt: "it",
    ...change,
  });

  test("a token for a worker is a child token with a smaller scope, budget and lifetime", async () => {
    const token = tokenFor(boss, patron);
    const before = Date.now();
    const { receipt, nested, passedOn } = await ask(
      patron,
      request({ scope: ["write"], max_budget: 1.1 }),
      token,
    );
    expect(receipt).toMatchObject({ status: "completed", delegated_scope: "manage,read,write" });
    expect(nested).toMatchObject({
      agent_id: workerIdentity.agentId,
      result: "write it",
      tools_used: ["write"],
      delegated_scope: "write",
    });
    expect(passedOn?.delegation_token).toMatchObject({
      issuer_agent_id: boss.agentId,
      delegate_agent_id: workerIdentity.agentId,
      scope: "write",
      max_budget: 1.1,
      parent: token,
    });
    const endsAt = passedOn?.delegation_token?.["expires_at"];
    expect(endsAt).toBeGreaterThanOrEqual(before + 10_000);
    expect(endsAt).toBeLessThanOrEqual(Date.now() + 10_000);
    expect(ran).toEqual(["write"]);
  });

  test("the worker refuses every tool that the token does not name", async () => {
    const { receipt, nested } = await ask(patron, request({ scope: ["read"] }));
    expect(nested).toMatchObject({
      status: "denied",
      tools_used: [],
      delegated_scope: "read",
      result: 'Tool "write" is outside the scope of the delegation',
    });
    expect(receipt.status).toBe("failed");
    expect(ran).toEqual([]);
  });

  test.each<[string, Partial<DelegateRequest>, string]>([
    ["a tool that is not its own", { scope: ["erase"] }, "exceeds"],
    ["less money than the work costs", { max_budget: 0.9 }, "budget.max_exceeded"],
  ])("a delegation with %s is refused", async (_, change, reason) => {
    const { receipt, nested } = await ask(patron, request(change));
    expect([receipt.status, receipt.result]).toEqual(["failed", expect.stringContaining(reason)]);
    expect(nested).toBeUndefined();
    expect(ran).toEqual([]);
  });

  test("all delegations together spend at most the patron's budget", async () => {
    const token = tokenFor(boss, patron, { max_budget: 2.5 });
    const results = [];
    for (let i = 0; i < 3; i += 1) {
      results.push((await ask(patron, request({ scope: ["write"] }), token)).receipt.status);
    }
    expect(results).toEqual(["completed", "completed", "failed"]);
    expect(ran).toEqual(["write", "write"]);
  });

  test("the relay refuses a token that is wider than the boss's own", async () => {
    const own = tokenFor(boss, patron, { scope: "read" });
    const wider = attenuateDelegationToken(
      own,
      { token_id: "wider", delegate_agent_id: workerIdentity.agentId, scope: "read,write" },
      boss,
    );
    const answer = await relay.operator.submitTask({
      params: workerIdentity,
      body: { prompt: "it", submitted_by: boss.agentId, delegation_token: { ...wider } },
    });
    expect(answer).toMatchObject({ ok: false, status: 403, code: "delegation.widened" });
  });

  test("the token is refused after the patron has changed its key", async () => {
    const rotating = await newPatron();
    const old = tokenFor(boss, rotating);
    const { agentId, secretKey: oldSecretKey } = rotating;
    const { secretKey: newSecretKey } = createTestIdentity();
    const succession = signSuccession({
      agent_id: agentId,
      oldSecretKey,
      newSecretKey,
      timestamp: Date.now(),
    });
    const rotated = await relay.operator.rotateKey({
      params: { agentId },
      body: { succession: { ...succession } },
    });
    expect(rotated).toMatchObject({ ok: true });
    const child = attenuateDelegationToken(
      old,
      { token_id: "child", delegate_agent_id: workerIdentity.agentId, scope: "write" },
      boss,
    );
    for (const [token, target, by] of [
      [old, boss, agentId],
      [child, workerIdentity, boss.agentId],
    ] as const) {
      const answer = await relay.operator.submitTask({
        params: target,
        body: { prompt: "it", submitted_by: by, delegation_token: { ...token } },
      });
      expect(answer).toMatchObject({ ok: false, status: 403, code: "delegation.key_unbound" });
    }
    expect(ran).toEqual([]);
  });
});

test("over three hops each token narrows, each receipt nests, and each agent is paid", async () => {
  const patron = await newPatron();
  const [middle, workerIdentity] = [createTestIdentity("middle"), createTestIdentity("worker")];
  const priced = (capability: string, unit_cost: number) => ({
    listing: { capabilities: [capability], pricing: [{ capability, unit_cost }] },
  });
  const agents = await Promise.all([
    startJoinedAgent({
      relayUrl: relay.url,
      identity: middle,
      tools: [manage],
      file: priced("manage", 2),
    }),
    startJoinedAgent({
      relayUrl: relay.url,
      identity: workerIdentity,
      tools: worker.tools,
      file: priced("write", 1),
    }),
  ]);
  stops.push(...agents.map(({ stop }) => stop));
  await deposit(middle, 10);

  const toWorker = {
    agent_id: workerIdentity.agentId,
    prompt: "it",
    scope: ["write"],
    max_budget: 1.1,
  };
  const toMiddle = {
    agent_id: middle.agentId,
    prompt: JSON.stringify(toWorker),
    scope: ["manage", "write"],
    max_budget: 4,
  };
  const token = tokenFor(boss, patron, { max_budget: 5 });
  const { receipt, nested, passedOn } = await ask(patron, toMiddle, token);
  expect(receipt).toMatchObject({ status: "completed", result: "write it" });
  expect(nested).toMatchObject({ agent_id: middle.agentId, delegated_scope: "manage,write" });
  expect(nested?.delegation_receipts).toMatchObject([
    { agent_id: workerIdentity.agentId, delegated_scope: "write", tools_used: ["write"] },
  ]);
  expect(passedOn?.delegation_token).toMatchObject({ scope: "manage,write", max_budget: 4 });

  const settled = async ({ agentId }: Identity) => {
    const answer = await relay.operator.listSettlements({ params: { agentId }, query: {} });
    return answer.ok
      ? answer.body.settlements.map((one) => [one.payer_id, one.amount_settled])
      : [];
  };
  expect(await settled(workerIdentity)).toContainEqual([middle.agentId, 1]);
  expect(await settled(middle)).toContainEqual([boss.agentId, 2]);
});
