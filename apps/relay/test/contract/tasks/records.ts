import { limits } from "@agent/wire";
import type { TestRelay } from "../../test-relay.ts";
import { withEditedDatabase, type Case, type Contract } from "../outcome.ts";

const path = (agentId: string, rest: string) => `/api/v1/agents/${agentId}/${rest}`;

/** Calls a path of a new agent as this agent. */
const asOwner =
  (method: string, rest: string, body?: object): Case =>
  async (t) => {
    const agent = await t.createAgent();
    return t.as(agent, method, path(agent.agentId, rest), body);
  };

/** Calls the path as the same agent after it has recorded an entry. */
const after =
  (recorded: string, first: object, method: string, rest: string, body?: object): Case =>
  async (t) => {
    const agent = await t.createAgent();
    await t.as(agent, "POST", path(agent.agentId, recorded), first);
    return t.as(agent, method, path(agent.agentId, rest), body);
  };

const forUnknownAgent =
  (rest: string, body: object): Case =>
  (t: TestRelay) =>
    t.asOperator("POST", path(t.createUnknownAgent().agentId, rest), body);

const badCursor = (rest: string) => asOwner("GET", `${rest}?cursor=%20`);

const plan = { plan_id: "plan-1", goal_id: "goal-1", title: "a plan" };
const event = { event_id: "event-1", type: "noted", timestamp: 1 };
const conversation = { conversation_id: "talk-1", title: "a talk" };
const message = { message_id: "message-1", role: "user", content: "hello" };
const messages = "conversations/talk-1/messages";

export const recordsContract: Contract<
  | "putPlan"
  | "listPlans"
  | "getPlan"
  | "putConversation"
  | "listConversations"
  | "getConversation"
  | "addMessages"
  | "listMessages"
  | "appendEvents"
  | "listEvents"
  | "getEvent"
  | "listGoals"
  | "getState"
  | "listAudit"
> = {
  putPlan: {
    201: asOwner("POST", "plans", plan),
    200: after("plans", plan, "POST", "plans", { ...plan, status: "completed" }),
    "agent.not_found": forUnknownAgent("plans", plan),
  },
  listPlans: {
    200: after("plans", plan, "GET", "plans?goal_id=goal-1"),
    "request.invalid": badCursor("plans"),
  },
  getPlan: {
    200: after("plans", plan, "GET", "plans/plan-1"),
    "plan.not_found": asOwner("GET", "plans/plan-1"),
  },
  putConversation: {
    201: asOwner("POST", "conversations", conversation),
    200: after("conversations", conversation, "POST", "conversations", conversation),
    "agent.not_found": forUnknownAgent("conversations", conversation),
  },
  listConversations: {
    200: after("conversations", conversation, "GET", "conversations"),
    "request.invalid": badCursor("conversations"),
  },
  getConversation: {
    200: after("conversations", conversation, "GET", "conversations/talk-1"),
    "conversation.not_found": asOwner("GET", "conversations/talk-1"),
  },
  addMessages: {
    201: after("conversations", conversation, "POST", messages, message),
    "conversation.not_found": asOwner("POST", messages, message),
    "message.id_taken": after("conversations", conversation, "POST", messages, {
      messages: [message, { ...message, content: "bye" }],
    }),
  },
  listMessages: {
    200: after("conversations", conversation, "GET", messages),
    "conversation.not_found": asOwner("GET", messages),
    "request.invalid": badCursor(messages),
  },
  appendEvents: {
    201: asOwner("POST", "events", event),
    "agent.not_found": forUnknownAgent("events", event),
    "event.id_taken": after("events", event, "POST", "events", { ...event, timestamp: 2 }),
    "event.goal_full": withEditedDatabase(
      ({ agentId }) => `
        INSERT INTO agent_events
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${limits.goalEvents})
        SELECT '${agentId}', i, 'e' || i, 'noted', 1, 'goal-1', '{}' FROM n`,
      (t, agent) =>
        t.as(agent, "POST", path(agent.agentId, "events"), { ...event, goal_id: "goal-1" }),
    ),
  },
  listEvents: {
    200: after("events", event, "GET", "events"),
    "request.invalid": badCursor("events"),
  },
  getEvent: {
    200: after("events", event, "GET", "events/event-1"),
    "event.not_found": asOwner("GET", "events/event-1"),
  },
  listGoals: {
    200: after("plans", plan, "GET", "goals"),
    "request.invalid": badCursor("goals"),
  },
  getState: {
    200: asOwner("GET", "state"),
    "agent.not_found": (t) => t.asOperator("GET", path(t.createUnknownAgent().agentId, "state")),
  },
  listAudit: {
    200: asOwner("GET", "audit"),
    "request.invalid": badCursor("audit"),
  },
};
