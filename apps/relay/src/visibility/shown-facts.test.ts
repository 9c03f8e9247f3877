import type { TestAgent } from "@agent/testkit";
import type { Operation } from "@agent/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ARGS_HASH } from "../../test/agents/approvals.ts";
import { federated } from "../../test/contract/operator/federation.ts";
import { samples, UNKNOWN_ID } from "../../test/contract/samples.ts";
import { createSeller, submitAcceptedTask, type Delegation } from "../../test/market.ts";
import { createFakePeer, type FakePeer } from "../../test/network/fake-peer.ts";
import {
  createReceipt,
  startTestRelay,
  type Reply,
  type TestRelay,
} from "../../test/test-relay.ts";
import { operations, type OperationName } from "../operations.ts";

/** The marks that stand for facts about an agent; none occurs anywhere else. */
const createMarks = (name: string, number: number) => ({
  name: `${name}name`,
  endpoint: `${name}endpoint`,
  listing: `${name}listing`,
  price: `7.65430${number}`,
  order: `${name}order`,
  prompt: `${name}prompt`,
  note: `${name}note`,
  result: `${name}result`,
  plan: `${name}plan`,
  talk: `${name}talk`,
  message: `${name}message`,
  event: `${name}event`,
  webhook: `${name}hook`,
  bank: `${name}bank`,
  tool: `${name}tool`,
  balance: `.45670${number}`,
});
type Marks = ReturnType<typeof createMarks>;
type Fact = keyof Marks;
/** The operations that show facts; all others show none. */
type Shown = Partial<Record<OperationName, readonly Fact[]>>;

/** An agent about which others want to learn. */
interface Subject {
  readonly agent: TestAgent;
  readonly marks: Marks;
  readonly capability: string;
  /** The ids of what it has, by the parameters of paths. */
  readonly ids: Readonly<Record<string, string>>;
}

const rows = Object.entries(operations) as [OperationName, Operation][];

let t: TestRelay;
let friend: TestAgent;
let foe: TestAgent;
let peer: FakePeer;
beforeAll(async () => {
  t = await startTestRelay(federated);
  friend = await createSeller(t, { help: 1 });
  foe = await t.createAgent();
  await t.deposit(friend, 100);
  peer = await createFakePeer(t).completeHandshake();
});
afterAll(() => t.close());

async function must(reply: Promise<Reply>): Promise<Record<string, unknown>> {
  const { status, body, text } = await reply;
  if (status >= 300) throw new Error(text);
  return body;
}

interface Registration {
  readonly federation_visible?: boolean;
  readonly metadata?: Record<string, unknown>;
}

/** Creates an agent that has one of everything. */
async function createSubject(
  number: number,
  { metadata, ...registration }: Registration = {},
): Promise<Subject> {
  const agent = await t.createAgent();
  const name = `mark${number}`;
  const [marks, capability] = [createMarks(name, number), `${name}work`];
  const base = `/api/v1/agents/${agent.agentId}`;
  const post = (path: string, body: object) => must(t.as(agent, "POST", path, body));
  await post("/api/v1/agents/register", {
    agent_id: agent.agentId,
    endpoint_url: `http://127.0.0.1:1/${marks.endpoint}`,
    capabilities: [capability],
    metadata: { name: marks.name, ...metadata },
    ...registration,
  });
  await post(`${base}/listing`, {
    capabilities: [capability],
    pricing: [{ capability, unit_cost: Number(marks.price), currency: "USD", per: "task" }],
    description: marks.listing,
  });
  // Two are spent below.
  await t.deposit(agent, Number(`12${marks.balance}`));
  const order = await submitAcceptedTask(t, friend, agent, { prompt: marks.order });
  const task = await finishTask(agent, marks);
  const records = await createRecords(agent, marks);
  const ids = {
    ...records,
    agentId: agent.agentId,
    targetId: agent.agentId,
    remoteId: friend.agentId,
    deviceId: agent.deviceId,
    taskId: task.task_id,
    orderId: order.task_id,
  };
  return { agent, marks, capability, ids };
}

/** Lets the agent buy work, which the friend does. */
async function finishTask(agent: TestAgent, marks: Marks): Promise<Delegation> {
  const task = await submitAcceptedTask(t, agent, friend, { prompt: marks.prompt });
  await must(t.as(friend, "POST", `${task.path}/claim`, {}));
  await must(t.as(friend, "POST", `${task.path}/progress`, { note: marks.note }));
  const receipt = createReceipt(friend, task, { result: marks.result });
  await must(t.as(friend, "POST", `${task.path}/result`, receipt));
  return task;
}

async function createRecords(agent: TestAgent, marks: Marks): Promise<Record<string, string>> {
  const base = `/api/v1/agents/${agent.agentId}`;
  const post = (path: string, body: object) => must(t.as(agent, "POST", `${base}${path}`, body));
  await post("/plans", { ...(samples.putPlan.body as object), title: marks.plan });
  await post("/conversations", { ...(samples.putConversation.body as object), title: marks.talk });
  const message = { message_id: "m-1", role: "user", content: marks.message, created_at: 1 };
  await post("/conversations/talk-1/messages", { messages: [message] });
  const event = { event_id: "event-1", type: "goal_started", timestamp: 1, goal_id: "goal-1" };
  const payload = { goal_id: "goal-1", note: marks.event };
  await post("/events", { events: [{ ...event, payload }] });
  const hook = { url: `https://${marks.webhook}.example/x`, events: ["task.completed"] };
  const { webhook_id } = await post("/webhooks", hook);
  await post("/withdrawals", { amount: 1, destination: marks.bank });
  const { approval_id } = await post("/approvals", {
    tool_name: marks.tool,
    args_hash: ARGS_HASH,
    quorum_required: 1,
    quorum_approvers: [friend.agentId],
  });
  await must(t.as(agent, "PUT", `${base}/trust/${foe.agentId}`, { trust_level: "blocked" }));
  return {
    planId: "plan-1",
    conversationId: "talk-1",
    eventId: "event-1",
    goalId: "goal-1",
    webhookId: String(webhook_id),
    approvalId: String(approval_id),
  };
}

const listFacts = ({ marks }: Subject, { text }: Reply) =>
  (Object.keys(marks) as Fact[]).filter((fact) => text.includes(marks[fact]));

/** Calls an operation with all ids of the subject, as one who has learned them would. */
async function ask(name: OperationName, subject: Subject, token?: string): Promise<Reply[]> {
  const { agent, ids, marks, capability } = subject;
  const { method, path } = operations[name];
  const { body, query } = samples[name];
  const raw =
    body &&
    JSON.stringify(body)
      .replaceAll(UNKNOWN_ID, agent.agentId)
      .replaceAll(/summarise/g, capability);
  const search = query?.replace("summarise", capability).replace("q=work", `q=${marks.name}`);
  const fill = (about: Subject["ids"]) =>
    path.replaceAll(/:(\w+)/g, (_, id: string) => about[id] ?? UNKNOWN_ID) +
    (search === undefined ? "" : `?${search}`);
  // The task that the subject bought is addressed to its friend, and the one that the friend bought to it.
  const bought = { ...ids, agentId: path.startsWith("/agent/") ? friend.agentId : agent.agentId };
  const paths = new Set([ids, bought, { ...ids, taskId: ids["orderId"] ?? "" }].map(fill));
  const replies: Reply[] = [];
  for (const one of paths) {
    replies.push(await t.request(method, one, { token, ...(raw !== undefined && { raw }) }));
  }
  return replies;
}

/** Calls all operations about the subject that are not for the operator or for peers. */
async function look(
  subject: Subject,
  token?: string,
  isCalled = (_name: OperationName) => true,
): Promise<Shown> {
  const shown: Shown = {};
  for (const [name, { auth }] of rows) {
    if (auth === "master" || auth === "peer" || !isCalled(name)) continue;
    const replies = await ask(name, subject, token);
    const facts = new Set(replies.flatMap((reply) => listFacts(subject, reply)));
    if (facts.size > 0) shown[name] = [...facts].toSorted();
  }
  return shown;
}

const SHOWN_TO_ALL: Shown = {
  agentCard: ["listing", "name", "price"],
  getListing: ["listing", "price"],
};
const SHOWN_TO_AGENTS: Shown = {
  ...SHOWN_TO_ALL,
  discover: ["endpoint", "name", "price"],
  getAgent: ["endpoint", "name", "price"],
  listCandidates: ["listing", "price"],
  // The caller's own task.
  submitTask: ["price"],
};

interface State {
  readonly registration?: Registration;
  /** Brings the subject into the state. */
  readonly enter?: (subject: Subject) => Promise<unknown>;
  readonly toAgents: Shown;
  readonly toAll: Shown;
  readonly toPeers: readonly Fact[];
}

const open = { toAgents: SHOWN_TO_AGENTS, toAll: SHOWN_TO_ALL };
const STATES: Readonly<Record<string, State>> = {
  listed: { ...open, toPeers: ["listing", "name", "price"] },
  "hidden from peers": { ...open, registration: { federation_visible: false }, toPeers: [] },
  personal: { ...open, registration: { metadata: { agent_type: "personal" } }, toPeers: [] },
  // Its name is shown to those who know its id.
  deregistered: {
    enter: ({ agent }) => must(t.as(agent, "DELETE", `/api/v1/agents/${agent.agentId}`)),
    toAgents: { agentCard: ["name"], getAgent: ["name"] },
    toAll: { agentCard: ["name"] },
    toPeers: [],
  },
  revoked: {
    enter: ({ agent }) => must(t.asOperator("POST", `/api/v1/agents/${agent.agentId}/revoke`, {})),
    toAgents: {},
    toAll: {},
    toPeers: [],
  },
};

describe.each(Object.entries(STATES))("an agent that is %s", (name, state) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await createSubject(1 + Object.keys(STATES).indexOf(name), state.registration);
    await state.enter?.(subject);
  });

  test("each operation shows other agents at most the agent's public facts", async () => {
    const stranger = await t.createAgent();
    expect(await look(subject, await t.token(stranger))).toEqual(state.toAgents);
  });

  test("each operation shows an agent that it has blocked as much as any other", async () => {
    expect(await look(subject, await t.token(foe))).toEqual(state.toAgents);
  });

  test("each operation shows callers without a token at most the agent's public facts", async () => {
    expect(await look(subject)).toEqual(state.toAll);
  });

  test("each operation of peers shows the agent, or answers as for an agent that does not exist", async () => {
    const unknown = { ...subject, agent: t.createUnknownAgent(), ids: {} };
    const facts = new Set<Fact>();
    for (const [operation, send] of Object.entries(peerMessages)) {
      if (send === undefined) continue;
      const [reply, other] = [await send(subject), await send(unknown)];
      for (const fact of listFacts(subject, reply)) facts.add(fact);
      if (state.toPeers.length > 0) continue;
      const [answer, expected] = [reply, other].map(({ status, body }) => [status, body["code"]]);
      expect([operation, answer]).toEqual([operation, expected]);
    }
    expect([...facts].toSorted()).toEqual(state.toPeers);
  });
});

const post = (path: string, body: object) =>
  peer.post(`/federation/v1/${path}`, { timestamp: t.clock.now(), to: t.relay.relayId, ...body });

/** The messages of a peer about an agent; undefined where an operation is about the peer itself. */
const peerMessages: Readonly<
  Partial<Record<OperationName, ((subject: Subject) => Promise<Reply>) | undefined>>
> = {
  proposePeer: undefined,
  confirmPeer: undefined,
  peerHeartbeat: undefined,
  removeSelf: undefined,
  listPeers: () => peer.get("/federation/v1/peers"),
  listBooked: () => peer.get("/federation/v1/settlements?limit=10"),
  forwardDiscovery: ({ capability, agent, marks }) =>
    Promise.all(
      [{ capability }, { q: agent.agentId }, { q: marks.name }].map((query) =>
        post("discover", {
          ...(samples.forwardDiscovery.body as object),
          capability: undefined,
          origin_relay: peer.relayId,
          query_id: crypto.randomUUID(),
          ...query,
        }),
      ),
    ).then((replies) => ({ ...replies[0]!, text: replies.map(({ text }) => text).join() })),
  forwardTask: ({ agent, capability }) =>
    peer.forward({
      target_agent: agent.agentId,
      task_payload: { prompt: "work", required_capabilities: [capability] },
    }),
  cancelForwardedTask: ({ ids }) =>
    post("task/cancel", { task_id: ids["taskId"] ?? UNKNOWN_ID, origin_relay: peer.relayId }),
  returnResult: ({ agent, ids }) => {
    const task = {
      task_id: ids["orderId"] ?? UNKNOWN_ID,
      prompt: "work",
      submitted_at: t.clock.now(),
    };
    return post("task/result", peer.createResult(createReceipt(agent, task)));
  },
  forwardSettlement: ({ agent, ids }) =>
    post(
      "settlement/forward",
      peer.createSettlement({
        task_id: ids["taskId"] ?? UNKNOWN_ID,
        agent_id: agent.agentId,
        receipt_hash: "0".repeat(64),
      }),
    ),
};

test("each operation of peers is among the messages", () => {
  const names = rows.filter(([, { auth }]) => auth === "peer").map(([name]) => name);
  expect(Object.keys(peerMessages).toSorted()).toEqual(names.toSorted());
});

test("an agent itself is shown each fact, by operations that read", async () => {
  const subject = await createSubject(9);
  const isEndless = (name: OperationName) => name === "getTaskEvents";
  const reads = (name: OperationName) => operations[name].method === "GET" && !isEndless(name);
  const shown = await look(subject, await t.token(subject.agent), reads);
  const { ids } = subject;
  const events = `/agent/${friend.agentId}/task/${ids["taskId"]}/events`;
  const noted = listFacts(subject, await t.as(subject.agent, "GET", events));
  const facts = new Set([...Object.values(shown).flat(), ...noted]);
  expect([...facts].toSorted()).toEqual(Object.keys(subject.marks).toSorted());
});
