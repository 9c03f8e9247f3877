import { limits } from "@agent/wire";
import * as v from "valibot";
import type { Work } from "../../execution/work.ts";
import { defineTool } from "../define-tool.ts";
import { idArgument } from "../id-argument.ts";

/**
 * Creates the tool that runs a prompt as a task and returns its signed receipt, whatever the
 * outcome.
 */
export function agentTaskTool(work: Work) {
  return defineTool({
    name: "agent_task",
    description: "Do a task and return the signed execution receipt.",
    risk: 3,
    input: v.object({
      prompt: v.pipe(
        v.string(),
        v.nonEmpty("must not be empty"),
        v.maxBytes(limits.promptBytes, `must be at most ${limits.promptBytes} bytes of UTF-8`),
        v.check((text) => text.isWellFormed(), "must be well-formed Unicode"),
      ),
      delegation_token: v.optional(v.string()),
      required_capabilities: v.optional(v.array(v.string())),
      relay_task_id: v.optional(idArgument),
    }),
    async run(args, { caller, origin, signal }) {
      const answer = await work.accept(
        {
          prompt: args.prompt,
          requiredCapabilities: args.required_capabilities ?? [],
          ...(args.relay_task_id !== undefined && { relayTaskId: args.relay_task_id }),
          ...(args.delegation_token !== undefined && { delegationToken: args.delegation_token }),
          ...origin,
        },
        { caller, signal },
      );
      return answer.ok
        ? { ok: true, data: JSON.stringify(answer.receipt) }
        : { ok: false, error: answer.error };
    },
  });
}
