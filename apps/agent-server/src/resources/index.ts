import type { IdentityFile } from "../identity/identity-file.ts";
import type { RegisteredTool } from "../tools/registry.ts";
import { identityResource } from "./identity.ts";
import { memoriesResource } from "./memories.ts";
import { stateResource, type StateParts } from "./state.ts";

/**
 * Creates the resources of every agent (specification, "Agent server"). Each is a tool without
 * arguments whose name is its URI, so that reading one passes the same policy check and audit log
 * as a call.
 */
export function agentResources(
  parts: StateParts & { readonly identityFile: IdentityFile },
): RegisteredTool[] {
  return [
    identityResource(parts.identityFile),
    stateResource(parts),
    memoriesResource(parts.memory),
  ];
}
