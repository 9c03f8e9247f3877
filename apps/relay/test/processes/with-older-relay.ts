/**
 * Runs two relays as processes, one from this checkout and one from an older one, and lets each
 * delegate to an agent of the other: `node --conditions=agent-source
 * apps/relay/test/processes/with-older-relay.ts PATH`, where PATH is an older checkout with its dependencies
 * installed. Exits with 1 if anything differs.
 */
import { join } from "node:path";
import {
  createReceipt,
  createTestAgent,
  createToken,
  findFreePort,
  type TestAgent,
} from "@agent/testkit";
import type { Task } from "@agent/wire";
import { waitUntil } from "../network/network.ts";
import { endRelays, minimalEnv, startRelay } from "./relay-process.ts";
import { OPERATOR_TOKEN, sendRequest, type Reply } from "../test-relay.ts";

const world = {
  now: Date.now,
  randomBytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)),
};

interface RunningRelay {
  readonly name: string;
  readonly url: string;
  asOperator(method: string, path: string, body?: unknown): Promise<Reply>;
  as(agent: TestAgent, method: string, path: string, body?: unknown): Promise<Reply>;
}

async function start(name: string, main?: string): Promise<RunningRelay> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    ...minimalEnv,
    PORT: String(port),
    AGENT_RELAY_NAME: name,
    AGENT_FEDERATION_ENDPOINT_URL: url,
    AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "true",
    AGENT_FEDERATION_HEARTBEAT_INTERVAL_MS: "1000",
  };
  await startRelay(env, main === undefined ? {} : { main }).baseUrl;
  const call = (method: string, path: string, body: unknown, token: string) =>
    sendRequest(
      (request) => fetch(request.url.replace("http://relay.test", url), request),
      method,
      path,
      {
        token,
        body,
      },
    );
  const info = await (await fetch(`${url}/.well-known/agent-relay.json`)).json();
  const { did } = info as { did: string };
  return {
    name,
    url,
    asOperator: (method, path, body) => call(method, path, body, OPERATOR_TOKEN),
    as: async (agent, method, path, body) =>
      call(method, path, body, await createToken(agent, did, world)),
  };
}

async function addAgent(relay: RunningRelay): Promise<TestAgent> {
  const agent = createTestAgent(world);
  const { body } = await relay.asOperator("POST", "/api/v1/agents/bootstrap", {
    agent_id: agent.agentId,
    public_key: agent.publicKey,
  });
  return { ...agent, deviceId: String(body["device_id"]) };
}

async function addWorker(relay: RunningRelay, capability: string): Promise<TestAgent> {
  const worker = await addAgent(relay);
  await relay.as(worker, "POST", "/api/v1/agents/register", {
    agent_id: worker.agentId,
    endpoint_url: "http://127.0.0.1:1/mcp",
    capabilities: [capability],
    metadata: { name: "worker", description: "does work" },
  });
  const listed = await relay.as(worker, "POST", `/api/v1/agents/${worker.agentId}/listing`, {
    capabilities: [capability],
    pricing: [{ capability, unit_cost: 1, currency: "USD", per: "task" }],
    sla: { max_latency_ms: 1_000, availability_guarantee: 0.9 },
    description: "a worker",
  });
  if (listed.status !== 200) throw new Error(listed.text);
  return worker;
}

async function balanceOf(relay: RunningRelay, { agentId }: TestAgent): Promise<unknown> {
  return (await relay.asOperator("GET", `/api/v1/agents/${agentId}/balance`)).body["balance"];
}

/**
 * Delegates from an agent of one relay to an agent of the other, for 1.00, of which the worker receives 0.9025.
 */
async function delegateTask(from: RunningRelay, at: RunningRelay): Promise<void> {
  const capability = `work-at-${at.name}`;
  const [boss, worker] = [await addAgent(from), await addWorker(at, capability)];
  await from.asOperator("POST", `/api/v1/agents/${boss.agentId}/deposit`, { amount: 10 });
  const submitted = await from.as(boss, "POST", `/agent/${boss.agentId}/task`, {
    prompt: "work",
    required_capabilities: [capability],
  });
  if (submitted.status !== 201) throw new Error(submitted.text);
  const task = await waitUntil(async () => {
    const path = `/agent/${worker.agentId}/tasks?status=pending`;
    const { body } = await at.as(worker, "GET", path);
    return (body["tasks"] as Task[])[0];
  }, `a task for the worker of ${at.name}`);
  const path = `/agent/${task.agent_id}/task/${task.task_id}/result`;
  await at.as(worker, "POST", path, createReceipt(worker, task));
  await waitUntil(async () => (await balanceOf(at, worker)) === 0.9025, "the worker is paid");
  await waitUntil(async () => (await balanceOf(from, boss)) === 9, "the payer is charged");
  console.log(`${from.name} delegated to ${at.name}: paid 0.9025 of 1.00`);
}

async function run(older: string): Promise<void> {
  const ours = await start("this-version");
  const theirs = await start("older-version", join(older, "apps/relay/src/main.ts"));
  const peersPath = "/api/v1/admin/federation/peers";
  for (const [adding, added] of [
    [ours, theirs],
    [theirs, ours],
  ] as const) {
    const { status, text } = await adding.asOperator("POST", peersPath, {
      endpoint_url: added.url,
    });
    if (status !== 200 && status !== 409) throw new Error(text);
  }
  await delegateTask(ours, theirs);
  await delegateTask(theirs, ours);
  // Both relays send several heartbeats during this time.
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  for (const relay of [ours, theirs]) {
    const { body } = await relay.asOperator("GET", peersPath);
    const [peer] = body["peers"] as Record<string, unknown>[];
    const { state, missed_heartbeats, position, last_heartbeat_at, features } = peer ?? {};
    const heardAgo = Date.now() - Number(last_heartbeat_at);
    console.log(relay.name, { state, missed_heartbeats, position, heardAgo, features });
    const isWell = state === "active" && missed_heartbeats === 0 && position === 0;
    if (!isWell || heardAgo > 3_000) throw new Error(`${relay.name} has lost its peer`);
    const books = await relay.asOperator("GET", "/api/v1/admin/reconciliation");
    if (books.body["consistent"] !== true) throw new Error(books.text);
  }
}

const [older] = process.argv.slice(2);
if (older === undefined) throw new Error("name an older checkout");
try {
  await run(older);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await endRelays();
}
