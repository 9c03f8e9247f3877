import type { Contract } from "./outcome.ts";

export const marketContract: Contract<"listCandidates"> = {
  listCandidates: {
    200: (t) => t.asMaster("GET", "/api/v1/market/candidates?capability=summarise"),
  },
};
