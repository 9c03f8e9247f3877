import type { CallAnswer, CallTool } from "../../tools/calling/call-tool.ts";
import type { ToolContext } from "../../tools/definition.ts";
import type { Toolbox } from "../executor.ts";
import type { Timeline } from "../ledger/timeline.ts";
import type { WorkTask } from "../task.ts";
import { WorkPostponed } from "../work-postponed.ts";

/**
 * Binds the owner's tools to one task; the tools that run are added to `used` and recorded in the timeline.
 * A call that cannot be decided now postpones the task, unless a tool has already run, because a repeated
 * task would run it again.
 */
export function createToolbox(options: {
  offered: Omit<Toolbox, "call">;
  callTool: CallTool;
  context: ToolContext;
  rights: Pick<WorkTask, "scope" | "scopeExpiresAt">;
  used: Set<string>;
  /** Absent: the task gets no ledger. */
  timeline?: Timeline | undefined;
  now: () => number;
}): Toolbox {
  const { offered, callTool, context, rights, used, timeline, now } = options;
  return {
    ...offered,
    async call(name, args): Promise<CallAnswer> {
      if (rights.scope !== undefined && !rights.scope.includes(name)) {
        const error = `Tool "${name}" is outside the scope of the delegation`;
        return { ok: false, kind: "denied", error };
      }
      if (rights.scopeExpiresAt !== undefined && now() >= rights.scopeExpiresAt) {
        return { ok: false, kind: "denied", error: "The delegation token has expired" };
      }
      const answer = await callTool(name, args, context, (argsHash) => {
        used.add(name);
        return timeline?.beginCall(name, argsHash);
      });
      if (!answer.ok && answer.kind === "unavailable" && used.size === 0) {
        throw new WorkPostponed(answer.error);
      }
      return answer;
    },
  };
}
