import { edited, type Contract } from "./outcome.ts";

export const freezeContract: Contract<"freeze" | "unfreeze"> = {
  freeze: { 200: (t) => t.asMaster("POST", "/api/v1/admin/freeze", { reason: "an audit" }) },
  unfreeze: {
    200: (t) => t.asMaster("POST", "/api/v1/admin/unfreeze"),
    "request.invalid": edited(
      () => "INSERT INTO freeze (one, since, reason, restored) VALUES (1, 1, 'restored', 1)",
      (t) => t.asMaster("POST", "/api/v1/admin/unfreeze"),
    ),
  },
};
