import * as v from "valibot";
import { defineTool } from "../tools/define-tool.ts";

/** Builds the prompt that opens a conversation with the agent. */
export function chatPrompt(agent: { readonly name: string; readonly description: string }) {
  const about = agent.description === "" ? "" : `: ${agent.description}`;
  return defineTool({
    name: "prompt.chat",
    description: "Talk with this agent.",
    risk: 0,
    input: v.object({ message: v.pipe(v.string(), v.description("What to say.")) }),
    run: ({ message }) => ({
      ok: true,
      data: `Pass this message on to the agent ${agent.name}${about} with its tool agent_query, and tell me its answer.\n\n${message}`,
    }),
  });
}
