import { Hono } from "hono";
import * as v from "valibot";
import type { Approval, Approvals } from "../policy/approvals.ts";
import { readBody } from "./read-body.ts";
import { refuseRequest, type HttpEnv } from "./refuse-request.ts";
import { parseJson } from "../model/parse-json.ts";

const Decision = v.object({ decision: v.picklist(["approve", "deny"]) });
const MAX_BODY_BYTES = 4_096;

/** Creates the routes on which the owner decides about waiting calls; other callers are refused. */
export function createApprovalRoutes(approvals: Approvals): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  routes.use(async (c, next) =>
    c.var.caller.kind === "owner" ? next() : refuseRequest(c, "auth.not_owner"),
  );
  routes.get("/", (c) => c.json({ approvals: approvals.list().map(toJson) }));
  routes.post("/:approvalId", async (c) => {
    const body = await readBody(c.req.raw, MAX_BODY_BYTES);
    const parsed = v.safeParse(Decision, body.ok ? parseJson(body.text) : undefined);
    if (!parsed.success) return refuseRequest(c, "request.invalid");
    const status = parsed.output.decision === "approve" ? "approved" : "denied";
    const decided = await approvals.decide(c.req.param("approvalId"), status);
    return decided.ok ? c.json(toJson(decided.approval)) : refuseRequest(c, decided.code);
  });
  return routes;
}

function toJson(approval: Approval) {
  return {
    approval_id: approval.approvalId,
    status: approval.status,
    tool: approval.tool,
    risk: approval.risk,
    caller: approval.caller,
    args_hash: approval.argsHash,
    arguments: approval.args,
    requested_at: approval.requestedAt,
    expires_at: approval.expiresAt,
  };
}
