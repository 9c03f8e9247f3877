import type { Caller } from "../caller.ts";
import { getTrustLevel } from "../caller.ts";
import type { WorkTask } from "../execution/task.ts";
import type { Risk, ToolDefinition } from "../tools/definition.ts";

/** Risk bands, each the highest risk that it still covers, and the owner's word on single tools. */
export interface Policy {
  readonly maxRiskAuto: number;
  readonly requireApprovalAbove: number;
  readonly denyAbove: number;
  /** Names of tools that need no approval, whoever calls; money excepted. */
  readonly allow: readonly string[];
  /** Names of tools that nobody may call. */
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

const riskNames = ["R0_READ", "R1_DRAFT", "R2_WRITE", "R3_EXECUTE", "R4_MONEY"] as const;
const DEFAULT_RISK: Risk = 2;
const RISK_EXECUTE = 3;

export function getRisk(tool: Pick<ToolDefinition, "risk">): Risk {
  return tool.risk ?? DEFAULT_RISK;
}

export function getRiskName(tool: Pick<ToolDefinition, "risk">): string {
  return riskNames[getRisk(tool)];
}

/** What the agent's offer says of a call. */
export interface OfferRules {
  /** Names the tools of the agent's own listing, which are approved for work that is paid for. */
  readonly listed: ReadonlySet<string>;
  /** Whether this caller may have the tool run at all. */
  readonly isOffered: (call: ToolCall) => boolean;
}

/**
 * Decides by the offer, by risk and by the caller's trust. Who pays for a listed tool through the home
 * relay need not be approved again. Money never moves by itself.
 */
export function createPolicyCheck(policy: Policy, { listed, isOffered }: OfferRules): PolicyCheck {
  const allowedTools = new Set(policy.allow);
  const deniedTools = new Set(policy.deny);
  return (call) => {
    const { tool, caller, task } = call;
    const risk = getRisk(tool);
    const trust = getTrustLevel(caller);

    if (trust === "blocked") return denied("the caller is blocked");
    if (!isOffered(call)) return denied(`this agent does not offer the tool "${tool.name}"`);
    if (deniedTools.has(tool.name)) return denied("the owner has turned this tool off");
    if (risk > policy.denyAbove)
      return denied(`risk ${riskNames[risk]} is above what this agent does`);
    const hasPreApproval =
      allowedTools.has(tool.name) || isPreApproved(tool.name, caller, task, listed);
    if (risk <= RISK_EXECUTE && hasPreApproval) return { ok: true };

    const isUntrusted = trust === "unknown" || trust === "first_contact";
    const isAutomatic =
      risk <= Math.min(policy.maxRiskAuto, policy.requireApprovalAbove, RISK_EXECUTE) &&
      !(isUntrusted && risk >= DEFAULT_RISK);
    return isAutomatic ? { ok: true } : approvalDecision(tool.name, risk);
  };
}

/** What the policy names and the agent does not have: a slip in `deny` would turn nothing off. */
export function findUnknownTools(
  policy: Policy,
  known: readonly Pick<ToolDefinition, "name">[],
): string[] {
  const names = new Set(known.map(({ name }) => name));
  return [...policy.allow, ...policy.deny].filter((name) => !names.has(name));
}

/** `agent_task` is how the owner and the relay hand over work; the tools it runs are asked about again. */
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
  const message = `Governance: tool "${name}" requires approval (${riskNames[risk]})`;
  return { ok: false, kind: "approval", message };
}
