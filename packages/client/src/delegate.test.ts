import { bytesToHex, generateKeyPair, publicKeyToDidKey, sha256Hex } from "@agent/crypto";
import { signReceipt, type ExecutionReceipt, type ReceiptBody } from "@agent/receipts";
import type { Task } from "@agent/wire";
import { describe, expect, test } from "vitest";
import { delegate, type DelegateOptions } from "./delegate.ts";
import { createRelayClient } from "./relay-client.ts";
import { startLocalServer, type Reply } from "./testing/local-server.ts";

const NOW = Date.now();
const TASK = "019b7d21-53eb-7c81-b2f1-75174603c805";
const PROMPT = "sum 1 and 2";

function agent(seed: number) {
  const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(seed));
  return {
    agentId: `019b7d21-53eb-7ccd-926c-${seed.toString(16).padStart(12, "0")}`,
    deviceId: `device-${seed}`,
    secretKey,
    publicKey: bytesToHex(publicKey),
    did: publicKeyToDidKey(publicKey),
  };
}
type Agent = ReturnType<typeof agent>;

const delegator = agent(1);
const worker = agent(2);
const helper = agent(3);
const stranger = agent(4);

function receiptOf(by: Agent, change: Partial<ReceiptBody> = {}): ExecutionReceipt {
  const body: ReceiptBody = {
    task_id: TASK,
    relay_task_id: TASK,
    agent_id: by.agentId,
    device_id: by.deviceId,
    submitted_at: NOW,
    completed_at: NOW + 5,
    status: "completed",
    result: "3",
    tools_used: ["add"],
    memories_formed: 0,
    prompt_hash: sha256Hex(PROMPT),
    result_hash: sha256Hex(change.result ?? "3"),
    ...change,
  };
  return signReceipt(body, by.secretKey);
}

interface Plan {
  /** The task in each poll; the last one is repeated. */
  readonly polls: readonly Partial<Task>[];
  readonly receipt?: object | null;
  readonly devices?: Readonly<Record<string, object>>;
  readonly agents?: Readonly<Record<string, object>>;
  readonly listings?: Readonly<Record<string, object>>;
  /** Answers that precede the relay's own, by method and path. */
  readonly before?: Record<string, Reply[]>;
}

const deviceOf = (owner: Agent, revoked = false) => ({
  device_id: owner.deviceId,
  agent_id: owner.agentId,
  public_key: owner.publicKey,
  did: owner.did,
  device_name: null,
  registered_at: NOW,
  revoked,
});

const entryOf = (owner: Agent) => ({
  agent_id: owner.agentId,
  public_key: owner.publicKey,
  did: owner.did,
  endpoint_url: null,
  capabilities: [],
  metadata: {},
  trust_level: "unknown",
  cost: null,
  availability: 1,
  online: true,
  freshness: "awake",
  pricing: [],
  source_relay: "r",
  relay_name: "r",
  hop_distance: 0,
});

const known = Object.fromEntries(
  [worker, helper].map((owner) => [owner.deviceId, deviceOf(owner)]),
);

const task: Task = {
  task_id: TASK,
  agent_id: worker.agentId,
  prompt: PROMPT,
  submitted_at: NOW,
  status: "pending",
  submitted_by: delegator.agentId,
  assigned_to: null,
  required_capabilities: [],
  expires_at: NOW + 900_000,
  wall_clock_ms: null,
  step_id: null,
  routing_choice: null,
  estimated_cost: 0,
  amount_locked: 0,
};

const notFound = (code: string): Reply => ({ status: 404, body: { code, message: code } });

/** Starts a fake relay with the operations of a delegation, which follows a plan. */
async function relayWith(plan: Plan) {
  const { polls, receipt = receiptOf(worker), devices = known, agents = {}, before = {} } = plan;
  const { listings = {} } = plan;
  let polled = 0;
  return await startLocalServer(({ method, url }) => {
    const [path = ""] = url.split("?");
    const instead = before[`${method} ${path}`]?.shift();
    if (instead !== undefined) return instead;
    const last = path.slice(path.lastIndexOf("/") + 1);
    if (path.startsWith("/api/v1/devices/")) {
      return devices[last] === undefined
        ? notFound("device.not_found")
        : { status: 200, body: devices[last] };
    }
    if (path.endsWith("/listing")) {
      const listing = listings[path.split("/").at(-2) ?? ""];
      return listing === undefined ? notFound("listing.not_found") : { status: 200, body: listing };
    }
    if (path.startsWith("/api/v1/agents/")) {
      return agents[last] === undefined
        ? notFound("agent.not_found")
        : { status: 200, body: agents[last] };
    }
    if (method === "POST") {
      const { task_id, status, routing_choice, expires_at, estimated_cost, amount_locked } = task;
      const body = { task_id, status, routing_choice, expires_at, estimated_cost, amount_locked };
      return { status: 201, body };
    }
    const now = { ...task, ...polls[Math.min(polled++, polls.length - 1)] };
    const open = now.status === "pending" || now.status === "claimed";
    return { status: 200, body: { task: now, receipt: open ? null : receipt } };
  });
}

const completed: Plan = { polls: [{ status: "completed", assigned_to: worker.agentId }] };

/** Delegates to the worker at a relay with this plan; waits end at once. */
async function run(plan: Plan, options: Partial<DelegateOptions> = {}) {
  // Most tests are not about the price, so it is given.
  const change = "maxBudget" in options ? options : { ...options, maxBudget: 5 };
  await using relay = await relayWith(plan);
  const waits: number[] = [];
  const client = createRelayClient({ ...relay, identity: delegator, relayDid: delegator.did });
  const delegated = await delegate(client, {
    agentId: worker.agentId,
    prompt: PROMPT,
    timeoutMs: 60_000,
    schedule(ms, task) {
      waits.push(ms);
      queueMicrotask(task);
      return () => {};
    },
    ...change,
  });
  return { delegated, waits, received: relay.received };
}

describe("delegate", () => {
  test("delegate submits a task, waits for the receipt and returns it verified", async () => {
    const { delegated, received } = await run(completed);
    expect(delegated).toMatchObject({
      ok: true,
      taskId: TASK,
      receipt: receiptOf(worker),
      verdict: { valid: true, nested: [] },
      task: { task_id: TASK, status: "completed" },
    });
    expect(received.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `POST /agent/${worker.agentId}/task`,
      expect.stringMatching(`^GET /agent/${worker.agentId}/task/${TASK}\\?wait=(59|60)$`),
      "GET /api/v1/devices/device-2",
    ]);
    expect(JSON.parse(received[0]?.body ?? "")).toEqual({ prompt: PROMPT, max_budget: 5 });
  });

  test("delegate sends the limits of the executor and of the price", async () => {
    const { received } = await run(completed, {
      requiredCapabilities: ["add"],
      maxBudget: 1.5,
      delegationToken: { token_id: "d" },
      excludeAgents: [stranger.agentId],
      ttlMs: 7_200_000,
      submittedBy: delegator.agentId,
      publicKey: worker.publicKey,
    });
    expect(JSON.parse(received[0]?.body ?? "")).toEqual({
      prompt: PROMPT,
      required_capabilities: ["add"],
      max_budget: 1.5,
      delegation_token: { token_id: "d" },
      exclude_agents: [stranger.agentId],
      ttl_ms: 7_200_000,
      submitted_by: delegator.agentId,
      public_key: worker.publicKey,
    });
  });

  test.each(["failed", "denied"] as const)(
    "delegate returns the receipt of a %s task as proven",
    async (status) => {
      const receipt = receiptOf(worker, { status });
      const { delegated } = await run({ ...completed, polls: [{ status }], receipt });
      expect(delegated).toMatchObject({ ok: true, receipt: { status } });
    },
  );

  test("delegate accepts the receipt of the executor that the relay assigned", async () => {
    const polls = [{ status: "completed", assigned_to: helper.agentId }] as const;
    const { delegated } = await run({ polls, receipt: receiptOf(helper) });
    expect(delegated).toMatchObject({ ok: true, receipt: { agent_id: helper.agentId } });
  });

  test("delegate polls an open task, at most once per second if the relay answers at once", async () => {
    const polls = [{}, { status: "claimed" }, { status: "claimed" }, ...completed.polls] as const;
    const { delegated, waits } = await run({ polls });
    expect(delegated.ok).toBe(true);
    expect(waits).toEqual([1_000, 1_000]);
  });

  test("H17: a status of a later version does not end the wait for the receipt", async () => {
    const paused = { status: "paused" as "pending" };
    const { delegated } = await run({ polls: [paused, ...completed.polls] });
    expect(delegated).toMatchObject({ ok: true, task: { status: "completed" } });
  });

  test("delegate waits as long as a busy relay asks and retries at a failing one", async () => {
    const path = `/agent/${worker.agentId}/task`;
    const busy = (status: number, wait: string): Reply => ({
      status,
      headers: { "retry-after": wait },
      body: { code: "rate.exceeded", message: "" },
    });
    const { delegated, waits } = await run({
      ...completed,
      before: {
        [`POST ${path}`]: [busy(429, "3"), busy(503, "4")],
        [`GET ${path}/${TASK}`]: [{ status: 502, body: "<h1>Bad gateway</h1>" }, busy(429, "5")],
        "GET /api/v1/devices/device-2": [busy(429, "6")],
      },
    });
    expect(delegated.ok).toBe(true);
    expect(waits.map((ms) => Math.floor(ms / 1_000))).toEqual([3, 4, 0, 5, 6]);
  });
});

describe("A12: a delegation without a budget", () => {
  const listing = {
    listing_id: "l",
    agent_id: worker.agentId,
    updated_at: NOW,
    capabilities: ["add", "greet"],
    pricing: [{ capability: "add", unit_cost: 0.01, currency: "USD", per: "task" }],
    description: "",
  };
  const listed = { [worker.agentId]: listing };
  const remote = { [worker.agentId]: { ...entryOf(worker), ...listing, cost: 0.01 } };
  const costed = { [worker.agentId]: { ...entryOf(worker), cost: 0.5 } };
  const submissionOf = ({ received }: Awaited<ReturnType<typeof run>>) =>
    received.filter(({ method }) => method === "POST").map(({ body }): unknown => JSON.parse(body));

  test.each<[string, Partial<Plan>, readonly string[] | undefined, object]>([
    ["the listed price", { listings: listed }, undefined, { max_budget: 0.01 }],
    [
      "the listed price of the required capabilities",
      { listings: listed },
      ["greet"],
      { max_budget: 0 },
    ],
    ["no maximum for a capability that is not listed", { listings: listed }, ["fly"], {}],
    ["the price that another relay states", { agents: remote }, ["add"], { max_budget: 0.01 }],
    ["the cost that another relay states", { agents: costed }, undefined, { max_budget: 0.5 }],
    [
      "0 for an agent without a listing",
      { agents: { [worker.agentId]: entryOf(worker) } },
      undefined,
      { max_budget: 0 },
    ],
    ["no maximum for an agent that the relay does not know", {}, undefined, {}],
  ])("A12: delegate without maxBudget sends %s", async (_, plan, requiredCapabilities, sent) => {
    const required =
      requiredCapabilities === undefined ? {} : { required_capabilities: requiredCapabilities };
    const result = await run(
      { ...completed, ...plan },
      { maxBudget: undefined, ...(requiredCapabilities !== undefined && { requiredCapabilities }) },
    );
    expect(result.delegated.ok).toBe(true);
    expect(submissionOf(result)).toEqual([{ prompt: PROMPT, ...required, ...sent }]);
    expect(result.received[0]?.url).toBe(`/api/v1/agents/${worker.agentId}/listing`);
  });

  test("MN45: delegate sends no maximum for null, and reads no price that could have changed", async () => {
    const result = await run({ ...completed, listings: listed }, { maxBudget: null });
    expect(submissionOf(result)).toEqual([{ prompt: PROMPT }]);
    expect(result.received[0]?.method).toBe("POST");
  });

  test("A12: delegate submits nothing when the price cannot be read", async () => {
    const path = `GET /api/v1/agents/${worker.agentId}/listing`;
    const denied = { status: 403, body: { code: "auth.device_not_authorized", message: "no" } };
    const result = await run(
      { ...completed, before: { [path]: [denied] } },
      { maxBudget: undefined },
    );
    expect(result.delegated).toMatchObject({ ok: false, code: "auth.device_not_authorized" });
    expect(submissionOf(result)).toEqual([]);
  });

  test("A12: delegate reads the price again when the relay is busy", async () => {
    const path = `GET /api/v1/agents/${worker.agentId}/listing`;
    const busy = { status: 502, body: "" };
    const plan = { ...completed, listings: listed, before: { [path]: [busy] } };
    const result = await run(plan, { maxBudget: undefined });
    expect(submissionOf(result)).toEqual([{ prompt: PROMPT, max_budget: 0.01 }]);
  });
});

describe("E22: a proxy answers in place of the relay that has taken the task", () => {
  const page = "<h1>The relay restarts</h1>";
  test.each<[string, Reply]>([
    ["a page and 404", { status: 404, body: page }],
    ["a page and 200", { status: 200, body: page }],
    ["a JSON error of its own", { status: 403, body: { code: "Forbidden", message: "" } }],
  ])(
    "E22: delegate waits for the receipt and its key when a proxy answers with %s",
    async (_, reply) => {
      const before = {
        [`GET /agent/${worker.agentId}/task/${TASK}`]: [reply, reply],
        [`GET /api/v1/devices/${worker.deviceId}`]: [reply],
      };
      const { delegated } = await run({ ...completed, before });
      expect(delegated).toMatchObject({ ok: true, receipt: { result: "3" } });
    },
  );

  test("E22: delegate reports such an answer to its submission at once", async () => {
    const before = { [`POST /agent/${worker.agentId}/task`]: [{ status: 404, body: page }] };
    const { delegated, waits } = await run({ ...completed, before }, { idempotencyKey: "k" });
    expect(delegated).toMatchObject({ ok: false, code: "response.malformed", status: 404 });
    expect(waits).toEqual([]);
  });
});

describe("a submission whose answer is lost", () => {
  const path = `POST /agent/${worker.agentId}/task`;
  const failed = () => ({ ...completed, before: { [path]: [{ status: 502, body: "" }] } });
  const keysOf = ({ received }: Awaited<ReturnType<typeof run>>) =>
    received
      .filter(({ method }) => method === "POST")
      .map(({ headers }) => headers["idempotency-key"]);

  test("delegate repeats a submission with an idempotency key", async () => {
    const result = await run(failed(), { idempotencyKey: "k-1" });
    expect(result.delegated.ok).toBe(true);
    expect(keysOf(result)).toEqual(["k-1", "k-1"]);
  });

  test("delegate does not repeat a submission without an idempotency key", async () => {
    const result = await run(failed());
    expect(result.delegated).toMatchObject({ ok: false, status: 502 });
    expect(keysOf(result)).toEqual([undefined]);
  });
});

describe("the executor's key", () => {
  const lost = { ...completed, devices: {} };

  test("delegate verifies with the agent's key when the relay does not know the device", async () => {
    const agents = { [worker.agentId]: entryOf(worker) };
    expect((await run({ ...lost, agents })).delegated).toMatchObject({ ok: true });
  });

  test("delegate verifies with the agent's key when the device belongs to another agent", async () => {
    const devices = { [worker.deviceId]: { ...deviceOf(stranger), device_id: worker.deviceId } };
    const agents = { [worker.agentId]: entryOf(worker) };
    expect((await run({ ...completed, devices, agents })).delegated).toMatchObject({ ok: true });
  });

  test("delegate verifies with given executor keys without reading them from the relay", async () => {
    const executorKeys = [stranger.publicKey, worker.publicKey];
    const { delegated, received } = await run(lost, { executorKeys });
    expect(delegated).toMatchObject({ ok: true });
    expect(received).toHaveLength(2);
    expect((await run(completed, { executorKeys: [stranger.publicKey] })).delegated).toMatchObject({
      code: "receipt.signature_invalid",
    });
  });

  test.each<[string, Plan]>([
    ["unknown", lost],
    ["revoked", { ...completed, devices: { [worker.deviceId]: deviceOf(worker, true) } }],
    [
      "not bound",
      { ...lost, agents: { [worker.agentId]: { ...entryOf(worker), public_key: null } } },
    ],
  ])(
    "delegate refuses a receipt whose key is %s, although the receipt names it",
    async (_, plan) => {
      const receipt = receiptOf(worker, { public_key: worker.publicKey });
      expect((await run({ ...plan, receipt })).delegated).toMatchObject({
        ok: false,
        code: "receipt.key_missing",
        taskId: TASK,
      });
    },
  );
});

describe("a receipt of a delegation", () => {
  const other = "019b7d21-53eb-7c81-b2f1-75174603c806";

  test.each<[string, string, object | null]>([
    ["signed by another key", "receipt.signature_invalid", { ...receiptOf(worker), result: "4" }],
    ["for another task", "receipt.task_mismatch", receiptOf(worker, { task_id: other })],
    ["bound to another task", "receipt.task_mismatch", receiptOf(worker, { relay_task_id: other })],
    [
      "not bound to a task",
      "receipt.task_mismatch",
      receiptOf(worker, { relay_task_id: undefined }),
    ],
    ["by an agent that is neither target nor executor", "receipt.wrong_agent", receiptOf(stranger)],
    [
      "for another prompt",
      "receipt.prompt_hash_mismatch",
      receiptOf(worker, { prompt_hash: sha256Hex("x") }),
    ],
    [
      "for another result",
      "receipt.result_hash_mismatch",
      receiptOf(worker, { result_hash: sha256Hex("x") }),
    ],
    ["of another suite", "receipt.suite", { ...receiptOf(worker), suite: "x" }],
    [
      "that took an hour and more",
      "receipt.span",
      receiptOf(worker, { completed_at: NOW + 3_600_001 }),
    ],
    [
      "that names a tool out of scope",
      "receipt.out_of_scope",
      receiptOf(worker, { delegated_scope: "sub" }),
    ],
    ["without a member", "receipt.malformed", { ...receiptOf(worker), result: undefined }],
    ["that is missing", "receipt.missing", null],
  ])("delegate refuses a receipt %s", async (_, code, receipt) => {
    const { delegated } = await run({ ...completed, receipt });
    expect(delegated).toMatchObject({ ok: false, code, taskId: TASK });
    expect(delegated).not.toHaveProperty("receipt");
  });
});

describe("nested receipts", () => {
  const nested = receiptOf(helper, { task_id: "t-1", relay_task_id: "t-1" });
  const forged = { ...nested, result: "4" };
  const foreign = receiptOf(stranger, { task_id: "t-2", relay_task_id: "t-2" });

  test("delegate verifies each nested receipt with keys of the relay; the receipt stays valid", async () => {
    const receipt = receiptOf(worker, { delegation_receipts: [nested, forged, foreign] });
    const { delegated, received } = await run({ ...completed, receipt });
    expect(delegated).toMatchObject({
      ok: true,
      verdict: {
        valid: true,
        nested: [
          { valid: true },
          { valid: false, code: "receipt.signature_invalid" },
          { valid: false, code: "receipt.key_missing" },
        ],
      },
    });
    expect(received.filter(({ url }) => url.endsWith(helper.deviceId))).toHaveLength(1);
  });

  test("delegate looks up the keys of at most 32 signers of nested receipts", async () => {
    const many = Array.from({ length: 40 }, (_, i) => receiptOf(helper, { device_id: `d-${i}` }));
    const devices = Object.fromEntries(
      many.map(({ device_id }) => [device_id, { ...deviceOf(helper), device_id }]),
    );
    const receipt = receiptOf(worker, { delegation_receipts: many });
    const { delegated } = await run({ ...completed, receipt, devices: { ...known, ...devices } });
    if (!delegated.ok) throw new Error(delegated.code);
    expect(delegated.verdict.nested.filter(({ valid }) => valid)).toHaveLength(32);
  });
});

describe("a delegation ends without a receipt", () => {
  const path = `/agent/${worker.agentId}/task`;
  const refused = (code: string, status: number): Reply => ({
    status,
    body: { code, message: code },
  });

  test.each([
    ["budget.insufficient", 402],
    ["task.submitter_full", 429],
    ["server.failed", 500],
  ])("delegate returns the refusal of the submission: %s", async (code, status) => {
    const before = { [`POST ${path}`]: [refused(code, status)] };
    const { delegated, received } = await run({ ...completed, before });
    expect(delegated).toMatchObject({ ok: false, code, status });
    expect(delegated.taskId).toBeUndefined();
    expect(received).toHaveLength(1);
  });

  test("delegate returns task.not_found for an expired task", async () => {
    const before = { [`GET ${path}/${TASK}`]: [notFound("task.not_found")] };
    const { delegated } = await run({ ...completed, before });
    expect(delegated).toMatchObject({ ok: false, code: "task.not_found", taskId: TASK });
  });

  test("delegate returns task.cancelled for a cancelled task", async () => {
    const { delegated } = await run({ polls: [{ status: "cancelled" }], receipt: null });
    expect(delegated).toMatchObject({ ok: false, code: "task.cancelled", taskId: TASK });
  });

  test("B13: delegate returns task.erased for a task whose texts were erased", async () => {
    const polls = [{ status: "completed", erased_at: 1 }] as const;
    const { delegated } = await run({ polls, receipt: receiptOf(worker) });
    expect(delegated).toMatchObject({ ok: false, code: "task.erased", taskId: TASK });
  });

  test("delegate returns delegation.timed_out at the deadline after a last poll", async () => {
    let now = NOW;
    const { delegated, received } = await run(
      { polls: [{}] },
      {
        timeoutMs: 2_500,
        now: () => now,
        schedule(ms, task) {
          now += ms;
          queueMicrotask(task);
          return () => {};
        },
      },
    );
    expect(delegated).toMatchObject({ ok: false, code: "delegation.timed_out", taskId: TASK });
    const polls = received.filter(({ method }) => method === "GET").map(({ url }) => url.at(-1));
    expect(polls).toEqual(["2", "1", "0", "0"]);
  });

  test("delegate ends when the caller aborts it", async () => {
    const controller = new AbortController();
    const { delegated } = await run(
      { polls: [{}] },
      {
        signal: controller.signal,
        schedule(_, task) {
          controller.abort();
          queueMicrotask(task);
          return () => {};
        },
      },
    );
    expect(delegated).toMatchObject({ ok: false, code: "network.aborted", taskId: TASK });
  });
});
