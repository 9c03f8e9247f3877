import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { decideDispute } from "./statements/decide-dispute.ts";
import { giveVerdict } from "./statements/give-verdict.ts";
import {
  getInspection,
  listAllInspections,
  listDisputes,
  listInspections,
} from "./reading/read-inspections.ts";

type InspectionHandlers = Pick<
  Handlers,
  | "giveVerdict"
  | "decideDispute"
  | "getInspection"
  | "listInspections"
  | "listDisputes"
  | "listAllInspections"
>;

export function inspectionHandlers(services: Services): InspectionHandlers {
  return {
    giveVerdict: ({ params }, { caller, raw, saveResponse }) =>
      giveVerdict(services, { ...params, value: raw, caller, saveResponse }),
    decideDispute: ({ params }, { caller, raw, saveResponse }) =>
      decideDispute(services, { ...params, value: raw, caller, saveResponse }),
    getInspection: ({ params, query }, { caller, signal }) =>
      getInspection(services, { ...params, waitSeconds: query.wait ?? 0, caller, signal }),
    listInspections: ({ params, query }) =>
      listInspections(services, { agentId: params.agentId, role: query.role, query }),
    listDisputes: ({ query }) => listDisputes(services, query),
    listAllInspections: ({ query }) => listAllInspections(services, query),
  };
}
