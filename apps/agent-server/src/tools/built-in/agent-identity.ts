import * as v from "valibot";
import type { IdentityFile } from "../../identity/identity-file.ts";
import { defineTool } from "../define-tool.ts";

export function agentIdentityTool(file: IdentityFile) {
  return defineTool({
    name: "agent_identity",
    description: "This agent's id, public key and DID, signed by that key.",
    risk: 0,
    input: v.object({}),
    run: () => ({ ok: true, data: JSON.stringify(file) }),
  });
}
