import { describe, expect, test } from "vitest";
import { owner, type Caller } from "../caller.ts";
import type { WorkTask } from "../execution/task.ts";
import type { Risk } from "../tools/definition.ts";
import { createPolicyCheck, defaultPolicy, findUnknownTools, type Policy } from "./policy-check.ts";

const relay: Caller = { kind: "relay", relayId: "r" };
const agent = (trust: Extract<Caller, { kind: "agent" }>["trust"]): Caller => ({
  kind: "agent",
  agentId: "a",
  trust,
});
const task: WorkTask = {
  taskId: "t",
  relayTaskId: "t",
  prompt: "p",
  requiredCapabilities: [],
  submittedAt: 0,
};

function offering(listed: readonly string[]) {
  return { listed: new Set(listed), isOffered: () => true };
}

function decide(
  caller: Caller,
  risk: Risk | undefined,
  options: { name?: string; listed?: string[]; policy?: Partial<Policy>; task?: WorkTask } = {},
): string {
  const { name = "tool", listed = [], policy = {} } = options;
  const checkPolicy = createPolicyCheck({ ...defaultPolicy, ...policy }, offering(listed));
  const tool = risk === undefined ? { name } : { name, risk };
  const decision = checkPolicy({ tool, caller, task: options.task });
  return decision.ok ? "run" : decision.kind;
}

describe("by the default bands", () => {
  test.each<[string, Caller, readonly string[]]>([
    ["the owner", owner, ["run", "run", "run", "approval", "denied"]],
    ["the agent's relay", relay, ["run", "run", "run", "approval", "denied"]],
    ["a trusted agent", agent("trusted"), ["run", "run", "run", "approval", "denied"]],
    ["a verified agent", agent("verified"), ["run", "run", "run", "approval", "denied"]],
    ["a first contact", agent("first_contact"), ["run", "run", "approval", "approval", "denied"]],
    ["an unknown agent", agent("unknown"), ["run", "run", "approval", "approval", "denied"]],
    ["a blocked agent", agent("blocked"), Array(5).fill("denied")],
  ])("the default policy decides for %s on risks R0 to R4", (_, caller, expected) => {
    const risks: Risk[] = [0, 1, 2, 3, 4];
    expect(risks.map((risk) => decide(caller, risk))).toEqual(expected);
  });

  test("a tool without a stated risk counts as R2", () => {
    expect(decide(owner, undefined)).toBe("run");
    expect(decide(agent("unknown"), undefined)).toBe("approval");
  });
});

describe("calls that are approved in advance", () => {
  test("agent_task is pre-approved for the owner and the relay, not for other agents", () => {
    expect(decide(owner, 3, { name: "agent_task" })).toBe("run");
    expect(decide(relay, 3, { name: "agent_task" })).toBe("run");
    expect(decide(agent("trusted"), 3, { name: "agent_task" })).toBe("approval");
  });

  test("a listed tool up to R3 is pre-approved for tasks of the relay", () => {
    const listed = ["tool"];
    expect(decide(relay, 3, { listed, task })).toBe("run");
    expect(decide(relay, 3, { listed })).toBe("approval");
    expect(decide(relay, 3, { task })).toBe("approval");
    expect(decide(owner, 3, { listed, task })).toBe("approval");
    expect(decide(relay, 4, { listed, task })).toBe("denied");
  });
});

describe("E7: a tool with a price", () => {
  const decidePriced = (caller: Caller, call: { task?: WorkTask; allow?: string[] } = {}) => {
    const { task: work, allow = [] } = call;
    const rules = { ...offering(["tool"]), priced: new Set(["tool"]) };
    const checkPolicy = createPolicyCheck({ ...defaultPolicy, allow }, rules);
    const decision = checkPolicy({ tool: { name: "tool", risk: 0 }, caller, task: work });
    return decision.ok ? "run" : decision.message;
  };

  test.each(["trusted", "verified", "first_contact", "unknown"] as const)(
    "E7: a tool with a price does not run for a direct call of an agent that is %s",
    (trust) => {
      const refusal = 'Policy denied: the tool "tool" has a price; submit a task for it at a relay';
      expect(decidePriced(agent(trust))).toBe(refusal);
      const { relayTaskId: _, ...ownTask } = task;
      expect(decidePriced(agent(trust), { task: ownTask })).toBe(refusal);
    },
  );

  test("E7: a tool with a price runs for the owner, for paid tasks, and if the policy allows it to all", () => {
    expect(decidePriced(owner)).toBe("run");
    expect(decidePriced(relay, { task })).toBe("run");
    expect(decidePriced(agent("unknown"), { allow: ["tool"] })).toBe("run");
  });
});

describe("a tool that spends the agent's own money", () => {
  const rules = { ...offering(["tool"]), ownerOnly: new Set(["tool"]) };
  const decideOwn = (caller: Caller, risk: Risk, allow: readonly string[], work?: WorkTask) => {
    const checkPolicy = createPolicyCheck({ ...defaultPolicy, denyAbove: 4, allow }, rules);
    const decision = checkPolicy({ tool: { name: "tool", risk }, caller, task: work });
    return decision.ok ? "run" : decision.message;
  };

  test.each<[string, Caller, WorkTask | undefined]>([
    ["a trusted agent", agent("trusted"), undefined],
    ["the relay", relay, undefined],
    ["a task of the relay that the tool is listed for", relay, task],
  ])("an allowed tool that spends the agent's own money is refused to %s", (_, caller, work) => {
    const refusal = 'Policy denied: only the owner may use "tool" (policy.owner_only)';
    expect(decideOwn(caller, 0, ["tool"], work)).toBe(refusal);
  });

  test("a tool that spends the agent's own money runs for the owner below R4 without an approval", () => {
    expect(decideOwn(owner, 3, [])).toBe("run");
    expect(decideOwn(owner, 4, [])).toMatch(/requires approval \(R4_MONEY\)/);
  });
});

test("a tool that the agent does not offer to a caller is refused, also where it is allowed", () => {
  const isOffered = ({ caller }: { caller: Caller }) => caller.kind === "owner";
  const policy = { ...defaultPolicy, allow: ["tool"] };
  const checkPolicy = createPolicyCheck(policy, { ...offering([]), isOffered });
  const call = { tool: { name: "tool", risk: 0 as const } };
  expect(checkPolicy({ ...call, caller: owner })).toEqual({ ok: true });
  expect(checkPolicy({ ...call, caller: agent("trusted") })).toMatchObject({ kind: "denied" });
});

test("the names of tools that the agent lacks are found in both lists of a policy", () => {
  const policy = { ...defaultPolicy, allow: ["known", "alow"], deny: ["deyn", "known"] };
  expect(findUnknownTools(policy, [{ name: "known" }])).toEqual(["alow", "deyn"]);
});

describe("the operator's bands", () => {
  test("the operator's bands change the limits", () => {
    expect(decide(owner, 3, { policy: { maxRiskAuto: 3, requireApprovalAbove: 3 } })).toBe("run");
    expect(decide(owner, 1, { policy: { maxRiskAuto: 0 } })).toBe("approval");
    expect(decide(owner, 2, { policy: { denyAbove: 1 } })).toBe("denied");
  });

  test("no policy allows money to move without an approval", () => {
    const policy = { maxRiskAuto: 4, requireApprovalAbove: 4, denyAbove: 4 };
    expect(decide(owner, 4, { policy })).toBe("approval");
    expect(decide(relay, 4, { policy, listed: ["tool"], task })).toBe("approval");
  });
});

describe("the owner's rules for single tools", () => {
  test("an allowed tool needs no approval, except for money and blocked callers", () => {
    const policy = { allow: ["tool"], denyAbove: 4 };
    expect(decide(agent("unknown"), 3, { policy })).toBe("run");
    expect(decide(owner, 3, { policy })).toBe("run");
    expect(decide(owner, 3, { policy, name: "other" })).toBe("approval");
    expect(decide(owner, 4, { policy })).toBe("approval");
    expect(decide(agent("blocked"), 0, { policy })).toBe("denied");
  });

  test("an allowed tool above the agent's limit is denied", () => {
    expect(decide(owner, 3, { policy: { allow: ["tool"], denyAbove: 2 } })).toBe("denied");
  });

  test("a denied tool is denied to all callers, even if it is listed or allowed", () => {
    const policy = { allow: ["tool"], deny: ["tool"] };
    expect(decide(owner, 0, { policy })).toBe("denied");
    expect(decide(relay, 0, { policy, listed: ["tool"], task })).toBe("denied");
  });
});

test("refusals by the policy have the texts of the specification", () => {
  const checkPolicy = createPolicyCheck(defaultPolicy, offering([]));
  const textFor = (risk: Risk) => {
    const decision = checkPolicy({ tool: { name: "run", risk }, caller: owner });
    return decision.ok ? "" : decision.message;
  };
  expect(textFor(4)).toMatch(/^Policy denied: /);
  expect(textFor(3)).toMatch(/^Governance: tool "run" requires approval/);
});
