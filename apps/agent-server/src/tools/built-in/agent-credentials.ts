import * as v from "valibot";
import { defineTool } from "../define-tool.ts";
import type { JsonObject } from "../definition.ts";

/** The source of the agent's credentials. */
export interface CredentialSource {
  /**
   * Returns a presentation of the agent's valid reputation, gradient and trust credentials, signed now with
   * its key, or the reason why there is none.
   */
  present(
    signal: AbortSignal,
  ): Promise<
    | { readonly ok: true; readonly presentation: JsonObject }
    | { readonly ok: false; readonly error: string }
  >;
}

/** Creates the tool; only for an agent with a source of credentials. */
export function agentCredentialsTool(source: CredentialSource) {
  return defineTool({
    name: "agent_credentials",
    description: "A signed presentation of the credentials about this agent.",
    risk: 0,
    input: v.object({}),
    async run(_args, { signal }) {
      const answer = await source.present(signal);
      return answer.ok ? { ok: true, data: JSON.stringify(answer.presentation) } : answer;
    },
  });
}
