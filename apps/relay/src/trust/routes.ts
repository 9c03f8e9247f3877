import type { Handlers } from "../http/mount.ts";
import type { Services } from "../services.ts";
import { trustClosure, trustPath } from "./closure.ts";
import { getTrust, listTrust } from "./list-trust.ts";
import { setLevel } from "./set-level.ts";

type TrustHandlers = Pick<
  Handlers,
  "listTrust" | "getTrust" | "setTrustLevel" | "getTrustClosure" | "getTrustPath"
>;

export function trustHandlers(services: Services): TrustHandlers {
  return {
    listTrust: ({ params, query }) => listTrust(services, params.agentId, query),
    getTrust: ({ params }) => getTrust(services, params.agentId, params.remoteId),
    setTrustLevel: ({ params, body }) => setLevel(services, { ...params, level: body.trust_level }),
    getTrustClosure: ({ params }) => trustClosure(services, params.agentId),
    getTrustPath: ({ params }) =>
      trustPath(services, { source: params.agentId, target: params.targetId }),
  };
}
