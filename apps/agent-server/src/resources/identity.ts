import * as v from "valibot";
import type { IdentityFile } from "../identity/identity-file.ts";
import { defineTool } from "../tools/define-tool.ts";

export function identityResource(file: IdentityFile) {
  return defineTool({
    name: "agent://identity",
    description: "This agent's id, public key and DID, signed by that key.",
    risk: 0,
    input: v.object({}),
    run: () => ({ ok: true, data: JSON.stringify(file) }),
  });
}
