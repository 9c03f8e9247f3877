import {
  createManualClock,
  createReceipt,
  createSeededRandom,
  createTestAgent,
  createToken,
  type ManualClock,
  type TestAgent,
} from "@agent/testkit";
import type { Scope } from "@agent/wire";
import { createTrustedClock, type RelayClock } from "../src/clock/relay-clock.ts";
import { readConfig } from "../src/config/read-config.ts";
import type { Config } from "../src/config/config.ts";
import { createLog, type Log } from "../src/observability/log.ts";
import { openRelay, type OpenRelay } from "../src/open-relay.ts";
import type { Runtime } from "../src/runtime.ts";
import type { Storage } from "../src/storage/storage.ts";
import { carrier } from "./network/carrier.ts";
import { engine } from "./engine/engine.ts";
import { waitForServer } from "./engine/pending-work.ts";
import { joinProcesses, scheduleCollecting } from "./processes/join-processes.ts";
import { openBeside, openMigrated } from "./stored/migrated-storage.ts";

export const OPERATOR_TOKEN = "test-master-token-0123456789";

export const ZERO_ADDRESS = "0x0000000000000000000000000000000000000000";

/** An answer and its parsed body. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
  readonly text: string;
}

export interface RequestOptions {
  readonly token?: string | undefined;
  readonly body?: unknown;
  /** The raw body, instead of `body` as JSON. */
  readonly raw?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  readonly headers?: Record<string, string>;
}

/** A relay in this process on a manual clock, with all lines that it logs. */
export interface TestRelay {
  readonly relay: OpenRelay;
  /** The audience of tokens. */
  readonly did: string;
  readonly clock: ManualClock;
  readonly lines: string[];
  /** Lists the logged events with a name. */
  listLogged(msg: string): Record<string, unknown>[];
  request(method: string, path: string, options?: RequestOptions): Promise<Reply>;
  /** Calls as the operator. */
  asOperator(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Calls as an agent, with a new token. */
  as(agent: TestAgent, method: string, path: string, body?: unknown): Promise<Reply>;
  token(agent: TestAgent, scope?: readonly Scope[]): Promise<string>;
  /** Creates an agent that the relay does not know. */
  createUnknownAgent(): TestAgent;
  /** Creates a bootstrapped agent. */
  createAgent(): Promise<TestAgent>;
  /** Creates a bootstrapped and registered agent with a listing. */
  createWorker(unitCost: number, capability?: string): Promise<TestAgent>;
  deposit(agent: TestAgent, amount: number): Promise<void>;
  getBalance(agent: TestAgent): Promise<number>;
  /** Returns the amount that is held for the agent's open tasks. */
  getHeldAmount(agent: TestAgent): Promise<number>;
  close(): Promise<void>;
}

/**
 * Sends a request to the relay, in this process or through the test's carrier, and parses its answer as JSON.
 */
export async function sendRequest(
  fetch: OpenRelay["fetch"],
  method: string,
  path: string,
  { token, body, raw, headers = {} }: RequestOptions = {},
): Promise<Reply> {
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const request = new Request(`http://relay.test${path}`, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(content !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(content !== undefined && { body: content, duplex: "half" as const }),
  });
  const carry = carrier.getStore();
  const answer = await (carry === undefined ? fetch(request) : carry(fetch, request));
  const text = await answer.text();
  const isJson = /\bjson\b/.test(answer.headers.get("content-type") ?? "");
  // An answer with another media type is returned as text.
  const parsed = text === "" ? {} : ((isJson ? JSON.parse(text) : text) as Reply["body"]);
  return { status: answer.status, headers: answer.headers, body: parsed, text };
}

/** With AGENT_TEST_PROCESSES=2 the relay of a test has two processes, which answer in turn. */
const hasTwoProcesses = engine === "postgres" && process.env["AGENT_TEST_PROCESSES"] === "2";

/** The number of processes of a test's relay; each has its own limits of rates and streams. */
export const processCount = hasTwoProcesses ? 2 : 1;

async function openTestRelay(given: Config, world: Runtime, log: Log): Promise<OpenRelay> {
  const { databasePath: path } = given.storage;
  const config = withoutFileOnPostgres(given);
  const { schedule } = world;
  const runtime = hasTwoProcesses ? { ...world, schedule: scheduleCollecting(schedule) } : world;
  let storage: Storage | undefined;
  const first = await openRelay(config, runtime, log, async (options) => {
    const opened = await openMigrated({ ...options, path });
    if (opened.ok) storage = opened.storage;
    return opened;
  });
  if (!first.ok) throw new Error(`${first.code}: ${first.detail}`);
  if (!hasTwoProcesses || storage === undefined) return first;
  const second = await openRelay(config, runtime, log, openBeside(storage));
  if (!second.ok) throw new Error(`${second.code}: ${second.detail}`);
  return joinProcesses(first, second);
}

/** On Postgres a database replaces the file, so the relay has no folder for other files. */
function withoutFileOnPostgres(config: Config): Config {
  if (engine === "sqlite") return config;
  return { ...config, storage: { ...config.storage, databasePath: ":memory:" } };
}

export async function startTestRelay(
  env: Record<string, string> = {},
  seed = 1,
  givenClock = createManualClock(),
  relayClock: RelayClock = createTrustedClock(givenClock.now),
): Promise<TestRelay> {
  const clock = engine === "postgres" ? waitForServer(givenClock) : givenClock;
  const random = createSeededRandom(seed);
  const world = { now: clock.now, randomBytes: random.randomBytes };
  const read = readConfig({
    AGENT_API_TOKEN: OPERATOR_TOKEN,
    X402_PAY_TO_ADDRESS: ZERO_ADDRESS,
    // With this interval the regular jobs sign the heads, so a manual clock needs no further timer.
    AGENT_LOG_INTERVAL_MS: "1000",
    AGENT_RATE_LIMIT_SCALE: "0",
    ...env,
  });
  if (!read.ok) throw new Error(read.faults.map((fault) => fault.message).join("; "));
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = createLog({
    level: "debug",
    write: { stdout: write, stderr: write },
    now: relayClock.now,
  });
  const { now } = relayClock;
  const runtime = { ...world, now, clock: relayClock, schedule: clock.schedule };
  const relay = await openTestRelay(read.config, runtime, log);

  const request: TestRelay["request"] = (method, path, options) =>
    sendRequest(relay.fetch, method, path, options);
  const asMaster: TestRelay["asOperator"] = (method, path, body) =>
    request(method, path, { token: OPERATOR_TOKEN, body });
  const token: TestRelay["token"] = (agent, scope) => createToken(agent, did, world, scope);
  const as: TestRelay["as"] = async (agent, method, path, body) =>
    request(method, path, { token: await token(agent), body });
  const { did } = (await request("GET", "/.well-known/agent-relay.json")).body as { did: string };

  const stranger = () => createTestAgent(world);

  async function agent(): Promise<TestAgent> {
    const fresh = stranger();
    const { body } = await request("POST", "/api/v1/agents/bootstrap", {
      body: { agent_id: fresh.agentId, public_key: fresh.publicKey },
    });
    return { ...fresh, deviceId: body["device_id"] as string };
  }

  async function readAccount(of: TestAgent, member: string): Promise<number> {
    const { body } = await asMaster("GET", `/api/v1/agents/${of.agentId}/balance`);
    return body[member] as number;
  }

  return {
    relay,
    did,
    clock,
    lines,
    listLogged: (msg) =>
      lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((event) => event["msg"] === msg),
    request,
    asOperator: asMaster,
    as,
    token,
    createUnknownAgent: stranger,
    createAgent: agent,
    async createWorker(unitCost, capability = "summarise") {
      const fresh = await agent();
      const { agentId } = fresh;
      await as(fresh, "POST", "/api/v1/agents/register", {
        agent_id: agentId,
        endpoint_url: "http://127.0.0.1:1/mcp",
        capabilities: [capability],
        metadata: { name: "worker", description: "does work" },
      });
      const listed = await as(fresh, "POST", `/api/v1/agents/${agentId}/listing`, {
        capabilities: [capability],
        pricing: [{ capability, unit_cost: unitCost, currency: "USD", per: "task" }],
        sla: { max_latency_ms: 1_000, availability_guarantee: 0.9 },
        description: "a worker",
      });
      if (listed.status !== 200) throw new Error(JSON.stringify(listed.body));
      return fresh;
    },
    async deposit(to, amount) {
      const path = `/api/v1/agents/${to.agentId}/deposit`;
      const { status, body } = await asMaster("POST", path, { amount });
      if (status !== 200) throw new Error(JSON.stringify(body));
    },
    getBalance: (of) => readAccount(of, "balance"),
    getHeldAmount: (of) => readAccount(of, "pending_allocations"),
    close: () => relay.close(),
  };
}

export { createReceipt };
