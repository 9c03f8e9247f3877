import { silentLog } from "../../log.ts";
import { createApprovals } from "../../policy/approvals.ts";
import { createLoggerAudit } from "../../policy/audit-log.ts";
import { createPolicyCheck, defaultPolicy, type Policy } from "../../policy/policy-check.ts";
import { createGuard, type Guard } from "../../policy/guard.ts";
import { createSystemRuntime } from "../../runtime.ts";

/** The guard of an agent that lists no tools, with the default policy but for what is given. */
export function createTestGuard(policy: Partial<Policy> = {}): Guard {
  const runtime = createSystemRuntime(silentLog);
  return createGuard({
    checkPolicy: createPolicyCheck(
      { ...defaultPolicy, ...policy },
      {
        listed: new Set(),
        isOffered: () => true,
      },
    ),
    approver: createApprovals(runtime),
    audit: createLoggerAudit(runtime),
    runtime,
  });
}
