import { silentLog } from "../../log.ts";
import { createApprovals } from "../../policy/approvals.ts";
import { createLoggerAudit } from "../../policy/audit-log.ts";
import { createPolicyCheck, defaultPolicy } from "../../policy/policy-check.ts";
import { createGuard, type Guard } from "../../policy/guard.ts";
import { createSystemRuntime } from "../../runtime.ts";

/** Creates the guard of an agent without listed tools, with the default policy. */
export function createTestGuard(): Guard {
  const runtime = createSystemRuntime(silentLog);
  return createGuard({
    checkPolicy: createPolicyCheck(defaultPolicy, {
      listed: new Set(),
      isOffered: () => true,
    }),
    approver: createApprovals(runtime),
    audit: createLoggerAudit(runtime),
    runtime,
  });
}
