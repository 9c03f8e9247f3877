import { hexToDidKey, sha256Hex } from "@agent/crypto";
import { describe, expect, test } from "vitest";
import {
  alice,
  bob,
  buildBody,
  buildChain,
  prompt,
  buildSignedReceipt,
  taskId,
} from "../../test/fixtures.ts";
import {
  type ExecutionReceipt,
  type ReceiptBody,
  signReceipt,
  verifyReceipt,
  verifyReceiptAsync,
  type VerifyReceiptOptions,
} from "../index.ts";

const aliceDid = hexToDidKey(alice.publicKey);
const registered = { publicKey: alice.publicKey, taskId } satisfies VerifyReceiptOptions;

/** Returns a receipt with a member changed after signing. */
const forged = (changes: Record<string, unknown>, before: Partial<ReceiptBody> = {}) => ({
  ...buildSignedReceipt(before),
  ...changes,
});

describe("the checks run in the specification's order", () => {
  test("the verdict of a valid receipt lists every check that applies", () => {
    const receipt = buildSignedReceipt({
      delegated_scope: "read_file, count_terms",
      delegation_receipts: [buildSignedReceipt()],
    });
    const verdict = verifyReceipt(receipt, { ...registered, prompt, now: receipt.completed_at });
    expect(verdict.valid).toBe(true);
    expect(verdict.checks).toEqual(
      [
        "structure",
        "time_span",
        "task_binding",
        "suite",
        "key",
        "signature",
        "delegated_scope",
        "prompt_hash",
        "result_hash",
        "clock",
        "hops",
      ].map((name) => ({ name, ok: true })),
    );
  });

  test("the verdict on a receipt leaves out checks that do not apply", () => {
    const names = verifyReceipt(buildSignedReceipt()).checks.map(({ name }) => name);
    expect(names).toEqual(["structure", "time_span", "suite", "key", "signature", "result_hash"]);
  });

  // Each row adds a fault before those of the rows below it, and that fault decides.
  const faults: [name: string, code: string, fault: Record<string, unknown>][] = [
    ["delegated_scope", "receipt.out_of_scope", {}],
    ["signature", "receipt.signature_invalid", { result: "changed" }],
    ["suite", "receipt.suite", { suite: "agent-jcs-ed25519-b64-v2" }],
    ["task_binding", "receipt.task_mismatch", { relay_task_id: "another" }],
    ["time_span", "receipt.span", { completed_at: 0 }],
    ["structure", "receipt.malformed", { status: "done" }],
  ];

  test.each(faults.map((fault, index) => [...fault, index] as const))(
    "the check %s refuses with %s",
    (name, code, _, index) => {
      const changes = faults
        .slice(0, index + 1)
        .reduce((all, [, , fault]) => ({ ...all, ...fault }), {});
      const verdict = verifyReceipt(forged(changes, { delegated_scope: "read_file" }), registered);
      expect(verdict).toMatchObject({ valid: false, code, nested: [] });
      expect(verdict.checks.at(-1)).toEqual({ name, ok: false, code });
      expect(verdict.checks.slice(0, -1).every(({ ok }) => ok)).toBe(true);
    },
  );

  test("a missing key is refused before the signature is checked", () => {
    const receipt = forged({ public_key: undefined, result: "changed" });
    expect(verifyReceipt(receipt).code).toBe("receipt.key_missing");
  });
});

describe("D4: a nested receipt is of work done within that of its parent", () => {
  const parent = buildBody();
  const minute = 60_000;
  test.each<[string, boolean, Partial<ReceiptBody>]>([
    ["the same span", true, {}],
    [
      "a minute before and after, for clocks that disagree",
      true,
      { submitted_at: parent.submitted_at - minute, completed_at: parent.completed_at + minute },
    ],
    ["submitted earlier than that", false, { submitted_at: parent.submitted_at - minute - 1 }],
    ["completed later than that", false, { completed_at: parent.completed_at + minute + 1 }],
    [
      "thirty days old",
      false,
      {
        submitted_at: parent.submitted_at - 30 * 24 * 60 * minute,
        completed_at: parent.completed_at - 30 * 24 * 60 * minute,
      },
    ],
  ])("D4: %s", async (_, isInside, changes) => {
    const outer = buildSignedReceipt({ delegation_receipts: [buildSignedReceipt(changes)] });
    const verdict = verifyReceipt(outer, registered);
    expect(await verifyReceiptAsync(outer, registered)).toEqual(verdict);
    expect(verdict).toMatchObject({ valid: true, nested: [{ valid: true }] });
    expect(verdict.nested[0]?.checks.filter(({ name }) => name === "nested_span")).toEqual([
      isInside
        ? { name: "nested_span", ok: true }
        : { name: "nested_span", ok: false, code: "receipt.nested_outside" },
    ]);
  });

  test("D4: each hop is compared with the receipt around it", () => {
    const old = buildSignedReceipt({ submitted_at: 0, completed_at: 1 });
    const middle = buildSignedReceipt({
      submitted_at: 0,
      completed_at: 2,
      delegation_receipts: [old],
    });
    const { nested } = verifyReceipt(
      buildSignedReceipt({ delegation_receipts: [middle] }),
      registered,
    );
    const failed = nested
      .flatMap((each) => [each, ...each.nested])
      .map(({ checks }) => checks.some(({ code }) => code === "receipt.nested_outside"));
    expect(failed).toEqual([true, false]);
  });
});

describe("completed_at - submitted_at is within -60 s and +3600 s", () => {
  test.each([
    [-60_001, false],
    [-60_000, true],
    [0, true],
    [3_600_000, true],
    [3_600_001, false],
  ])("a receipt whose span is %i ms is valid: %s", (span, valid) => {
    const { submitted_at } = buildBody();
    const verdict = verifyReceipt(
      buildSignedReceipt({ completed_at: submitted_at + span }),
      registered,
    );
    expect(verdict.valid).toBe(valid);
    expect(verdict.code).toBe(valid ? undefined : "receipt.span");
  });
});

describe("a receipt counts for the task it is signed for", () => {
  test.each<[string, Partial<ReceiptBody>]>([
    ["task_id of another task", { task_id: "another" }],
    ["relay_task_id of another task", { relay_task_id: "another" }],
    ["no relay_task_id", { relay_task_id: undefined }],
  ])("a receipt with %s is refused", (_, changes) => {
    expect(verifyReceipt(buildSignedReceipt(changes), registered).code).toBe(
      "receipt.task_mismatch",
    );
  });

  test("a receipt counts for any task when no task is expected", () => {
    const receipt = buildSignedReceipt({ task_id: "another", relay_task_id: undefined });
    expect(verifyReceipt(receipt, { publicKey: alice.publicKey }).valid).toBe(true);
  });
});

describe("the key must be one that is bound to the agent", () => {
  const unnamed = { public_key: undefined };
  const invalid = "receipt.signature_invalid";

  test.each<[string, ExecutionReceipt, VerifyReceiptOptions["publicKey"], string | undefined]>([
    ["embedded, without bound keys", buildSignedReceipt(), undefined, undefined],
    ["embedded and bound", buildSignedReceipt(), alice.publicKey, undefined],
    [
      "embedded and one of the bound",
      buildSignedReceipt(),
      [bob.publicKey, alice.publicKey],
      undefined,
    ],
    ["not embedded, bound", buildSignedReceipt(unnamed), alice.publicKey, undefined],
    [
      "not embedded, second of the bound",
      buildSignedReceipt(unnamed),
      [bob.publicKey, alice.publicKey],
      undefined,
    ],
    [
      "embedded stranger's, signed with the bound",
      buildSignedReceipt({ public_key: bob.publicKey }),
      alice.publicKey,
      undefined,
    ],
    ["embedded and signing, not bound", buildSignedReceipt(), bob.publicKey, invalid],
    ["embedded and signing, not among the bound", buildSignedReceipt(), [bob.publicKey], invalid],
    [
      "embedded and bound, not signing",
      buildSignedReceipt({ public_key: bob.publicKey }),
      [bob.publicKey, alice.publicKey],
      invalid,
    ],
    ["embedded, but the agent has no key", buildSignedReceipt(), [], "receipt.key_missing"],
    ["nowhere", buildSignedReceipt(unnamed), undefined, "receipt.key_missing"],
    [
      "given in capitals",
      buildSignedReceipt(),
      alice.publicKey.toUpperCase(),
      "receipt.key_missing",
    ],
    ["given as a did:key", buildSignedReceipt(), aliceDid, "receipt.key_missing"],
    ["given as no key at all", buildSignedReceipt(unnamed), "not a key", "receipt.key_missing"],
    ["given beside no key", buildSignedReceipt(), ["not a key", alice.publicKey], undefined],
    ["of another agent, beside no key", buildSignedReceipt(), ["", bob.publicKey], invalid],
  ])("the key of a receipt must be bound to its agent: %s", async (_, receipt, publicKey, code) => {
    expect(verifyReceipt(receipt, { publicKey }).code).toBe(code);
    expect((await verifyReceiptAsync(receipt, { publicKey })).code).toBe(code);
  });
});

describe("tools stay within delegated_scope", () => {
  const scoped = (tools_used: string[], delegated_scope: string) =>
    verifyReceipt(buildSignedReceipt({ tools_used, delegated_scope }), registered).code;

  test.each([
    [["a", "b"], "a,b"],
    [["a"], " b , a "],
    [[], ""],
    [[], "a"],
  ])("the tools %j are within the scope %j", (tools, scope) => {
    expect(scoped(tools, scope)).toBeUndefined();
  });

  test.each([
    [["a", "c"], "a,b"],
    [["a"], ""],
    [["a"], "ab"],
    [["a,b"], "a,b"],
    [["A"], "a"],
  ])("the tools %j are not within the scope %j", (tools, scope) => {
    expect(scoped(tools, scope)).toBe("receipt.out_of_scope");
  });
});

describe("a warning leaves the receipt valid", () => {
  const warnings = (receipt: ExecutionReceipt, options: VerifyReceiptOptions) => {
    const { valid, code, checks } = verifyReceipt(receipt, { ...registered, ...options });
    expect({ valid, code }).toEqual({ valid: true, code: undefined });
    return checks.filter(({ ok }) => !ok).map((check) => [check.name, check.code]);
  };
  const elsewhere = sha256Hex("something else");
  const { completed_at } = buildBody();

  test("the result_hash of another result leads to a warning", () => {
    expect(warnings(buildSignedReceipt({ result_hash: elsewhere }), {})).toEqual([
      ["result_hash", "receipt.result_hash_mismatch"],
    ]);
  });

  test("the prompt_hash of another prompt leads to a warning when the prompt is known", () => {
    expect(warnings(buildSignedReceipt({ prompt_hash: elsewhere }), {})).toEqual([]);
    expect(warnings(buildSignedReceipt({ prompt_hash: elsewhere }), { prompt })).toEqual([
      ["prompt_hash", "receipt.prompt_hash_mismatch"],
    ]);
  });

  test("a completion over a minute ahead of the clock leads to a warning when the clock is known", () => {
    expect(warnings(buildSignedReceipt(), { now: completed_at - 60_000 })).toEqual([]);
    expect(warnings(buildSignedReceipt(), { now: completed_at - 60_001 })).toEqual([
      ["clock", "receipt.completed_in_future"],
    ]);
    expect(warnings(buildSignedReceipt(), { now: completed_at * 2 })).toEqual([]);
  });
});

describe("nested receipts are verified separately", () => {
  const nestedIn = (...nested: unknown[]) =>
    buildSignedReceipt({ delegation_receipts: nested as ExecutionReceipt[] });

  test("of several nested receipts only the invalid one is refused", () => {
    const good = buildSignedReceipt();
    const verdict = verifyReceipt(
      nestedIn(good, { ...good, result: "changed" }, { task_id: 1 }, good),
      registered,
    );
    expect(verdict.valid).toBe(true);
    expect(verdict.nested.map(({ code }) => code)).toEqual([
      undefined,
      "receipt.signature_invalid",
      "receipt.malformed",
      undefined,
    ]);
  });

  test("the task and the prompt are checked for the outermost receipt only", () => {
    const inner = buildSignedReceipt({
      task_id: "inner",
      relay_task_id: "inner",
      prompt_hash: sha256Hex("?"),
    });
    const verdict = verifyReceipt(nestedIn(inner), { ...registered, prompt });
    const alone = verifyReceipt(inner);
    const checks = [...alone.checks, { name: "nested_span", ok: true }];
    expect(verdict.nested[0]).toEqual({ ...alone, checks });
  });

  test("each nested receipt is verified by the keys of its own agent", () => {
    const inner = signReceipt(buildBody({ public_key: bob.publicKey }), bob.secretKey);
    const outer = nestedIn(inner);
    const codeWith = (findKeys: VerifyReceiptOptions["findKeys"]) =>
      verifyReceipt(outer, { ...registered, findKeys }).nested[0]?.code;
    expect(codeWith(undefined)).toBeUndefined();
    expect(codeWith(() => bob.publicKey)).toBeUndefined();
    expect(codeWith(() => undefined)).toBeUndefined();
    expect(codeWith(() => alice.publicKey)).toBe("receipt.signature_invalid");
    expect(codeWith(() => [])).toBe("receipt.key_missing");
  });

  test("no receipt is verified inside a refused one", () => {
    const outer = nestedIn({ ...nestedIn(buildSignedReceipt()), result: "changed" });
    const verdict = verifyReceipt(outer, registered);
    expect(verdict.nested.map(({ nested }) => nested)).toEqual([[]]);
    expect(verifyReceipt({ ...outer, result: "changed" }, registered).nested).toEqual([]);
  });

  test.each([
    [10, 10],
    [11, 10],
    [12, 10],
  ])("of %i nested hops, %i are verified", async (hops, verified) => {
    const chain = buildChain(hops);
    expect(await verifyReceiptAsync(chain, registered)).toEqual(verifyReceipt(chain, registered));
    let verdict = verifyReceipt(chain, registered);
    let depth = 0;
    for (; verdict.nested[0]; depth++) verdict = verdict.nested[0];
    expect(depth).toBe(verified);
    expect(verdict.valid).toBe(true);
    const limited = { name: "hops", ok: false, code: "receipt.too_many_hops" };
    expect(verdict.checks.filter(({ ok }) => !ok)).toEqual(hops > verified ? [limited] : []);
  });
});

describe("the verifier does not throw", () => {
  test.each([undefined, null, 1, "", "null", [], {}, () => 1, Symbol("x"), new Map()])(
    "the verifier does not throw for %o",
    async (value) => {
      const refused = {
        valid: false,
        code: "receipt.malformed",
        checks: [{ name: "structure", ok: false, code: "receipt.malformed" }],
        nested: [],
      };
      expect(verifyReceipt(value as object)).toEqual(refused);
      expect(await verifyReceiptAsync(value as object)).toEqual(refused);
    },
  );

  test("a receipt's text is verified like its value", () => {
    expect(verifyReceipt(JSON.stringify(buildChain(2)), registered)).toEqual(
      verifyReceipt(buildChain(2), registered),
    );
  });

  test("members called __proto__ and toJSON are covered as data", () => {
    const odd = JSON.parse('{"__proto__":{"a":1},"toJSON":1}') as object;
    const text = JSON.stringify(signReceipt({ ...buildBody(), ...odd }, alice.secretKey));
    expect(text).toContain('"__proto__":{"a":1}');
    expect(verifyReceipt(text, registered).valid).toBe(true);
    expect(verifyReceipt(text.replace('{"a":1}', '{"a":2}'), registered).code).toBe(
      "receipt.signature_invalid",
    );
  });
});
