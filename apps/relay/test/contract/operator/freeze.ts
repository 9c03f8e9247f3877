import { damageStored } from "../../engine/stored.ts";
import { waitUntil } from "../../network/network.ts";
import { withEditedDatabase, withEditedFile, type Contract } from "../outcome.ts";

export const freezeContract: Contract<"freeze" | "unfreeze"> = {
  freeze: { 200: (t) => t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" }) },
  unfreeze: {
    200: (t) => t.asOperator("POST", "/api/v1/admin/unfreeze"),
    "request.invalid": withEditedDatabase(
      () => "INSERT INTO \"freeze\" (one, since, reason, restored) VALUES (1, 1, 'restored', 1)",
      (t) => t.asOperator("POST", "/api/v1/admin/unfreeze"),
    ),
    "server.damaged": withEditedFile(
      (path) => damageStored(path, "agents"),
      async (t) => {
        t.relay.checkStorage();
        await waitUntil(async () => t.listLogged("storage.check_failed")[0]);
        return t.asOperator("POST", "/api/v1/admin/unfreeze");
      },
    ),
  },
};
