import { createReceipt, createTestAgent, createToken, type TestAgent } from "@agent/testkit";
import { startChild, type Child } from "./child.ts";
import { createHttpClient, type Post } from "./load.ts";

export const MASTER_TOKEN = "bench-master-token";
export const benchWorld = {
  now: Date.now,
  randomBytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)),
};
const PROMPT = "Summarise the minutes of the meeting. ".repeat(30);
const RESULT = "The meeting decided to meet again. ".repeat(8);

/** Tokens are valid for five minutes; a benchmark may run longer. */
const RENEW_TOKEN_MS = 240_000;

/** A benchmarked relay with a paying agent and a working agent. */
export interface RelaySide {
  readonly child: Child;
  readonly agents: EnrolledAgents;
  /** Runs one delegation: submit, execute, deliver, settle. */
  readonly delegateOnce: () => Promise<void>;
  /** Submits one paid task for the worker and leaves it open. */
  readonly submitPaid: () => Promise<OpenTask>;
  /** Delivers the receipt of a task and returns it. */
  readonly deliver: (task: OpenTask) => Promise<Delegation["receipt"]>;
  /** Runs one delegation and returns its receipt and the duration of its submission in ms. */
  readonly delegate: () => Promise<Delegation>;
  /** Submits one task for which the relay ranks the agents with the capability, then cancels it. */
  readonly submitScored: () => Promise<void>;
  /** Submits such a task and leaves it open; at most 1,000 times per asker, by default the paying agent. */
  readonly submitOpenScored: (asker?: TestAgent) => Promise<void>;
  /** Queries the ten best candidates once, by default as the paying agent. */
  readonly queryMarket: (asker?: TestAgent) => Promise<void>;
  /** Reads the payer's balance once. */
  readonly readBalance: () => Promise<void>;
  close(): Promise<void>;
}

/** A submitted task, with the members that its receipt contains. */
export interface OpenTask {
  readonly task_id: string;
  readonly prompt: string;
  readonly submitted_at: number;
}

/** A delivered receipt, and the duration of its task's submission. */
export interface Delegation {
  readonly receipt: ReturnType<typeof createReceipt>;
  readonly submitMs: number;
}

interface EnrolledAgents {
  readonly submitter: TestAgent;
  readonly worker: TestAgent;
}

export const RELAY_SCRIPT = new URL("../../apps/relay/src/main.ts", import.meta.url).href;

/** Adds the given variables to the smallest configuration of a relay on a free port. */
export function getRelayEnv(env: Record<string, string>): Record<string, string> {
  return {
    AGENT_API_TOKEN: MASTER_TOKEN,
    X402_PAY_TO_ADDRESS: `0x${"0".repeat(40)}`,
    AGENT_HOST: "127.0.0.1",
    AGENT_RATE_LIMIT_SCALE: "0",
    AGENT_PRIVATE_ENDPOINTS: "allow",
    PORT: "0",
    ...env,
  };
}

interface StartOptions {
  readonly script?: string | undefined;
  /** The agents of another process of the same relay. */
  readonly enrolled?: EnrolledAgents | undefined;
  /** Whether errors of the relay are part of the measurement and so are not shown. */
  readonly isQuiet?: boolean;
  /** The program that runs the relay, with its arguments. */
  readonly launcher?: readonly string[];
}

export async function startRelay(
  env: Record<string, string>,
  unitCost: number,
  { script = RELAY_SCRIPT, enrolled, isQuiet = false, launcher }: StartOptions = {},
): Promise<RelaySide> {
  const stderr = isQuiet ? "ignore" : "inherit";
  const child = await startChild(script, getRelayEnv(env), stderr, launcher);
  const { post, get, close } = createHttpClient(child.url);
  const info = (await (await fetch(`${child.url}/.well-known/agent-relay.json`)).json()) as {
    did: string;
  };
  const agents = enrolled ?? (await enrollAgents(post, unitCost));
  const { submitter, worker } = agents;
  const getAskerToken = createTokenCaches((agent) => createToken(agent, info.did, benchWorld));
  const getSubmitterToken = () => getAskerToken(submitter);
  const getWorkerToken = createTokenCache(() => createToken(worker, info.did, benchWorld));
  const task = JSON.stringify({ prompt: PROMPT });
  const scoredTask = JSON.stringify({ prompt: PROMPT, required_capabilities: ["x"] });

  const path = `/agent/${worker.agentId}/task`;

  async function submitPaid(): Promise<OpenTask> {
    const answer = await post(path, task, await getSubmitterToken());
    const { task_id } = JSON.parse(answer) as { task_id: string };
    return { task_id, prompt: PROMPT, submitted_at: Date.now() };
  }

  async function deliver(open: OpenTask): Promise<Delegation["receipt"]> {
    const receipt = createReceipt(worker, open, { result: RESULT });
    const body = JSON.stringify(receipt);
    await post(`${path}/${open.task_id}/result`, body, await getWorkerToken());
    return receipt;
  }

  async function delegate(): Promise<Delegation> {
    await getSubmitterToken();
    const began = performance.now();
    const open = await submitPaid();
    const submitMs = performance.now() - began;
    return { receipt: await deliver(open), submitMs };
  }

  return {
    child,
    agents,
    submitPaid,
    deliver,
    delegate,
    async queryMarket(asker = submitter) {
      await get("/api/v1/market/candidates?capability=x&limit=10", await getAskerToken(asker));
    },
    async submitOpenScored(asker = submitter) {
      await post(path, scoredTask, await getAskerToken(asker));
    },
    async submitScored() {
      const token = await getSubmitterToken();
      const answer = await post(path, scoredTask, token);
      const { task_id } = JSON.parse(answer) as { task_id: string };
      // Cancelled at once, because the number of a submitter's open tasks is limited.
      await post(`${path}/${task_id}/cancel`, "{}", token);
    },
    async readBalance() {
      await get(`/api/v1/agents/${submitter.agentId}/balance`, await getSubmitterToken());
    },
    async delegateOnce() {
      await delegate();
    },
    async close() {
      await close();
      await child.stop();
    },
  };
}

/** Renews a token before it expires. */
export function createTokenCache(make: () => Promise<string>): () => Promise<string> {
  let madeAt = -Infinity;
  let token: Promise<string> | undefined;
  return () => {
    const now = performance.now();
    if (token === undefined || now - madeAt > RENEW_TOKEN_MS) {
      token = make();
      madeAt = now;
    }
    return token;
  };
}

/** Caches a token for each agent. */
function createTokenCaches(
  make: (agent: TestAgent) => Promise<string>,
): (agent: TestAgent) => Promise<string> {
  const caches = new Map<string, () => Promise<string>>();
  return (agent) => {
    const get = caches.get(agent.agentId) ?? createTokenCache(() => make(agent));
    caches.set(agent.agentId, get);
    return get();
  };
}

/** Enrolls further agents that can pay. */
export async function enrollPayers(url: string, count: number): Promise<TestAgent[]> {
  const { post, close } = createHttpClient(url);
  const payers: TestAgent[] = [];
  for (let i = 0; i < count; i += 1) payers.push(await enrollPayer(post));
  await close();
  return payers;
}

async function enrollAgents(post: Post, unitCost: number): Promise<EnrolledAgents> {
  const submitter = await enrollPayer(post);
  const worker = await enrollAgent(post);
  const path = `/api/v1/agents/${worker.agentId}`;
  const listing = { capabilities: ["x"], pricing: [{ capability: "x", unit_cost: unitCost }] };
  await post(`${path}/listing`, JSON.stringify(listing), MASTER_TOKEN);
  return { submitter, worker };
}

async function enrollPayer(post: Post): Promise<TestAgent> {
  const payer = await enrollAgent(post);
  const deposit = JSON.stringify({ amount: 100_000_000 });
  await post(`/api/v1/agents/${payer.agentId}/deposit`, deposit, MASTER_TOKEN);
  return payer;
}

export async function enrollAgent(post: Post): Promise<TestAgent> {
  const agent = createTestAgent(benchWorld);
  const body = { agent_id: agent.agentId, public_key: agent.publicKey };
  const answer = await post("/api/v1/agents/bootstrap", JSON.stringify(body));
  const { device_id } = JSON.parse(answer) as { device_id: string };
  return { ...agent, deviceId: device_id };
}
