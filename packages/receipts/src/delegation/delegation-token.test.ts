import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { signJson, SUITE } from "@agent/crypto";
import { createSigner } from "../../test/fixtures.ts";
import {
  attenuateDelegationToken,
  type Attenuation,
  parseDelegationChain,
  DELEGATION_LIMITS,
  type DelegationToken,
  type DelegationTokenBody,
  getEffectiveRight,
  signDelegationToken,
  verifyDelegationToken,
} from "../index.ts";

const now = 1_767_330_900_000;
const hour = 3_600_000;
const agents = Array.from({ length: 14 }, (_, index) => ({
  id: `019b7d21-53eb-7ccd-926c-${String(index).padStart(12, "0")}`,
  ...createSigner(index + 10),
}));
const [issuer, first, second] = agents as [Agent, Agent, Agent];
type Agent = (typeof agents)[number];

const listKeys = (agentId: string) =>
  agents.filter(({ id }) => id === agentId).map(({ publicKey }) => publicKey);

function issue(changes: Partial<DelegationTokenBody> = {}): DelegationToken {
  return signDelegationToken(
    {
      token_id: "token-0",
      issuer_agent_id: issuer.id,
      issuer_public_key: issuer.publicKey,
      delegate_agent_id: first.id,
      scope: "read, count, write",
      max_budget: 5,
      not_before: now - 1_000,
      expires_at: now + hour,
      ...changes,
    },
    issuer.secretKey,
  );
}

function passOn(parent: DelegationToken, changes: Partial<Attenuation> = {}): DelegationToken {
  const to = { token_id: "token-1", delegate_agent_id: second.id };
  return attenuateDelegationToken(parent, { ...to, ...changes }, first);
}

function verify(token: unknown, delegateId: string = first.id) {
  return verifyDelegationToken(token, { now, delegateId, listKeys });
}

const issueBody = issue();
const { max_budget: _limit, signature: _signature, ...unlimitedBody } = issueBody;
const unlimited = signDelegationToken(unlimitedBody, issuer.secretKey);

describe("a delegation token", () => {
  test("a delegation token is signed like a receipt and valid for its delegate", () => {
    const token = issue();
    expect(token.suite).toBe(SUITE);
    expect(verify(token)).toMatchObject({ valid: true });
    expect(verify(JSON.stringify(token))).toMatchObject({ valid: true });
  });

  test("a delegation token that is attenuated is valid for the next delegate and grants the intersection", () => {
    const child = passOn(issue(), { scope: "read", max_budget: 2, expires_at: now + 1_000 });
    expect(verify(child, second.id)).toMatchObject({ valid: true });
    expect(getEffectiveRight(parseDelegationChain(child) ?? [])).toEqual({
      tools: new Set(["read"]),
      maxBudget: 2,
      notBefore: now - 1_000,
      expiresAt: now + 1_000,
    });
  });

  test.each<[string, string, unknown, string?]>([
    ["nothing", "delegation.malformed", undefined],
    ["no object", "delegation.malformed", 7],
    ["text that is no JSON", "delegation.malformed", "{"],
    ["text that names a member twice", "delegation.malformed", '{"scope":"a","scope":"b"}'],
    ["a missing member", "delegation.malformed", { ...issue(), scope: undefined }],
    ["a key of 62 digits", "delegation.malformed", issue({ issuer_public_key: "ab".repeat(31) })],
    ["a budget below 0", "delegation.malformed", issue({ max_budget: -1 })],
    ["another suite", "delegation.suite", { ...issue(), suite: "other" }],
    ["another delegate", "delegation.wrong_delegate", issue(), second.id],
    [
      "a key that is not its issuer's",
      "delegation.key_unbound",
      issue({ issuer_public_key: first.publicKey }),
    ],
    [
      "a member changed after signing",
      "delegation.signature_invalid",
      { ...issue(), scope: "pay" },
    ],
    [
      "a life of more than 24 h",
      "delegation.lifetime",
      issue({ expires_at: now + DELEGATION_LIMITS.maxLifeMs }),
    ],
    ["an end before its begin", "delegation.lifetime", issue({ expires_at: now - 2_000 })],
    [
      "no time between begin and end",
      "delegation.lifetime",
      issue({ not_before: now, expires_at: now }),
    ],
    ["a begin that is still to come", "delegation.not_yet_valid", issue({ not_before: now + 1 })],
    ["an end that has come", "delegation.expired", issue({ expires_at: now })],
    [
      "a child with another tool",
      "delegation.widened",
      passOn(issue(), { scope: "read,pay" }),
      second.id,
    ],
    [
      "a child with more money",
      "delegation.widened",
      passOn(issue(), { max_budget: 5.000001 }),
      second.id,
    ],
    [
      "a child that lives longer",
      "delegation.widened",
      passOn(issue(), { expires_at: now + hour + 1 }),
      second.id,
    ],
    [
      "a child that begins earlier",
      "delegation.widened",
      passOn(issue(), { not_before: now - 1_001 }),
      second.id,
    ],
    [
      "a child that has ended before its parent",
      "delegation.expired",
      passOn(issue(), { expires_at: now }),
      second.id,
    ],
    [
      "a child that is still to begin",
      "delegation.not_yet_valid",
      passOn(issue(), { not_before: now + 1 }),
      second.id,
    ],
    [
      "a child without a time",
      "delegation.lifetime",
      passOn(issue(), { not_before: now, expires_at: now }),
      second.id,
    ],
    [
      "a parent whose life is more than 24 h",
      "delegation.lifetime",
      passOn(issue({ expires_at: now + DELEGATION_LIMITS.maxLifeMs }), {
        expires_at: now + hour,
        not_before: now,
      }),
      second.id,
    ],
    [
      "a parent that its delegate signed in the name of another agent",
      "delegation.key_unbound",
      passOn(
        signDelegationToken({ ...issueBody, issuer_public_key: first.publicKey }, first.secretKey),
      ),
      second.id,
    ],
    [
      "a parent of another suite",
      "delegation.suite",
      passOn(signJson({ ...issueBody, suite: "other" as typeof SUITE }, issuer.secretKey)),
      second.id,
    ],
    ["a parent that is no object", "delegation.malformed", { ...issue(), parent: null }],
  ])("a delegation token with %s is refused: %s", (_, code, token, delegateId) => {
    expect(verify(token, delegateId)).toMatchObject({ valid: false, code });
  });

  test.each<[string, DelegationToken, string?]>([
    ["a life of exactly 24 h", issue({ expires_at: now - 1_000 + DELEGATION_LIMITS.maxLifeMs })],
    ["a begin in this millisecond", issue({ not_before: now })],
    ["a child like a parent without a limit", passOn(unlimited), second.id],
    [
      "a child with a limit where its parent has none",
      passOn(unlimited, { max_budget: 1 }),
      second.id,
    ],
  ])("a delegation token with %s is valid", (_, token, delegateId) => {
    expect(verify(token, delegateId).code).toBeUndefined();
  });

  test("a delegation token is refused if it has no limit where its parent has one", () => {
    const { max_budget: _, signature: __, suite: ___, ...body } = passOn(issue());
    const unbounded = signDelegationToken(body, first.secretKey);
    expect(verify(unbounded, second.id).code).toBe("delegation.widened");
  });

  test("a delegation token is refused if another agent than its delegate passes it on", () => {
    const { signature: _, suite: __, ...body } = passOn(issue());
    const stolen = signDelegationToken(
      { ...body, issuer_agent_id: second.id, issuer_public_key: second.publicKey },
      second.secretKey,
    );
    expect(verify(stolen, second.id).code).toBe("delegation.chain_broken");
  });

  test("a delegation token is refused with a forged parent", () => {
    const child = passOn({ ...issue({ scope: "read" }), scope: "read, pay" }, { scope: "pay" });
    expect(verify(child, second.id).code).toBe("delegation.signature_invalid");
  });

  test.each([
    [DELEGATION_LIMITS.maxChain, undefined],
    [DELEGATION_LIMITS.maxChain + 1, "delegation.too_long"],
  ])("a delegation token in a chain of %i: %s", (length, code) => {
    let token = issue();
    for (let index = 1; index < length; index += 1) {
      const holder = agents[index] as Agent;
      const next = agents[index + 1] as Agent;
      const to = { token_id: `token-${index}`, delegate_agent_id: next.id };
      token = attenuateDelegationToken(token, to, holder);
    }
    expect(verify(token, token.delegate_agent_id).code).toBe(code);
  });

  test("a delegation token is refused without a crash when it is nested 100,000 deep", () => {
    let deep: object = issue();
    for (let i = 0; i < 100_000; i += 1) deep = { ...issueBody, parent: deep };
    expect(verify(deep).code).toBe("delegation.too_long");
    expect(parseDelegationChain(deep)).toHaveLength(DELEGATION_LIMITS.maxChain + 1);
  });
});

describe("attenuation", () => {
  const tools = ["read", "count", "write", "pay"];
  const block = fc.record({
    scope: fc.subarray(tools).map((names) => names.join(",")),
    max_budget: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
    not_before: fc.integer({ min: now - 5_000, max: now }),
    expires_at: fc.integer({ min: now + 1, max: now + hour }),
  });

  test("attenuation gives a valid chain exactly when each token is within all those above it", () => {
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 4 }), (blocks) => {
        const [root, ...children] = blocks as [Block, ...Block[]];
        let token = issue(defined(root));
        let narrows = true;
        for (const [index, child] of children.entries()) {
          const above = getEffectiveRight(parseDelegationChain(token) ?? []);
          narrows &&= isWithin(child, above);
          const holder = agents[index + 1] as Agent;
          const { signature: _, suite: __, ...parentBody } = token;
          token = signDelegationToken(
            {
              ...defined(child),
              token_id: `token-${index + 1}`,
              issuer_agent_id: holder.id,
              issuer_public_key: holder.publicKey,
              delegate_agent_id: (agents[index + 2] as Agent).id,
              parent: { ...parentBody, suite: token.suite, signature: token.signature },
            } as DelegationTokenBody,
            holder.secretKey,
          );
        }
        const code = narrows ? undefined : "delegation.widened";
        expect(verify(token, token.delegate_agent_id).code).toBe(code);
      }),
      { numRuns: 150 },
    );
  });
});

interface Block {
  readonly scope: string;
  readonly max_budget: number | undefined;
  readonly not_before: number;
  readonly expires_at: number;
}

function defined({ max_budget, ...rest }: Block) {
  return max_budget === undefined
    ? { ...rest, max_budget: undefined as never }
    : { ...rest, max_budget };
}

function isWithin(child: Block, above: ReturnType<typeof getEffectiveRight>): boolean {
  const names = child.scope.split(",").filter((name) => name !== "");
  return (
    names.every((name) => above.tools.has(name)) &&
    (above.maxBudget === undefined ||
      (child.max_budget !== undefined && child.max_budget <= above.maxBudget)) &&
    child.not_before >= above.notBefore &&
    child.expires_at <= above.expiresAt
  );
}
