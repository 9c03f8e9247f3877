import { createPresentation } from "@agent/credentials";
import { deriveAgentId, signRelaySuccession } from "@agent/crypto";
import {
  attenuateDelegationToken,
  type ExecutionReceipt,
  signDelegationToken,
  signReceipt,
} from "@agent/receipts";
import { describe, expect, test } from "vitest";
import * as made from "../test/artifacts.ts";
import {
  type ArtifactKind,
  detectKind,
  formatReport,
  getClaim,
  type Verdict,
  verifyArtifact,
  type VerifyOptions,
} from "./index.ts";

const { alice, bob, carol, now } = made;

interface Sample {
  readonly kind: ArtifactKind;
  readonly value: object;
  /** The signer's key, as the caller names it. */
  readonly key: string;
  /** The levels that pass when the key and the clock are known. */
  readonly levels: string;
  /** A change that was not signed. */
  readonly forged: object;
  readonly code: string;
}

const answer = {
  agent_id: made.aliceId,
  current_public_key: carol.publicKey,
  keys: [alice, bob, carol].map(({ publicKey }) => ({ public_key: publicKey })),
  chain: made.succession,
};

const samples: readonly Sample[] = [
  {
    kind: "receipt",
    value: made.receipt,
    key: alice.publicKey,
    levels: "well_formed intact key_bound hashes_match",
    forged: { ...made.receipt, result: "else" },
    code: "receipt.signature_invalid",
  },
  {
    kind: "credential",
    value: made.credential,
    key: alice.publicKey,
    levels: "well_formed intact key_bound key_valid",
    forged: { ...made.credential, id: "urn:else" },
    code: "credential.signature_invalid",
  },
  {
    kind: "presentation",
    value: made.presentation,
    key: bob.publicKey,
    levels: "well_formed intact key_bound",
    forged: { ...made.presentation, verifiableCredential: [] },
    code: "presentation.signature_invalid",
  },
  {
    kind: "ledger",
    value: made.ledger,
    key: alice.publicKey,
    levels: "well_formed intact key_bound hashes_match",
    forged: { ...made.ledger, timeline: made.ledger.timeline.slice(1) },
    code: "ledger.content_hash_mismatch",
  },
  {
    kind: "succession",
    value: made.succession,
    key: alice.publicKey,
    levels: "well_formed intact key_bound key_valid",
    forged: made.succession.map((step) => ({ ...step, reason: "else" })),
    code: "succession.old_key_signature_invalid",
  },
  {
    kind: "succession",
    value: made.succession[0]!,
    key: bob.publicKey,
    levels: "well_formed intact key_bound key_valid",
    forged: { ...made.succession[0], timestamp: 11 },
    code: "succession.old_key_signature_invalid",
  },
  {
    kind: "succession",
    value: answer,
    key: carol.publicKey,
    levels: "well_formed intact key_bound key_valid",
    forged: { ...answer, current_public_key: bob.publicKey },
    code: "artifact.key_unbound",
  },
  {
    kind: "settlement",
    value: made.settlement,
    key: carol.publicKey,
    levels: "well_formed intact key_bound settled",
    forged: { ...made.settlement, net: 2 },
    code: "settlement.signature_invalid",
  },
  {
    kind: "no_show",
    value: made.noShow,
    key: carol.publicKey,
    levels: "well_formed intact key_bound",
    forged: { ...made.noShow, priced: false },
    code: "no_show.signature_invalid",
  },
  {
    kind: "attestation",
    value: made.attestation,
    key: carol.publicKey,
    levels: "well_formed intact key_bound attested",
    forged: { ...made.attestation, received_at: 0 },
    code: "attestation.signature_invalid",
  },
  {
    kind: "delegation_token",
    value: made.token,
    key: alice.publicKey,
    levels: "well_formed intact key_bound key_valid nested",
    forged: { ...made.token, scope: "write" },
    code: "delegation.signature_invalid",
  },
  {
    kind: "bundle",
    value: made.bundle,
    key: made.relayKey,
    levels:
      "well_formed intact key_bound key_valid task_bound hashes_match nested hop_bound attested settled",
    forged: { ...made.bundle, created_at: 0 },
    code: "bundle.signature_invalid",
  },
];

const held = (value: unknown, options: VerifyOptions) =>
  verifyArtifact(value, options)
    .checks.filter(({ ok }) => ok)
    .map(({ name }) => name)
    .join(" ");

describe.each(samples)("$kind", ({ kind, value, key, levels, forged, code }) => {
  test("the kind of an artifact is detected without a hint", () => {
    expect(detectKind(value)).toBe(kind);
    expect(verifyArtifact(value).kind).toBe(kind);
  });

  test("an artifact is valid with its signer's key and passes every proof level", () => {
    const verdict = verifyArtifact(value, { now, publicKey: key });
    expect(verdict).toMatchObject({ kind, valid: true });
    expect(verdict.checks.every(({ ok }) => ok)).toBe(true);
    expect(held(value, { now, publicKey: key })).toBe(levels);
  });

  test("an artifact is valid when its signer's key is one of several", () => {
    const publicKey = ["0".repeat(64), key];
    expect(verifyArtifact(value, { now, publicKey }).valid).toBe(true);
  });

  test("an artifact is refused with the key of another signer", () => {
    const { valid, checks } = verifyArtifact(value, { now, publicKey: "0".repeat(64) });
    expect(valid).toBe(false);
    expect(checks.some(({ name, ok }) => name === "key_bound" && ok)).toBe(false);
  });

  test("an artifact is refused when it was changed", () => {
    expect(verifyArtifact(forged, { now, publicKey: key })).toMatchObject({ valid: false, code });
  });

  test("an artifact is verified alike as a text", () => {
    const options = { now, publicKey: key };
    const text = kind === "bundle" ? made.bundleFile : `${JSON.stringify(value, null, 2)}\n`;
    expect(verifyArtifact(text, options)).toEqual(verifyArtifact(value, options));
  });
});

describe("without the caller's key", () => {
  test.each(samples.filter(({ kind }) => kind !== "ledger" && kind !== "attestation"))(
    "a $kind is valid, and its key is not bound",
    ({ kind, value }) => {
      const { valid, checks } = verifyArtifact(value, { now });
      expect(valid).toBe(true);
      // A bundle binds the keys of agents by the relay's records.
      expect(checks.some(({ name }) => name === "key_bound")).toBe(kind === "bundle");
    },
  );

  test.each([
    ["ledger", made.ledger, "ledger.key_missing"],
    ["attestation", made.attestation, "attestation.key_missing"],
  ])("a %s is refused because it names no key", (_, value, code) => {
    expect(verifyArtifact(value, { now }).code).toBe(code);
  });

  test("an unsigned ledger is valid with a warning that it is unsigned", () => {
    const { signature: _, ...unsigned } = made.ledger;
    const verdict = verifyArtifact(unsigned, { publicKey: alice.publicKey });
    expect(verdict.valid).toBe(true);
    expect(verdict.checks).toContainEqual({ name: "intact", ok: false, code: "ledger.unsigned" });
    expect(verdict.checks.some(({ name }) => name === "key_bound")).toBe(false);
  });
});

describe("credentials in a presentation", () => {
  const thief = createPresentation({
    credentials: [made.credential],
    secretKey: carol.secretKey,
    now,
    audience: "shop.example",
  });
  const nestedLevel = (options: VerifyOptions) =>
    verifyArtifact(thief, { now, ...options }).checks.find(({ name }) => name === "nested");
  const holder = carol.publicKey;

  test("the credentials in a presentation hold only under the named keys of their issuers", () => {
    expect(nestedLevel({})).toBeUndefined();
    expect(nestedLevel({ publicKey: holder })).toBeUndefined();
    expect(nestedLevel({ publicKey: [holder, alice.publicKey] })).toEqual({
      name: "nested",
      ok: true,
    });
  });

  test("the claim of a presentation names its audience and the issuer and subject of each credential", () => {
    const options = { now, publicKey: [holder, alice.publicKey] };
    const claim = getClaim(verifyArtifact(thief, options), thief);
    expect(claim?.statement).toBe(`${carol.did} presents 1 credential to shop.example`);
    expect(claim?.details).toEqual([
      `${alice.did} states AgentTrustCredential of ${bob.did}, who is not the holder`,
    ]);
    const own = getClaim(verifyArtifact(made.presentation, options), made.presentation);
    expect(own?.details[0]).toBe(`${alice.did} states AgentTrustCredential of ${bob.did}`);
  });
});

describe("the claim of a ledger", () => {
  const options = { publicKey: alice.publicKey };
  const forged = { ...made.ledger, agent_id: made.bobId, started_at: 0, completed_at: 1 };
  const getLines = (value: object) => {
    const claim = getClaim(verifyArtifact(value, options), value);
    return { signed: [claim?.statement, claim?.details[0], claim?.signer], all: claim?.details };
  };

  test("the claim of a ledger states as signed only what the signature covers", () => {
    expect(verifyArtifact(forged, options).valid).toBe(true);
    expect(getLines(forged).signed).toEqual(getLines(made.ledger).signed);
    expect(getLines(forged).signed.join(" ")).not.toContain(made.bobId);
    expect(getLines(forged).all?.[1]).toMatch(/^states, unsigned: .*of agent .*is completed/);
  });

  test("the claim of a ledger names the subcontractors that it lists as unsigned, because anyone can change the list", () => {
    const summary = {
      task_id: "task",
      agent_id: made.bobId,
      device_id: "device",
      status: "completed",
      tools_used: [],
      signature_prefix: "A".repeat(16),
    };
    const several = Array.from({ length: 12 }, (_, at) => ({ ...summary, task_id: `task${at}` }));
    const named = (count: number) =>
      several.slice(0, count).map(({ task_id }) => `${task_id} of agent ${made.bobId}`);
    const lineOf = (delegation_receipts: readonly object[]) => {
      const { signed, all } = getLines({ ...made.ledger, delegation_receipts });
      expect(signed).toEqual(getLines(made.ledger).signed);
      return all?.[2];
    };
    expect(lineOf([])).toBeUndefined();
    expect(lineOf(several.slice(0, 2))).toBe(
      `states, unsigned: receipts of others, which are not in it: ${named(2).join(", ")}`,
    );
    expect(lineOf(several)).toBe(
      `states, unsigned: receipts of others, which are not in it: ${named(10).join(", ")} and 2 more`,
    );
  });

  test("the claim of a ledger names the goal and its end from the timeline", () => {
    expect(getLines(made.ledger).signed).toEqual([
      "a timeline of 2 events of goal goal, ended as completed",
      "from 2026-01-02T05:14:54.817Z to 2026-01-02T05:14:54.827Z",
      "its author",
    ]);
  });
});

describe("the claim of a receipt", () => {
  const borrowed = signReceipt({ ...made.receipt, public_key: bob.publicKey }, alice.secretKey);
  const { public_key: _own, ...bare } = made.receipt;
  const keyless = signReceipt(bare, alice.secretKey);

  test.each([
    ["its own key", made.receipt],
    ["another agent's key", borrowed],
    ["no key", keyless],
  ])("the claim of a receipt that contains %s names the key that signed it", (_, receipt) => {
    const publicKey = [carol.publicKey, alice.publicKey];
    const verdict = verifyArtifact(receipt, { publicKey });
    expect(verdict.valid).toBe(true);
    expect(getClaim(verdict, receipt, { publicKey })?.key).toBe(alice.publicKey);
  });

  test("the claim of a refused receipt names the key that it contains", () => {
    const publicKey = carol.publicKey;
    const verdict = verifyArtifact(made.receipt, { publicKey });
    expect(verdict.valid).toBe(false);
    expect(getClaim(verdict, made.receipt, { publicKey })?.key).toBe(alice.publicKey);
  });
});

test.each([alice, bob, carol])(
  "the claim of a succession names the key that the caller named ($publicKey)",
  ({ publicKey }) => {
    const verdict = verifyArtifact(made.succession, { publicKey });
    expect(getClaim(verdict, made.succession, { publicKey })?.key).toBe(publicKey);
  },
);

describe("without a clock", () => {
  test.each([
    ["credential", { ...made.credential, type: 1 }],
    ["credential", { ...made.credential, credentialSubject: null }],
    ["presentation", { ...made.presentation, verifiableCredential: null }],
    ["delegation", { ...made.token, scope: null }],
  ])("without a clock a malformed %s is refused as such, and reported", (kind, value) => {
    const verdict = verifyArtifact(value);
    expect(verdict.code).toBe(`${kind}.malformed`);
    expect(formatReport(verdict, value)).toContain("it says nothing that can be read");
  });

  test.each(samples)("a $kind is refused only if it expires", ({ kind, value, key }) => {
    const ends = ["credential", "presentation", "delegation_token"].includes(kind);
    const { valid, code } = verifyArtifact(value, { publicKey: key });
    expect([valid, code]).toEqual(ends ? [false, "artifact.clock_missing"] : [true, undefined]);
  });

  test.each([
    ["credential", made.credential, "credential.expired", "key_valid"],
    ["presentation", made.presentation, "presentation.credential_invalid", "nested"],
    ["delegation_token", made.token, "delegation.expired", "key_valid"],
  ] as const)("a %s is refused after its end", (_, value, code, level) => {
    const verdict = verifyArtifact(value, { now: now + 86_400_000 });
    expect(verdict.code).toBe(code);
    expect(verdict.checks.filter(({ ok }) => !ok)).toEqual([{ name: level, ok: false, code }]);
  });
});

describe("the proof levels of a receipt distinguish its faults", () => {
  const stranger = signReceipt({ ...made.receipt, public_key: bob.publicKey }, bob.secretKey);
  // Its agent's id shows the key of alice, so that bob's may be a later one.
  const later = signReceipt(
    { ...made.receipt, agent_id: deriveAgentId(alice.publicKey), public_key: bob.publicKey },
    bob.secretKey,
  );
  const nested = (inner: object) =>
    signReceipt({ ...made.receipt, delegation_receipts: [inner as never] }, alice.secretKey);
  const failing = (value: object, options: VerifyOptions = { publicKey: alice.publicKey }) =>
    verifyArtifact(value, options)
      .checks.filter(({ ok }) => !ok)
      .map(({ name, code }) => `${name} ${code}`);

  test.each<[string, object, VerifyOptions | undefined, string]>([
    ["changed", { ...made.receipt, result: "x" }, undefined, "intact receipt.signature_invalid"],
    ["by a stranger's key", stranger, undefined, "key_bound receipt.signature_invalid"],
    ["by an agent without keys", made.receipt, { publicKey: [] }, "key_bound receipt.key_missing"],
    [
      "changed, by an agent without keys",
      { ...made.receipt, result: "x" },
      { publicKey: [] },
      "intact receipt.signature_invalid",
    ],
    ["in the name of another key", later, { publicKey: bob.did }, "key_bound receipt.key_missing"],
    [
      "changed, in the name of another key",
      { ...later, result: "x" },
      { publicKey: bob.did },
      "intact receipt.signature_invalid",
    ],
    [
      "that names no key, with none known",
      signReceipt({ ...made.receipt, public_key: undefined }, alice.secretKey),
      {},
      "intact receipt.key_missing",
    ],
    ["of another task", made.receipt, { taskId: "x" }, "task_bound receipt.task_mismatch"],
    ["of the future", made.receipt, { now: 0 }, "well_formed receipt.completed_in_future"],
    [
      "of another result",
      signReceipt({ ...made.receipt, result: "x" }, alice.secretKey),
      undefined,
      "hashes_match receipt.result_hash_mismatch",
    ],
    [
      "with a bad one inside",
      nested({ ...stranger, result: "x" }),
      undefined,
      "nested receipt.nested_refused",
    ],
    [
      "with a bad one deep inside",
      nested(nested({ ...stranger, result: "x" })),
      undefined,
      "nested receipt.nested_refused",
    ],
  ])("the proof levels of a receipt distinguish this fault: %s", (_, value, options, found) => {
    expect(failing(value, options)).toEqual([found]);
  });

  test("the proof levels bind a receipt to the expected task", () => {
    const { checks } = verifyArtifact(made.receipt, { taskId: made.taskId });
    expect(checks).toContainEqual({ name: "task_bound", ok: true });
  });

  test("the proof levels pass with valid nested receipts, which have verdicts of their own", () => {
    const options = { publicKey: [alice.publicKey, bob.publicKey] };
    const verdict = verifyArtifact(nested(stranger), options);
    expect(verdict.checks).toContainEqual({ name: "nested", ok: true });
    expect(verdict.nested).toEqual([verifyArtifact(stranger, options)]);
  });

  test.each<[string, VerifyOptions]>([
    ["under a key that was not named", { publicKey: alice.publicKey }],
    [
      "under a key that was named for another agent",
      {
        publicKey: [
          { publicKey: alice.publicKey },
          { publicKey: bob.publicKey, role: "agent", id: made.bobId },
        ],
      },
    ],
    ["while no key is named", {}],
  ])("the level of nested receipts is not shown for one %s", (_, options) => {
    for (const receipt of [nested(stranger), nested(nested(stranger))]) {
      const verdict = verifyArtifact(receipt, options);
      expect(verdict.valid).toBe(true);
      expect(verdict.checks.some(({ name }) => name === "nested")).toBe(false);
      expect(formatReport(verdict, receipt, options)).toContain("not all inside it was signed by");
    }
  });
});

describe("D4: nested receipts of another time", () => {
  const day = 86_400_000;
  const old = signReceipt(
    {
      ...made.receipt,
      submitted_at: made.receipt.submitted_at - 30 * day,
      completed_at: made.receipt.completed_at - 30 * day,
    },
    alice.secretKey,
  );
  const around = (...delegation_receipts: ExecutionReceipt[]) =>
    signReceipt({ ...made.receipt, delegation_receipts }, alice.secretKey);
  const failed = (verdict: Verdict) =>
    verdict.checks.flatMap(({ name, ok, code }) => (ok ? [] : [[name, code]]));

  test("D4: a nested receipt of another time leaves the receipt valid with a warning on both", () => {
    const verdict = verifyArtifact(around(old));
    expect(verdict.valid).toBe(true);
    expect(failed(verdict)).toEqual([["nested", "receipt.nested_outside"]]);
    expect(verdict.nested.map(failed)).toEqual([[["hop_bound", "receipt.nested_outside"]]]);
  });

  test("D4: a nested receipt of another time gives a warning on every hop above it", () => {
    expect(failed(verifyArtifact(around(around(old))))).toEqual([
      ["nested", "receipt.nested_outside"],
    ]);
  });

  test("D4: a nested receipt of another time is reported after one that is refused", () => {
    const forged = { ...made.receipt, result: "else" };
    expect(failed(verifyArtifact(around(old, forged)))).toEqual([
      ["nested", "receipt.nested_refused"],
    ]);
  });

  test("D4: a nested receipt is not reported if the nested work lies within its parent's", () => {
    expect(failed(verifyArtifact(around(made.receipt)))).toEqual([]);
  });
});

describe("a relay's answer about keys", () => {
  test.each<[string, object, string]>([
    ["of another agent", { agent_id: made.bobId }, "succession.agent_mismatch"],
    ["with a key more", { keys: [...answer.keys, { public_key: "0" }] }, "artifact.key_unbound"],
    ["with a key less", { keys: answer.keys.slice(0, -1) }, "artifact.key_unbound"],
    ["with another key", { keys: answer.keys.toReversed() }, "artifact.key_unbound"],
    [
      "with a first key that is no text",
      { chain: [{ ...made.succession[0], old_public_key: null }] },
      "succession.malformed",
    ],
    ["with a key that is none", { keys: [null, null, null] }, "artifact.key_unbound"],
    ["with keys that are no list", { keys: carol.publicKey }, "artifact.key_unbound"],
    [
      "with a record out of order",
      { chain: made.succession.toReversed() },
      "succession.old_key_mismatch",
    ],
  ])("a relay's answer about keys %s is refused", (_, changes, code) => {
    expect(verifyArtifact({ ...answer, ...changes }).code).toBe(code);
  });
});

describe("a chain of succession records beside other members", () => {
  const step = signRelaySuccession({
    relay_id: made.relayId,
    oldSecretKey: carol.secretKey,
    newSecretKey: bob.secretKey,
    timestamp: 10,
  });
  const forgeries = samples.filter(({ value }) => !Array.isArray(value) && value !== answer);

  test.each(forgeries)(
    "a chain of succession records does not make a forged $kind valid",
    ({ kind, forged }) => {
      for (const chain of [made.succession, [step]]) {
        const verdict = verifyArtifact({ ...forged, chain }, { now, publicKey: carol.publicKey });
        expect(verdict.valid).toBe(false);
        expect(verdict.kind).toBe(kind);
      }
    },
  );

  test.each<[string, object]>([
    ["a member that nothing is compared with", { ...answer, amount_settled: 999 }],
    ["members of a relay's answer about an agent", { ...answer, chain: [step] }],
    ["part of a receipt", { task_id: made.taskId, result: "x", chain: made.succession }],
  ])("a chain of succession records is of no kind with %s", (_, value) => {
    expect(verifyArtifact(value)).toMatchObject({ kind: null, code: "artifact.unrecognised" });
  });

  test("a chain is a succession with the members that a relay answers", () => {
    expect(verifyArtifact(answer)).toMatchObject({ kind: "succession", valid: true });
    expect(verifyArtifact({ chain: made.succession }).valid).toBe(true);
    expect(verifyArtifact({ chain: [step] })).toMatchObject({
      kind: "relay_succession",
      valid: true,
    });
  });
});

test("an attestation counts only for the expected task", () => {
  const verifyFor = (taskId: string) =>
    verifyArtifact(made.attestation, { publicKey: carol.publicKey, taskId });
  expect(verifyFor(made.taskId).checks).toContainEqual({ name: "task_bound", ok: true });
  expect(verifyFor("another").code).toBe("attestation.task_mismatch");
});

describe("passed on delegation tokens", () => {
  const { suite: _, signature: __, ...body } = made.rootToken;
  const passOn = (delegate_agent_id: string, holder: typeof bob) => {
    const root = signDelegationToken({ ...body, delegate_agent_id }, alice.secretKey);
    const next = { token_id: made.taskId, delegate_agent_id: made.carolId };
    return attenuateDelegationToken(root, next, holder);
  };
  const keyBound = (token: object, ...publicKey: string[]) => {
    const { valid, checks } = verifyArtifact(token, { now, publicKey });
    return { valid, bound: checks.find(({ name }) => name === "key_bound") };
  };
  const code = "artifact.key_unbound";

  test("a delegation token that its delegate passed on is valid if the delegate's key is named too", () => {
    const token = passOn(made.bobId, bob);
    expect(keyBound(token, alice.publicKey, bob.publicKey)).toEqual({
      valid: true,
      bound: { name: "key_bound", ok: true },
    });
  });

  test("a delegation token that its delegate passed on counts under a key that was named for this delegate alone", () => {
    const boundFor = (id: string) =>
      verifyArtifact(passOn(made.bobId, bob), {
        now,
        publicKey: [alice.publicKey, { publicKey: bob.publicKey, role: "agent", id }],
      });
    expect(boundFor(made.bobId).valid).toBe(true);
    expect(boundFor(made.carolId)).toMatchObject({ valid: false, code });
  });

  test("a delegation token that its delegate passed on is valid if the delegate's id was derived from its key", () => {
    expect(keyBound(made.token, alice.publicKey).valid).toBe(true);
  });

  test.each<[string, object, string[]]>([
    ["a key that its delegate's id does not show", passOn(made.bobId, bob), [alice.publicKey]],
    ["a thief's key", passOn(made.rootToken.delegate_agent_id, carol), [alice.publicKey]],
    ["a delegate's key, while the first issuer's is not named", made.token, [bob.publicKey]],
  ])(
    "a delegation token that its delegate passed on is refused if it was signed by %s",
    (_name, token, keys) => {
      expect(keyBound(token, ...keys)).toEqual({
        valid: false,
        bound: { name: "key_bound", ok: false, code },
      });
    },
  );

  test("a delegation token that its delegate passed on binds no key while none is named", () => {
    const { valid, checks } = verifyArtifact(passOn(made.bobId, carol), { now });
    expect(valid).toBe(true);
    expect(checks.some(({ name }) => name === "key_bound")).toBe(false);
  });
});

describe("a value with the members of no kind or of two is not detected:", () => {
  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a number", 1],
    ["an empty object", {}],
    ["an empty list", []],
    ["a list of receipts", [made.receipt]],
    ["a list of records and something else", [...made.succession, made.receipt]],
    ["an answer without a record", { ...answer, chain: [] }],
    ["a receipt that is a settlement too", { ...made.settlement, ...made.receipt }],
    ["a credential that is a receipt too", { ...made.credential, ...made.receipt }],
    ["a function", () => 1],
  ])("a value is of no kind if it is %s", (_, value) => {
    expect(detectKind(value)).toBeNull();
    expect(verifyArtifact(value)).toMatchObject({
      kind: null,
      valid: false,
      code: "artifact.unrecognised",
    });
  });

  test("inherited members are ignored in the detection of a kind", () => {
    expect(detectKind(Object.create(made.receipt))).toBeNull();
  });
});

test.each(["", "{", "receipt", '{"a":1,"a":1}', `[${JSON.stringify(made.receipt)}`])(
  "%j cannot be read",
  (text) => {
    expect(verifyArtifact(text)).toMatchObject({ kind: null, code: "artifact.unreadable" });
  },
);

describe("artifacts with replaced members", () => {
  const odd: readonly unknown[] = [
    null,
    0,
    -1,
    "",
    "x",
    [],
    {},
    [null],
    { a: 1 },
    "\ud800",
    Infinity,
    new Date(0),
    () => 1,
    // No text can be made of it.
    { toString: 1, valueOf: 1 },
  ];
  // Not every member of a ledger and of a relay's answer is signed.
  const unsigned = (value: object) => value === made.ledger || value === answer;

  test.each(samples)(
    "a $kind with a replaced member is refused without throwing",
    ({ value, key }) => {
      const parts = Array.isArray(value) ? (value as object[]) : [value];
      const taken: string[] = [];
      for (const [index, part] of parts.entries()) {
        for (const [name, member] of Object.entries(part)) {
          for (const other of odd) {
            const changed = { ...part, [name]: other };
            const whole = Array.isArray(value) ? parts.with(index, changed) : changed;
            const verdict = verifyArtifact(whole, { now, publicKey: key });
            formatReport(verdict, whole, { now, publicKey: key, explain: true });
            if (verdict.valid && other !== member && !unsigned(value)) taken.push(name);
          }
        }
      }
      expect(taken).toEqual([]);
    },
  );
});

test.each([
  ["lists", "[".repeat(100_000) + "]".repeat(100_000)],
  ["chains", `${'{"chain":['.repeat(50_000)}1${"]}".repeat(50_000)}`],
  ["no-shows", `${'{"no_shows":['.repeat(50_000)}1${"]}".repeat(50_000)}`],
])("%s inside one another, however deep, are of no kind", (_, text) => {
  expect(verifyArtifact(text).code).toBe("artifact.unrecognised");
});

describe("B2: the no-show records of expired tasks", () => {
  const all = { no_shows: [made.noShow, made.noShow] };

  test("B2: the no-show records of an expired task are valid when each of them is", () => {
    const verdict = verifyArtifact(all, { publicKey: carol.publicKey, taskId: made.taskId });
    expect(verdict).toMatchObject({ kind: "no_show", valid: true });
    expect(verdict.nested.map(({ valid }) => valid)).toEqual([true, true]);
  });

  test.each([
    [
      "one of them was changed",
      { no_shows: [made.noShow, { ...made.noShow, priced: false }] },
      {},
      "no_show.signature_invalid",
    ],
    ["another relay is asked for", all, { publicKey: bob.publicKey }, "artifact.key_unbound"],
    ["another task is asked for", all, { taskId: "x" }, "bundle.task_mismatch"],
    ["there is none", { no_shows: [] }, {}, "artifact.unrecognised"],
    ["there is a hole in the list", { no_shows: Array(1) }, {}, "artifact.unrecognised"],
    [
      "something else is among them",
      { no_shows: [made.noShow, made.receipt] },
      {},
      "artifact.unrecognised",
    ],
    ["something stands beside them", { ...all, note: 1 }, {}, "artifact.unrecognised"],
  ] as const)(
    "B2: the no-show records of an expired task are refused when %s",
    (_, value, options, code) => {
      expect(verifyArtifact(value, options)).toMatchObject({ valid: false, code });
    },
  );
});
