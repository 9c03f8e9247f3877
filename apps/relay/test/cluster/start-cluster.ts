import { randomBytes, randomUUID } from "node:crypto";
import { createToken, createTestAgent, type TestAgent } from "@agent/testkit";
import { createRelayClock } from "../../src/clock/relay-clock.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { createLog } from "../../src/observability/log.ts";
import { openRelay, type OpenRelay } from "../../src/open-relay.ts";
import type { Runtime } from "../../src/runtime.ts";
import { serve, type RunningServer } from "../../src/serve.ts";
import type { Migration } from "../../src/storage/database/migrate.ts";
import { migrations } from "../../src/storage/migrations/index.ts";
import { openStorage } from "../../src/storage/open-storage.ts";
import { openDatabaseOf } from "../engine/database-of-path.ts";
import { minimalEnv } from "../processes/relay-process.ts";
import { OPERATOR_TOKEN, type Reply } from "../test-relay.ts";

/**
 * Uses the real clock, timers and randomness. While `isPaused` returns true, the process does not see time
 * pass; `aheadBy` returns by how many ms the clock of its machine is ahead.
 */
function createRealRuntime(isPaused: () => boolean, aheadBy: () => number): Runtime {
  const wall = () => Date.now() + aheadBy();
  const clock = createRelayClock({ wall, monotonic: () => performance.now() });
  let pausedAt = 0;
  return {
    now: clock.now,
    clock,
    monotonic: () => (isPaused() ? pausedAt : (pausedAt = clock.elapsed())),
    randomBytes: (length) => randomBytes(length),
    schedule(ms, task) {
      const timer = setTimeout(task, ms);
      return () => clearTimeout(timer);
    },
  };
}

/** A process of a relay that runs inside the test's process and serves HTTP. */
export interface Member {
  readonly relay: OpenRelay;
  readonly url: string;
  readonly lines: readonly string[];
  stop(): Promise<void>;
}

interface MemberOptions {
  /** The schema steps that the process knows. */
  readonly steps?: readonly Migration[];
  /** While this returns true, the process does not renew its lease but still believes that it holds it. */
  readonly isPaused?: () => boolean;
  /** Returns by how many ms the clock of its machine is ahead. */
  readonly aheadBy?: () => number;
}

/** Starts one process of a relay on a database. */
export async function startMember(
  databaseUrl: string,
  env: Record<string, string> = {},
  { steps = migrations, isPaused = () => false, aheadBy = () => 0 }: MemberOptions = {},
): Promise<Member> {
  const read = readConfig({
    ...minimalEnv,
    AGENT_DATABASE_URL: databaseUrl,
    AGENT_DATABASE_POOL: "4",
    AGENT_PROCESS_NAME: `process-${randomUUID().slice(0, 8)}`,
    ...env,
  });
  if (!read.ok) throw new Error(read.faults.map((fault) => fault.message).join("; "));
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = createLog({ level: "debug", write: { stdout: write, stderr: write }, now: Date.now });
  const runtime = createRealRuntime(isPaused, aheadBy);
  const relay = await openRelay(read.config, runtime, log, (options) =>
    openStorage({ ...options, migrations: steps }),
  );
  if (!relay.ok) throw new Error(`${relay.code}: ${relay.detail}`);
  const keepUp = {
    ...relay.keepUp,
    renew: async () => void (isPaused() || (await relay.keepUp.renew())),
  };
  const server: RunningServer = await serve({ ...relay, keepUp }, runtime, read.config.server);
  return {
    relay,
    url: `http://127.0.0.1:${server.port}`,
    lines,
    stop: () => server.stop(1_000),
  };
}

type Body = Record<string, unknown>;

export interface CallOptions {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Sends a request to one process. */
export async function call(
  { url }: Pick<Member, "url">,
  method: string,
  path: string,
  { token, body, headers = {} }: CallOptions = {},
): Promise<Reply> {
  const answer = await fetch(url + path, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = /\bjson\b/.test(answer.headers.get("content-type") ?? "");
  const parsed = isJson ? (JSON.parse(text) as Body) : {};
  return { status: answer.status, headers: answer.headers, body: parsed, text };
}

/** Several processes of one relay on one database. */
export interface Cluster {
  readonly databaseUrl: string;
  readonly members: readonly [Member, Member, ...Member[]];
  /** Returns the processes in turn. */
  next(): Member;
  asOperator(
    member: Pick<Member, "url">,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Reply>;
  as(
    agent: TestAgent,
    member: Pick<Member, "url">,
    method: string,
    path: string,
    options?: CallOptions,
  ): Promise<Reply>;
  token(agent: TestAgent): Promise<string>;
  createAgent(): Promise<TestAgent>;
  /** Creates an agent with a listing and without an endpoint. */
  createWorker(unitCost: number): Promise<TestAgent>;
  deposit(agent: TestAgent, amount: number): Promise<void>;
  stop(): Promise<void>;
}

const world = {
  now: Date.now,
  randomBytes: (length: number) => new Uint8Array(randomBytes(length)),
};

/** Starts all processes at the same time on a new database. */
export async function startCluster(
  size: number,
  env: Record<string, string> = {},
): Promise<Cluster> {
  const databaseUrl = await openDatabaseOf(randomUUID());
  const started = await Promise.all(
    Array.from({ length: size }, () => startMember(databaseUrl, env)),
  );
  const members = started as unknown as Cluster["members"];
  let turn = 0;
  const next = () => members[turn++ % members.length] as Member;
  const identity = await call(members[0], "GET", "/.well-known/agent-relay.json");
  const { did } = identity.body as { did: string };
  const token: Cluster["token"] = (agent) => createToken(agent, did, world);
  const asOperator: Cluster["asOperator"] = (member, method, path, body) =>
    call(member, method, path, { token: OPERATOR_TOKEN, body });
  const as: Cluster["as"] = async (agent, member, method, path, options = {}) =>
    call(member, method, path, { token: await token(agent), ...options });

  async function createAgent(): Promise<TestAgent> {
    const fresh = createTestAgent(world);
    const { status, body } = await call(next(), "POST", "/api/v1/agents/bootstrap", {
      body: { agent_id: fresh.agentId, public_key: fresh.publicKey },
    });
    if (status !== 201 && status !== 200) throw new Error(JSON.stringify(body));
    return { ...fresh, deviceId: body["device_id"] as string };
  }

  return {
    databaseUrl,
    members,
    next,
    asOperator,
    as,
    token,
    createAgent,
    async createWorker(unitCost) {
      const worker = await createAgent();
      const base = `/api/v1/agents/${worker.agentId}`;
      const listed = await as(worker, next(), "POST", `${base}/listing`, {
        body: {
          capabilities: ["summarise"],
          pricing: [{ capability: "summarise", unit_cost: unitCost, currency: "USD", per: "task" }],
          sla: { max_latency_ms: 1_000, availability_guarantee: 0.9 },
          description: "a worker",
        },
      });
      if (listed.status !== 200) throw new Error(listed.text);
      return worker;
    },
    async deposit(to, amount) {
      const path = `/api/v1/agents/${to.agentId}/deposit`;
      const { status, text } = await asOperator(next(), "POST", path, { amount });
      if (status !== 200) throw new Error(text);
    },
    stop: async () => void (await Promise.all(members.map((member) => member.stop()))),
  };
}
