import { listAudit } from "../audit/list-audit.ts";
import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { getConversation, listConversations, putConversation } from "./conversations.ts";
import { appendEvents, getEvent, listEvents } from "./events.ts";
import { addMessages, listMessages } from "./messages.ts";
import { getPlan, listPlans, putPlan } from "./plans.ts";
import { getState, listGoals } from "./state.ts";

type RecordHandlers = Pick<
  Handlers,
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
>;

export function recordHandlers(services: Services): RecordHandlers {
  const { read } = services.storage;
  return {
    putPlan: ({ params, body }) => putPlan(services, params.agentId, body),
    listPlans: ({ params, query }) => listPlans(read, params.agentId, query),
    getPlan: ({ params }) => getPlan(read, params),
    putConversation: ({ params, body }) => putConversation(services, params.agentId, body),
    listConversations: ({ params, query }) => listConversations(read, params.agentId, query),
    getConversation: ({ params }) => getConversation(read, params),
    addMessages: ({ params, body }) => addMessages(services, params, body),
    listMessages: ({ params, query }) => listMessages(read, params, query),
    appendEvents: ({ params, body }) => appendEvents(services, params.agentId, body),
    listEvents: ({ params, query }) => listEvents(read, params.agentId, query),
    getEvent: ({ params }) => getEvent(read, params),
    listGoals: ({ params, query }) => listGoals(read, params.agentId, query),
    getState: ({ params }) => getState(services, params.agentId),
    listAudit: ({ params, query }) => listAudit(read, params.agentId, query),
  };
}
