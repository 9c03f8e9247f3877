import { Role, TaskState, type Message, type StreamResponse, type Task } from "@a2a-js/sdk";
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  type Client,
} from "@a2a-js/sdk/client";
import { verifyReceipt } from "@agent/receipts";
import type { TestAgent } from "@agent/testkit";
import { DELEGATION_EXTENSION, limits } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { settleEventLoop, serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import { putOffer } from "../../test/inspections.ts";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  getAgentStates,
  putListing,
  createSeller,
  getTaskAt,
} from "../../test/market.ts";
import {
  OPERATOR_TOKEN,
  createReceipt,
  processCount,
  startTestRelay,
} from "../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await serveTestRelay();
  [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
});
afterEach(() => t.close());

const plain = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "work" }] };
const cardPath = ({ agentId }: TestAgent) => `/a2a/${agentId}/.well-known/agent-card.json`;
const taskPath = (id: string) => `/agent/${worker.agentId}/task/${id}`;

/** Returns a `fetch` with an agent's token, or the operator's. */
function as(agent: TestAgent | undefined): typeof fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    const token = agent === undefined ? OPERATOR_TOKEN : await t.token(agent);
    headers.set("authorization", `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
}

/** Creates the official client, which reads the worker's card and calls the address in it. */
function clientOf(agent?: TestAgent): Promise<Client> {
  const fetchImpl = as(agent);
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return new ClientFactory(options).createFromUrl(t.baseUrl, cardPath(worker));
}

function saying(text: string, change: Partial<Message> = {}, returnImmediately = false) {
  const message: Message = {
    messageId: "m-1",
    contextId: "",
    taskId: "",
    role: Role.ROLE_USER,
    parts: [
      { content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...change,
  };
  const configuration = {
    acceptedOutputModes: [],
    taskPushNotificationConfig: undefined,
    historyLength: undefined,
    returnImmediately,
  };
  return { tenant: "", message, configuration, metadata: undefined };
}

/** Sends a message and returns the task at once. */
async function submitted(client: Client, ...of: Parameters<typeof saying>): Promise<Task> {
  const [text, change] = of;
  return (await client.sendMessage(saying(text, change, true))) as Task;
}

/** Does a task as the worker and delivers its receipt. */
async function work(taskId: string, body: Parameters<typeof createReceipt>[2] = {}) {
  const { submitted_at, prompt } = await getTaskAt(t, taskPath(taskId));
  const receipt = createReceipt(worker, { task_id: taskId, prompt, submitted_at }, body);
  const answer = await t.as(worker, "POST", `${taskPath(taskId)}/result`, receipt);
  expect(answer).toMatchObject({ status: 200 });
  return receipt;
}

/** Lists the tasks that were sent to the worker. */
async function tasksOfWorker(): Promise<{ task_id: string; prompt: string }[]> {
  const { body } = await t.as(worker, "GET", `/agent/${worker.agentId}/tasks`);
  return body["tasks"] as { task_id: string; prompt: string }[];
}

function raw(method: string, params: object, headers: Record<string, string> = {}) {
  const call = { jsonrpc: "2.0", id: "c-1", method, params };
  return as(boss)(`${t.baseUrl}/a2a/${worker.agentId}`, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
    body: JSON.stringify(call),
  }).then(async (answer) => ({ status: answer.status, body: (await answer.json()) as unknown }));
}

describe("cards of agents", () => {
  test("an agent's card gives the official client the agent's skills, prices and address", async () => {
    const resolver = new DefaultAgentCardResolver({ fetchImpl: as(boss) });
    expect(await resolver.resolve(t.baseUrl, cardPath(worker))).toMatchObject({
      name: worker.agentId,
      description: "sells work",
      supportedInterfaces: [
        {
          url: `${t.baseUrl}/a2a/${worker.agentId}`,
          protocolBinding: "JSONRPC",
          protocolVersion: "1.0",
        },
      ],
      capabilities: {
        streaming: true,
        pushNotifications: false,
        extensions: [
          {
            uri: "urn:agent-delegation:extensions:hire:v1",
            params: {
              agent_id: worker.agentId,
              pricing: [{ capability: "summarise", unit_cost: 2, currency: "USD", per: "task" }],
            },
          },
        ],
      },
      skills: [{ id: "summarise", tags: ["capability"] }],
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    });
  });

  test("an agent's card is public and names the token that a call needs; a revoked agent has none", async () => {
    expect((await t.request("GET", cardPath(worker))).status).toBe(200);
    await t.asOperator("POST", `/api/v1/agents/${worker.agentId}/revoke`, { reason: "leaked" });
    expect((await t.request("GET", cardPath(worker))).status).toBe(404);
  });

  test("an agent's card has the registered name of the agent and the configured address of the relay", async () => {
    const known = await startTestRelay({ AGENT_BASE_URL: "https://relay.example/base/" });
    const { agentId } = await known.createWorker(1);
    const { body } = await known.asOperator("GET", `/a2a/${agentId}/.well-known/agent-card.json`);
    const url = `https://relay.example/base/a2a/${agentId}`;
    expect(body).toMatchObject({ name: "worker", supportedInterfaces: [{ url }] });
    await known.close();
  });

  test("an agent's card does not replace the relay's own card, which is public too", async () => {
    const card = await new DefaultAgentCardResolver().resolve(t.baseUrl);
    expect(card.supportedInterfaces).toMatchObject([{ url: `${t.baseUrl}/openapi.json` }]);
  });
});

describe("messages", () => {
  test("a message is answered when its task has ended, with the signed receipt as a verifiable artifact", async () => {
    const client = await clientOf(boss);
    const sending = client.sendMessage(saying("work"));
    await settleEventLoop();
    const [task] = await tasksOfWorker();
    await work(task!.task_id);
    const done = (await sending) as Task;
    expect(done.id).toBe(task!.task_id);
    expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(done.artifacts.map(({ artifactId }) => artifactId)).toEqual(["result", "receipt"]);
    const [result, receipt] = done.artifacts.map(({ parts }): unknown => parts[0]?.content?.value);
    const verdict = verifyReceipt(receipt as object, { publicKey: worker.publicKey });
    expect(verdict).toMatchObject({ valid: true });
    expect(result).toBe((receipt as { result: string }).result);
    expect(await t.getBalance(boss)).toBe(8);
    await expectConsistentBooks(t);
  });

  test("a message is answered with the open task if that has not ended after the longest wait of a poll", async () => {
    const client = await clientOf(boss);
    const longest = limits.pollWaitSeconds * 1_000;
    const countWaits = () => t.clock.pending().filter((ms) => ms === longest).length;
    const before = countWaits();
    const sending = client.sendMessage(saying("work"));
    // The request arrives by a socket, after a time that depends on the machine.
    await expect.poll(countWaits, { timeout: 30_000, interval: 5 }).toBe(before + 1);
    await t.clock.advance(longest);
    const task = (await sending) as Task;
    expect(task.status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
  });

  test("a message that is sent again returns its task, but is refused if its text is different", async () => {
    const client = await clientOf(boss);
    const [first, again] = [await submitted(client, "work"), await submitted(client, "work")];
    expect(again.id).toBe(first.id);
    expect(await tasksOfWorker()).toHaveLength(1);
    await expect(submitted(client, "other work")).rejects.toMatchObject({
      data: [{}, { code: "idempotency.key_reused" }],
    });
  });

  test("a message that is sent five times at once becomes one task and is paid for once", async () => {
    const client = await clientOf(boss);
    const sent = await Promise.allSettled(
      Array.from({ length: 5 }, () => submitted(client, "work")),
    );
    const ids = sent.flatMap((one) => (one.status === "fulfilled" ? [one.value.id] : []));
    expect(new Set(ids).size).toBe(1);
    expect(await tasksOfWorker()).toHaveLength(1);
    await expectConsistentBooks(t);
  });

  test("a message carries the terms of its task in the metadata: a price above the budget is refused", async () => {
    const client = await clientOf(boss);
    const metadata = { [DELEGATION_EXTENSION]: { max_budget: 1 } };
    await expect(submitted(client, "work", { metadata })).rejects.toMatchObject({
      envelopeCode: -32_000,
      data: [
        { reason: "BUDGET_MAX_EXCEEDED", domain: "agent-delegation" },
        { code: "budget.max_exceeded", status: 402 },
      ],
    });
    expect(await tasksOfWorker()).toEqual([]);
  });

  // Each process knows only the cards that it has shown itself.
  describe.runIf(processCount === 1)("after its sender read the card", () => {
    const raised = {
      data: [
        { reason: "BUDGET_MAX_EXCEEDED" },
        {
          code: "budget.max_exceeded",
          status: 402,
          estimated_cost: 9,
          message: expect.stringContaining("raised since you read the card") as unknown,
        },
      ],
    };

    test("A12: a price raised after the sender read the card is not charged", async () => {
      const client = await clientOf(boss);
      await putListing(t, worker, 9);
      const before = await getAgentStates(t, [boss]);
      await expect(submitted(client, "work")).rejects.toMatchObject(raised);
      expect(await getAgentStates(t, [boss])).toEqual(before);
      expect(await tasksOfWorker()).toEqual([]);
      const aware = await clientOf(boss);
      expect((await submitted(aware, "work")).id).toBeTruthy();
      expect(await t.getBalance(boss)).toBe(1);
    });

    test("A12: the price on a card that was read without a token counts for the reader's address", async () => {
      await fetch(`${t.baseUrl}${cardPath(worker)}`);
      await putListing(t, worker, 9);
      const answer = await raw("SendMessage", { message: plain });
      expect(answer.body).toMatchObject({ error: raised });
      await fetch(`${t.baseUrl}${cardPath(worker)}`, {
        headers: { authorization: "Bearer a.b.c" },
      });
      const later = { message: plain, configuration: { returnImmediately: true } };
      expect((await raw("SendMessage", later)).body).toMatchObject({ result: { task: {} } });
    });

    const readCard = (by?: TestAgent) =>
      (by === undefined ? fetch : as(by))(`${t.baseUrl}${cardPath(worker)}`);

    const later = { message: plain, configuration: { returnImmediately: true } };

    test("a message that asks for an inspection may cost the card's price and the arbitration fee, and no more", async () => {
      const inspected = (messageId: string) => {
        const metadata = { [DELEGATION_EXTENSION]: { acceptance: {} } };
        return raw("SendMessage", { ...later, message: { ...plain, messageId, metadata } });
      };
      await putOffer(t, worker, { price: 2 });
      await readCard(boss);
      expect((await inspected("m-1")).body).toMatchObject({ result: { task: {} } });
      expect(await t.getBalance(boss)).toBe(7.9);
      await putOffer(t, worker, { price: 2.01 });
      expect((await inspected("m-2")).body).toMatchObject({
        error: { data: [raised.data[0], { ...raised.data[1], estimated_cost: 2.1105 }] },
      });
    });

    test("A12: a card that was read with a token takes precedence over one that was read without", async () => {
      await readCard();
      await putListing(t, worker, 9);
      await readCard(boss);
      expect((await raw("SendMessage", later)).body).toMatchObject({ result: { task: {} } });
      await putListing(t, worker, 10);
      const again = { ...later, message: { ...plain, messageId: "m-2" } };
      const raisedAgain = [raised.data[0], { code: "budget.max_exceeded", estimated_cost: 10 }];
      expect((await raw("SendMessage", again)).body).toMatchObject({
        error: { data: raisedAgain },
      });
    });

    test("A12: a card read without a token replaces none read with one, because callers may share an address", async () => {
      await readCard(boss);
      await putListing(t, worker, 9);
      await readCard();
      expect((await raw("SendMessage", later)).body).toMatchObject({ error: raised });
      await readCard(boss);
      expect((await raw("SendMessage", later)).body).toMatchObject({ result: { task: {} } });
    });
  });

  test("A12: a card counts only for the agent that read it", async () => {
    const other = await createBuyer(t, 10);
    await clientOf(other);
    await putListing(t, worker, 9);
    const later = { message: plain, configuration: { returnImmediately: true } };
    expect((await raw("SendMessage", later)).body).toMatchObject({ result: { task: {} } });
  });

  test.each([
    [{ max_budget: 8.999999 }],
    [{ [DELEGATION_EXTENSION]: { max_budget: 8 } }],
    [{ max_budget: 8, [DELEGATION_EXTENSION]: { max_budget: 10 } }],
  ])("A12: the cap %j in the message counts instead of the price on the card", async (metadata) => {
    const client = await clientOf(boss);
    await putListing(t, worker, 9);
    await expect(submitted(client, "work", { metadata })).rejects.toMatchObject({
      data: [{}, { code: "budget.max_exceeded", error: "Price exceeds max_budget" }],
    });
    const enough = { messageId: "m-2", metadata: { max_budget: 9 } };
    expect((await submitted(client, "work", enough)).id).toBeTruthy();
  });

  test("A12: the price on the card that counts is that of the required capabilities", async () => {
    await putListing(t, worker, { summarise: 1, translate: 5 });
    const client = await clientOf(boss);
    await putListing(t, worker, { summarise: 2, translate: 5 });
    const terms = (required_capabilities: string[]) => ({
      metadata: { [DELEGATION_EXTENSION]: { required_capabilities } },
    });
    await expect(submitted(client, "work", terms(["summarise"]))).rejects.toMatchObject({
      data: [{}, { code: "budget.max_exceeded", estimated_cost: 2 }],
    });
    const dear = { messageId: "m-2", ...terms(["translate"]) };
    expect((await submitted(client, "work", dear)).id).toBeTruthy();
  });

  test("a message is refused with 402 and the price in the error's data when the sender lacks money", async () => {
    const poor = await clientOf(await t.createAgent());
    await expect(submitted(poor, "work")).rejects.toMatchObject({
      data: [{}, { code: "budget.insufficient", status: 402, estimated_cost: 2 }],
    });
  });

  const refused: Readonly<Record<string, [change: Partial<Message>, code: number]>> = {
    "to a task that is there": [{ taskId: "a task" }, -32_004],
    "in a context of the client's": [{ contextId: "a context" }, -32_004],
    "without an id": [{ messageId: "" }, -32_602],
    "with an id that is no key": [{ messageId: "two words" }, -32_602],
    "without parts": [{ parts: [] }, -32_602],
    "of an agent": [{ role: Role.ROLE_AGENT }, -32_602],
    "with data": [
      {
        parts: [
          { content: { $case: "data", value: 1 }, metadata: {}, filename: "", mediaType: "" },
        ],
      },
      -32_005,
    ],
    "with broken terms": [{ metadata: { [DELEGATION_EXTENSION]: { max_budget: -1 } } }, -32_602],
    "A12: with a budget that is no amount": [{ metadata: { max_budget: "8" } }, -32_602],
    "with terms that are no object": [
      { metadata: { [DELEGATION_EXTENSION]: "max_budget" } },
      -32_602,
    ],
  };
  test.each(Object.entries(refused))(
    "a message %s is refused",
    async (_, [change, envelopeCode]) => {
      const client = await clientOf(boss);
      await expect(submitted(client, "work", change)).rejects.toMatchObject({ envelopeCode });
      expect(await tasksOfWorker()).toEqual([]);
    },
  );
});

describe("streams", () => {
  test("a stream reports the task, its claim, notes, artifacts and end as they happen", async () => {
    const device = await t.connectDevice(worker);
    const client = await clientOf(boss);
    const seen: StreamResponse[] = [];
    const reading = (async () => {
      for await (const event of client.sendMessageStream(saying("work"))) seen.push(event);
    })();
    const { task } = await device.next("task_assigned");
    device.send({ type: "claim", task_id: task.task_id });
    await device.next("claimed");
    device.send({ type: "progress", task_id: task.task_id, note: "half way" });
    await settleEventLoop();
    const receipt = await work(task.task_id);
    await reading;
    expect(seen.map(({ payload }) => payload)).toMatchObject([
      { $case: "task", value: { id: task.task_id } },
      { value: { status: { state: TaskState.TASK_STATE_WORKING } } },
      { value: { status: { message: { parts: [{ content: { value: "half way" } }] } } } },
      { $case: "artifactUpdate", value: { artifact: { artifactId: "result" } } },
      { value: { artifact: { parts: [{ content: { $case: "data", value: receipt } }] } } },
      { $case: "statusUpdate", value: { status: { state: TaskState.TASK_STATE_COMPLETED } } },
    ]);
  });

  test("a stream can be resumed, and ends with an error when the task expires", async () => {
    const task = await submitted(await clientOf(boss), "work");
    // The operator's token outlasts the task.
    const stream = (await clientOf()).resubscribeTask({ tenant: "", id: task.id });
    expect((await stream.next()).value).toMatchObject({ payload: { value: { id: task.id } } });
    const end = stream.next().catch((error: unknown) => error);
    await settleEventLoop();
    await t.clock.advance(limits.taskTtlMs);
    await t.relay.tick();
    expect(await end).toMatchObject({ cause: { envelopeCode: -32_001 } });
  });

  test("a stream is refused for a task that has ended", async () => {
    const client = await clientOf(boss);
    const task = await submitted(client, "work");
    await work(task.id);
    const stream = client.resubscribeTask({ tenant: "", id: task.id });
    await expect(stream.next()).rejects.toMatchObject({ envelopeCode: -32_004 });
  });
});

describe("tasks", () => {
  test("a task is read over A2A even if it was submitted over HTTP", async () => {
    const { task_id } = await submitAcceptedTask(t, boss, worker);
    const client = await clientOf(boss);
    const get = () => client.getTask({ tenant: "", id: task_id });
    expect((await get()).status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
    await work(task_id);
    expect(await get()).toMatchObject({
      status: { state: TaskState.TASK_STATE_COMPLETED },
      metadata: { [DELEGATION_EXTENSION]: { estimated_cost: 2 } },
    });
  });

  test.each([
    ["denied", TaskState.TASK_STATE_REJECTED],
    ["failed", TaskState.TASK_STATE_FAILED],
  ] as const)(
    "a task that is %s is shown as such in A2A, with its receipt",
    async (status, state) => {
      const client = await clientOf(boss);
      const { id } = await submitted(client, "work");
      await work(id, { status });
      const task = await client.getTask({ tenant: "", id });
      expect(task.status?.state).toBe(state);
      expect(task.artifacts.at(-1)?.parts[0]?.content?.value).toMatchObject({ status });
    },
  );

  test("a task can be cancelled once by its submitter, which returns the money", async () => {
    const client = await clientOf(boss);
    const { id } = await submitted(client, "work");
    const cancel = () => client.cancelTask({ tenant: "", id, metadata: undefined });
    expect((await cancel()).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    expect(await t.getBalance(boss)).toBe(10);
    await expect(cancel()).rejects.toMatchObject({
      envelopeCode: -32_002,
      data: [{ reason: "TASK_NOT_CANCELABLE" }, { code: "task.not_pending" }],
    });
  });

  test("a task of other agents is answered like one that does not exist", async () => {
    const { id } = await submitted(await clientOf(boss), "work");
    const stranger = await clientOf(await t.createAgent());
    const asked = [id, "unknown"].map((taskId) =>
      stranger.getTask({ tenant: "", id: taskId }).catch((error: unknown) => error),
    );
    for (const error of await Promise.all(asked)) {
      expect(error).toMatchObject({
        envelopeCode: -32_001,
        message: "Task not found or expired",
        data: [{ reason: "TASK_NOT_FOUND" }, { code: "task.not_found", status: 404 }],
      });
    }
    const cancelling = stranger.cancelTask({ tenant: "", id, metadata: undefined });
    await expect(cancelling).rejects.toMatchObject({ envelopeCode: -32_001 });
  });
});

describe("a call", () => {
  test.each([
    ["of an unsupported version", "GetTask", { "a2a-version": "0.3" }, -32_009],
    ["of no version, which means 0.3", "GetTask", { "a2a-version": "" }, -32_009],
    ["of an unknown method", "toString", {}, -32_601],
    ["of the list", "ListTasks", {}, -32_004],
    ["about push notifications", "CreateTaskPushNotificationConfig", {}, -32_003],
    ["about a task without its id", "GetTask", {}, -32_602],
  ])(
    "a call %s is answered with the error that A2A defines for it",
    async (_, method, headers, code) => {
      expect(await raw(method, {}, headers)).toMatchObject({
        status: 200,
        body: { jsonrpc: "2.0", id: "c-1", error: { code } },
      });
    },
  );

  test.each(["SendMessage", "SendStreamingMessage", "CancelTask"])(
    "the method %s requires the scope for submitting tasks",
    async (method) => {
      const answer = await t.request("POST", `/a2a/${worker.agentId}`, {
        token: await t.token(boss, ["task:read"]),
        body: { jsonrpc: "2.0", id: 1, method, params: {} },
      });
      expect(answer).toMatchObject({ status: 403, body: { code: "auth.scope_missing" } });
    },
  );
});
