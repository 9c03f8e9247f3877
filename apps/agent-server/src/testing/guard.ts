import { silentLog } from "../log.ts";
import { createApprovals } from "../policy/approvals.ts";
import { auditToLog } from "../policy/audit.ts";
import { createGate, defaultPolicy, type Policy } from "../policy/gate.ts";
import { createGuard, type Guard } from "../policy/guard.ts";
import { systemRuntime } from "../runtime.ts";

/** The guard of an agent that lists no tools, with the default policy but for what is given. */
export function newGuard(policy: Partial<Policy> = {}): Guard {
  const runtime = systemRuntime(silentLog);
  return createGuard({
    gate: createGate(
      { ...defaultPolicy, ...policy },
      {
        listed: new Set(),
        isOffered: () => true,
      },
    ),
    approver: createApprovals(runtime),
    audit: auditToLog(runtime),
    runtime,
  });
}
