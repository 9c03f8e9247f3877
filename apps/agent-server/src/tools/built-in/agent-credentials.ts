import * as v from "valibot";
import { defineTool } from "../define-tool.ts";
import type { JsonObject } from "../definition.ts";

/** Where the agent's credentials come from. */
export interface CredentialSource {
  /**
   * A presentation, signed now by the agent's key, of the reputation, gradient and trust credentials that
   * are in force; or why there is none.
   */
  present(
    signal: AbortSignal,
  ): Promise<
    | { readonly ok: true; readonly presentation: JsonObject }
    | { readonly ok: false; readonly error: string }
  >;
}

/** Only for an agent with a source of credentials. */
export function agentCredentialsTool(source: CredentialSource) {
  return defineTool({
    name: "agent_credentials",
    description: "A signed presentation of what is credibly said about this agent.",
    risk: 0,
    input: v.object({}),
    async run(_args, { signal }) {
      const answer = await source.present(signal);
      return answer.ok ? { ok: true, data: JSON.stringify(answer.presentation) } : answer;
    },
  });
}
