import type { Contract } from "./outcome.ts";

const path = (agentId: string) => `/api/v1/agents/${agentId}/trust`;

export const trustContract: Contract<"listTrust"> = {
  listTrust: {
    200: (t) => t.asMaster("GET", path(t.stranger().agentId)),
    "request.invalid": (t) => t.asMaster("GET", `${path(t.stranger().agentId)}?cursor=%20`),
  },
};
