import type { Caller } from "../caller.ts";
import { getTrustLevel } from "../caller.ts";
import type { WorkTask } from "../execution/task.ts";
import type { Risk, ToolDefinition } from "../tools/definition.ts";

/** Risk limits, each inclusive, and the owner's rules for single tools. */
export interface Policy {
  readonly maxRiskAuto: number;
  readonly requireApprovalAbove: number;
  readonly denyAbove: number;
  /** Tools that need no approval for any caller, except those that move money. */
  readonly allow: readonly string[];
  /** Tools that no caller may use. */
  readonly deny: readonly string[];
}

export const defaultPolicy: Policy = {
  maxRiskAuto: 2,
  requireApprovalAbove: 2,
  denyAbove: 3,
  allow: [],
  deny: [],
};

export interface ToolCall {
  readonly tool: Pick<ToolDefinition, "name" | "risk">;
  readonly caller: Caller;
  readonly task?: WorkTask | undefined;
}

export type Decision =
  | { readonly ok: true }
  | { readonly ok: false; readonly kind: "denied" | "approval"; readonly message: string };

export type PolicyCheck = (call: ToolCall) => Decision;

const RISK_NAMES = ["R0_READ", "R1_DRAFT", "R2_WRITE", "R3_EXECUTE", "R4_MONEY"] as const;
const DEFAULT_RISK: Risk = 2;
const RISK_EXECUTE = 3;

export function getRisk(tool: Pick<ToolDefinition, "risk">): Risk {
  return tool.risk ?? DEFAULT_RISK;
}

export function getRiskName(tool: Pick<ToolDefinition, "risk">): string {
  return RISK_NAMES[getRisk(tool)];
}

/** The rules that the agent's offer adds. */
export interface OfferRules {
  /** The tools of the agent's own listing, which are pre-approved for paid work. */
  readonly listed: ReadonlySet<string>;
  /** The tools that other agents get only for payment, by a task at a relay. */
  readonly priced?: ReadonlySet<string>;
  /** The tools that only the owner may use: they spend the agent's own money. */
  readonly ownerOnly?: ReadonlySet<string>;
  /** Returns whether this caller may use the tool at all. */
  readonly isOffered: (call: ToolCall) => boolean;
}

/**
 * Creates the policy check, which decides by the offer, the risk and the caller's trust. A listed
 * tool that is paid for through the agent's relay needs no approval. Tools that move money always
 * do.
 */
export function createPolicyCheck(policy: Policy, rules: OfferRules): PolicyCheck {
  const { listed, priced = new Set(), ownerOnly = new Set(), isOffered } = rules;
  const allowedTools = new Set(policy.allow);
  const deniedTools = new Set(policy.deny);
  return (call) => {
    const { tool, caller, task } = call;
    const risk = getRisk(tool);
    const trust = getTrustLevel(caller);

    if (trust === "blocked") return denied("the caller is blocked");
    if (ownerOnly.has(tool.name) && caller.kind !== "owner")
      return denied(`only the owner may use "${tool.name}" (policy.owner_only)`);
    if (!isOffered(call)) return denied(`this agent does not offer the tool "${tool.name}"`);
    if (deniedTools.has(tool.name)) return denied("the owner has turned this tool off");
    if (risk > policy.denyAbove)
      return denied(`risk ${RISK_NAMES[risk]} is above this agent's limit`);
    const hasPreApproval =
      allowedTools.has(tool.name) ||
      // Only the owner gets here, who enabled these tools.
      ownerOnly.has(tool.name) ||
      isPreApproved(tool.name, caller, task, listed);
    if (risk <= RISK_EXECUTE && hasPreApproval) return { ok: true };
    if (caller.kind === "agent" && priced.has(tool.name)) {
      return denied(`the tool "${tool.name}" has a price; submit a task for it at a relay`);
    }

    const isUntrusted = trust === "unknown" || trust === "first_contact";
    const isAutomatic =
      risk <= Math.min(policy.maxRiskAuto, policy.requireApprovalAbove, RISK_EXECUTE) &&
      !(isUntrusted && risk >= DEFAULT_RISK);
    return isAutomatic ? { ok: true } : approvalDecision(tool.name, risk);
  };
}

/**
 * Finds tools in the policy that the agent does not have, because a misspelt name in `deny` would
 * have no effect.
 */
export function findUnknownTools(
  policy: Policy,
  known: readonly Pick<ToolDefinition, "name">[],
): string[] {
  const names = new Set(known.map(({ name }) => name));
  return [...policy.allow, ...policy.deny].filter((name) => !names.has(name));
}

/**
 * Returns whether a call needs no approval. `agent_task` only starts a task; the tools that it uses
 * are checked again.
 */
function isPreApproved(
  name: string,
  caller: Caller,
  task: WorkTask | undefined,
  listed: ReadonlySet<string>,
): boolean {
  if (name === "agent_task") return caller.kind !== "agent";
  return caller.kind === "relay" && task?.relayTaskId !== undefined && listed.has(name);
}

function denied(reason: string): Decision {
  return { ok: false, kind: "denied", message: `Policy denied: ${reason}` };
}

function approvalDecision(name: string, risk: Risk): Decision {
  const message = `Governance: tool "${name}" requires approval (${RISK_NAMES[risk]})`;
  return { ok: false, kind: "approval", message };
}
