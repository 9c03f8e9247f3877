import { fromBase64Url, sha256Hex, toBase64Url } from "@agent/crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  openReceiptFixture,
  matchRefusal,
  type ReceiptChange,
  type ReceiptFixture,
} from "../../test/receipt-fixture.ts";

/** The balances of boss and worker once the task is paid for. */
const paid = [8, 1.9];

let s: ReceiptFixture;
beforeEach(async () => {
  s = await openReceiptFixture();
});
afterEach(() => s.t.close());

const badSignature = matchRefusal(403, "receipt.signature_invalid");
const malformed = matchRefusal(400, "receipt.malformed");
const mismatch = matchRefusal(400, "receipt.task_mismatch");
const badSuite = matchRefusal(403, "receipt.suite");
const badSpan = matchRefusal(400, "receipt.span");

describe("a member that changed after signing", () => {
  const changes: [member: string, change: object, expected: object][] = [
    ["task_id", { task_id: "other" }, mismatch],
    [
      "agent_id",
      { agent_id: "019b7d21-53eb-7ccd-926c-3badff397897" },
      matchRefusal(403, "receipt.wrong_agent"),
    ],
    ["public_key", { public_key: "ab".repeat(32) }, badSignature],
    ["device_id", { device_id: "other" }, badSignature],
    ["submitted_at", { submitted_at: 1_760_000_000_001 }, badSignature],
    ["completed_at", { completed_at: 1_760_000_000_001 }, badSignature],
    ["status", { status: "denied" }, badSignature],
    ["result", { result: "Done" }, badSignature],
    ["tools_used", { tools_used: ["a"] }, badSignature],
    ["memories_formed", { memories_formed: 1 }, badSignature],
    ["prompt_hash", { prompt_hash: "ab".repeat(32) }, badSignature],
    ["result_hash", { result_hash: "ab".repeat(32) }, badSignature],
    ["relay_task_id", { relay_task_id: "other" }, mismatch],
    ["suite", { suite: "agent-jcs-ed25519-b64-v2" }, badSuite],
    ["an added member", { colour: "red" }, badSignature],
    ["an added delegated_scope", { delegated_scope: "a" }, badSignature],
    ["an added nested receipt", { delegation_receipts: [] }, badSignature],
  ];
  test.each(changes)(
    "RC8 a receipt with a changed member is refused: %s",
    async (_, change, expected) => {
      expect(await s.expectNoEffect(() => s.post({ ...s.receipt(), ...change }))).toMatchObject(
        expected,
      );
    },
  );

  test.each([
    "task_id",
    "agent_id",
    "device_id",
    "submitted_at",
    "completed_at",
    "status",
    "result",
  ])("RC8 a receipt without a required member is refused as malformed: %s", async (member) => {
    expect(
      await s.expectNoEffect(() => s.post({ ...s.receipt(), [member]: undefined })),
    ).toMatchObject(malformed);
  });

  test("RC8 a receipt is refused when an optional member is removed after signing", async () => {
    const full = s.receipt({ delegated_scope: "a" });
    expect(
      await s.expectNoEffect(() => s.post({ ...full, delegated_scope: undefined })),
    ).toMatchObject(badSignature);
  });
});

describe("the suite", () => {
  test.each([
    ["missing", undefined],
    ["unknown", "agent-jcs-ed25519-b64-v2"],
    ["empty", ""],
    ["null", null],
    ["a number", 1],
    ["upper case", "AGENT-JCS-ED25519-B64-V1"],
    ["padded", "agent-jcs-ed25519-b64-v1 "],
    ["in an array", ["agent-jcs-ed25519-b64-v1"]],
  ])("RC9 a suite that is %s is refused, though the signature covers it", async (_, suite) => {
    expect(await s.expectNoEffect(() => s.post(s.signed(s.unsigned({ suite }))))).toMatchObject(
      badSuite,
    );
  });
});

describe("the signature", () => {
  const bytes = () => fromBase64Url(s.receipt().signature);
  const text = (signature: Uint8Array) => toBase64Url(signature);

  test("RC10 a signature with S + L in place of S is refused", async () => {
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const malleable = bytes();
    let scalar = order;
    for (let i = 32; i < 64; i += 1) scalar += BigInt(malleable[i]!) << BigInt(8 * (i - 32));
    for (let i = 32; i < 64; i += 1, scalar >>= 8n) malleable[i] = Number(scalar & 0xffn);
    expect(
      await s.expectNoEffect(() => s.post({ ...s.receipt(), signature: text(malleable) })),
    ).toMatchObject(badSignature);
  });

  test.each<[string, (r: Uint8Array) => void]>([
    ["the identity", (r) => r.fill(0).set([1])],
    ["not canonical", (r) => r.fill(0xff)],
    ["no curve point", (r) => r.fill(0).set([2])],
  ])("RC10 a signature whose R is %s is refused", async (_, spoil) => {
    const spoilt = bytes();
    spoil(spoilt.subarray(0, 32));
    expect(
      await s.expectNoEffect(() => s.post({ ...s.receipt(), signature: text(spoilt) })),
    ).toMatchObject(badSignature);
  });

  test("RC11 a signature has exactly one spelling: 15 other texts of the same bytes are refused", async () => {
    const { signature } = s.receipt();
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const last = alphabet.indexOf(signature.at(-1)!);
    const codes = [];
    for (let spelling = last + 1; spelling < last + 16; spelling += 1) {
      const other = signature.slice(0, -1) + alphabet[spelling]!;
      codes.push((await s.post({ ...s.receipt(), signature: other })).body["code"]);
    }
    expect(codes).toEqual(codes.map(() => "receipt.signature_invalid"));
    expect(await s.balancesAfter()).toEqual(paid);
  });

  test.each<[string, (signature: string) => unknown, object]>([
    ["padded", (s) => `${s}==`, badSignature],
    ["with a line break", (s) => `${s}\n`, badSignature],
    ["with a line break inside", (s) => `${s.slice(0, 40)}\r\n${s.slice(40)}`, badSignature],
    ["with a blank", (s) => ` ${s}`, badSignature],
    ["in hex", (s) => Buffer.from(s, "base64url").toString("hex"), badSignature],
    ["in plain base64", (s) => Buffer.from(s, "base64url").toString("base64"), badSignature],
    ["cut short", (s) => s.slice(0, -1), badSignature],
    ["empty", () => "", malformed],
    ["missing", () => undefined, malformed],
    ["null", () => null, malformed],
    ["in an array", (s) => [s], malformed],
  ])("RC11 a signature is refused when it is written: %s", async (_, spell, expected) => {
    const whole = s.receipt();
    expect(
      await s.expectNoEffect(() => s.post({ ...whole, signature: spell(whole.signature) })),
    ).toMatchObject(expected);
  });
});

describe("the times", () => {
  const spanned = (ms: number) => s.receipt({ completed_at: s.task.submitted_at + ms });

  test.each([-60_001, 3_600_001, -1_000_000_000, 1_000_000_000])(
    "RC12 times %i ms apart are refused",
    async (ms) => expect(await s.expectNoEffect(() => s.post(spanned(ms)))).toMatchObject(badSpan),
  );

  test.each([-60_000, 0, 3_600_000])("RC12 times %i ms apart are accepted", async (ms) => {
    expect(await s.balancesAfter(spanned(ms))).toEqual(paid);
  });

  test.each(['"1760000000000"', "1e309", "null", "1760000000000.5", "[1760000000000]", "true"])(
    "RC13 times written as %s are refused",
    async (written) => {
      const raw = JSON.stringify(s.receipt()).replace(
        /"completed_at":\d+/,
        `"completed_at":${written}`,
      );
      expect(await s.expectNoEffect(() => s.postText(raw))).toMatchObject(malformed);
    },
  );

  test("RC13 times in the distant past are accepted if their span is valid", async () => {
    expect(await s.balancesAfter(s.receipt({ submitted_at: 1_000, completed_at: 2_000 }))).toEqual(
      paid,
    );
  });
});

describe("the hashes", () => {
  const prompt_hash = sha256Hex("another prompt");

  test("RC14 the hash of another prompt without relay_task_id is refused and logged as such", async () => {
    const unbound = s.receipt({ prompt_hash, relay_task_id: undefined });
    expect(await s.expectNoEffect(() => s.post(unbound))).toMatchObject(mismatch);
    expect(s.t.listLogged("receipt.prompt_hash_mismatch")).toMatchObject([
      { correlationId: s.task.task_id },
    ]);
  });

  test("RC14 the hash of the right prompt without relay_task_id is refused without that log line", async () => {
    expect(
      await s.expectNoEffect(() => s.post(s.receipt({ relay_task_id: undefined }))),
    ).toMatchObject(mismatch);
    expect(s.t.listLogged("receipt.prompt_hash_mismatch")).toEqual([]);
  });

  test("RC14 the hash of another prompt with the right relay_task_id is accepted", async () => {
    expect(await s.balancesAfter(s.receipt({ prompt_hash }))).toEqual(paid);
  });

  test("RC15 the hash of another result is accepted, because checking it is up to the submitter", async () => {
    expect(await s.balancesAfter(s.receipt({ result_hash: sha256Hex("another result") }))).toEqual(
      paid,
    );
  });

  test.each(["", "AB".repeat(32), "ab".repeat(31), "0x" + "ab".repeat(31), 1, null])(
    "RC15 the hash %j is malformed",
    async (hash) =>
      expect(
        await s.expectNoEffect(() => s.post(s.signed(s.unsigned({ result_hash: hash })))),
      ).toMatchObject(malformed),
  );
});

describe("the content of a receipt", () => {
  test("RC21 a receipt with a lone surrogate is refused", async () => {
    const raw = JSON.stringify(s.receipt({ result: "done" })).replace('"done"', '"\\ud800"');
    expect(await s.expectNoEffect(() => s.postText(raw))).toMatchObject(malformed);
  });

  test("RC21 the last of two members with the same name counts", async () => {
    const honest = JSON.stringify(s.receipt());
    const twice = honest
      .replace("{", '{"status":"completed",')
      .replace(/"status":"completed"(?=,"result")/, '"status":"failed"');
    expect(await s.expectNoEffect(() => s.postText(twice))).toMatchObject(badSignature);
  });

  test("RC21 a member of any name is signed and kept like the others", async () => {
    const members = JSON.parse(
      '{"__proto__": {"polluted": 1}, "toJSON": "x", "constructor": {"prototype": {"polluted": 1}}}',
    ) as object;
    const whole = s.signed({ ...s.unsigned(), ...members, ["__proto__"]: { polluted: 1 } });
    const raw = JSON.stringify(whole);
    expect(raw).toContain('"__proto__":{"polluted":1}');
    await expectPaidText(raw);
    const { body } = await s.t.asOperator("GET", s.task.path);
    expect(JSON.stringify(body["receipt"])).toContain('"__proto__":{"polluted":1}');
    expect({}).not.toHaveProperty("polluted");
  });

  test("RC21 2^53 + 1 is read as 2^53, as by every parser of doubles", async () => {
    const raw = JSON.stringify(s.signed({ ...s.unsigned(), big: 2 ** 53 }));
    await expectPaidText(raw.replace("9007199254740992", "9007199254740993"));
  });

  test.each<[string, ReceiptChange, object]>([
    [
      "a tool outside delegated_scope",
      { tools_used: ["read", "write"], delegated_scope: "read" },
      matchRefusal(403, "receipt.out_of_scope"),
    ],
    [
      "a tool with an empty scope",
      { tools_used: ["read"], delegated_scope: "" },
      matchRefusal(403, "receipt.out_of_scope"),
    ],
  ])("RC22 a receipt with %s is refused", async (_, change, expected) => {
    expect(await s.expectNoEffect(() => s.post(s.receipt(change)))).toMatchObject(expected);
  });

  test("RC22 a receipt with every tool inside delegated_scope is accepted", async () => {
    expect(
      await s.balancesAfter(
        s.receipt({ tools_used: ["read", "write"], delegated_scope: "write, read" }),
      ),
    ).toEqual(paid);
  });

  test.each<[string, object]>([
    ["a status of its own", { status: "done" }],
    ["tools as text", { tools_used: "read" }],
    ["memories below 0", { memories_formed: -1 }],
    ["an agent_id that is no UUID", { agent_id: "worker" }],
    ["a key in upper case", { public_key: "AB".repeat(32) }],
    ["nested receipts as an object", { delegation_receipts: {} }],
    ["a result above 512 KiB", { result: "x".repeat(524_289) }],
  ])("a receipt with %s is refused", async (_, change) => {
    expect(await s.expectNoEffect(() => s.post(s.signed(s.unsigned(change))))).toMatchObject(
      malformed,
    );
  });

  test.each([
    ["nothing", "", "receipt.malformed"],
    ["an array", "[]", "request.invalid"],
    ["no JSON", "{", "request.malformed_json"],
    ["70 levels", `{"a":${"[".repeat(70)}${"]".repeat(70)}}`, "request.too_deep"],
  ])("a body that is %s is refused", async (_, raw, code) => {
    expect(await s.expectNoEffect(() => s.postText(raw))).toMatchObject(matchRefusal(400, code));
  });

  test("a receipt is at most 1 MiB long", async () => {
    const raw = JSON.stringify(s.receipt({ result: "x".repeat(1_048_576) }));
    expect(await s.expectNoEffect(() => s.postText(raw))).toMatchObject(
      matchRefusal(413, "request.too_large"),
    );
  });

  async function expectPaidText(raw: string): Promise<void> {
    expect(await s.postText(raw)).toMatchObject({ status: 200 });
    expect([await s.t.getBalance(s.boss), await s.t.getBalance(s.worker)]).toEqual(paid);
  }
});
