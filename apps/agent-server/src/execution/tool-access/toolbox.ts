import type { CallAnswer, CallTool, FailureKind } from "../../tools/calling/call-tool.ts";
import type { ToolContext } from "../../tools/definition.ts";
import type { Toolbox } from "../executor.ts";
import type { WorkTask } from "../task.ts";

const notRunKinds: ReadonlySet<FailureKind> = new Set(["unknown", "invalid", "denied"]);

/** Binds the owner's tools to one task; the names of those that ran are added to `used`. */
export function createToolbox(options: {
  offered: Omit<Toolbox, "call">;
  callTool: CallTool;
  context: ToolContext;
  mandate: Pick<WorkTask, "scope" | "scopeExpiresAt">;
  used: Set<string>;
  now: () => number;
}): Toolbox {
  const { offered, callTool, context, mandate, used, now } = options;
  return {
    ...offered,
    async call(name, args): Promise<CallAnswer> {
      if (mandate.scope !== undefined && !mandate.scope.includes(name)) {
        const error = `Tool "${name}" is outside the scope of the delegation`;
        return { ok: false, kind: "denied", error };
      }
      if (mandate.scopeExpiresAt !== undefined && now() >= mandate.scopeExpiresAt) {
        return { ok: false, kind: "denied", error: "The delegation token has expired" };
      }
      // Noted before it runs: a tool that is still busy when time is up was used as well.
      const wasUsed = used.has(name);
      used.add(name);
      const answer = await callTool(name, args, context);
      if (!answer.ok && notRunKinds.has(answer.kind) && !wasUsed) used.delete(name);
      return answer;
    },
  };
}
