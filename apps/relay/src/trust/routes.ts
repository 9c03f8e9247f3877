import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { getTrustClosure, getTrustPath } from "./trust-closure.ts";
import { getTrust, listTrust, listTrustReceived } from "./list-trust.ts";
import { updateTrustLevel } from "./update-trust-level.ts";

type TrustHandlers = Pick<
  Handlers,
  | "listTrust"
  | "listTrustReceived"
  | "getTrust"
  | "setTrustLevel"
  | "getTrustClosure"
  | "getTrustPath"
>;

export function trustHandlers(services: Services): TrustHandlers {
  return {
    listTrust: ({ params, query }) => listTrust(services, params.agentId, query),
    listTrustReceived: ({ params, query }) => listTrustReceived(services, params.agentId, query),
    getTrust: ({ params }) => getTrust(services, params.agentId, params.remoteId),
    setTrustLevel: ({ params, body }) =>
      updateTrustLevel(services, { ...params, level: body.trust_level }),
    getTrustClosure: ({ params }) => getTrustClosure(services, params.agentId),
    getTrustPath: ({ params }) =>
      getTrustPath(services, { source: params.agentId, target: params.targetId }),
  };
}
