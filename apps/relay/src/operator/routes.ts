import { getOnlineHistory } from "../agents/online-history/get-online-history.ts";
import { listOperatorAudit } from "../audit/list-operator-audit.ts";
import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { getOverview } from "./get-overview.ts";
import { getTaskReport, getTaskTexts } from "./get-task-report.ts";
import { listAllAgents } from "./list-all-agents.ts";
import { listAllTasks } from "./list-all-tasks.ts";
import { listHolds } from "./list-holds.ts";
import { listProcesses } from "../processes/list-processes.ts";

type OperatorHandlers = Pick<
  Handlers,
  | "getOverview"
  | "listAllTasks"
  | "getTaskReport"
  | "getTaskTexts"
  | "listAllAgents"
  | "getOnlineHistory"
  | "listHolds"
  | "listProcesses"
  | "listOperatorAudit"
>;

/** Answers the questions of the operator over everything that the relay holds. */
export function operatorHandlers(services: Services, isDraining: () => boolean): OperatorHandlers {
  const { clock, storage } = services;
  const startedAt = clock.elapsed();
  return {
    getOverview: () =>
      getOverview(services, {
        isDraining: isDraining(),
        uptimeMs: clock.elapsed() - startedAt,
      }),
    listAllTasks: ({ query }) => listAllTasks(services, query),
    getTaskReport: ({ params }) => getTaskReport(services, params.taskId),
    getTaskTexts: ({ params }) => getTaskTexts(services, params.taskId),
    listAllAgents: ({ query }) => listAllAgents(services, query),
    getOnlineHistory: ({ params, query }) => getOnlineHistory(services, params.agentId, query),
    listHolds: ({ query }) => listHolds(services, query),
    listProcesses: () => listProcesses(services, clock.elapsed() - startedAt),
    listOperatorAudit: ({ query }) => listOperatorAudit(storage.read, query),
  };
}
