import { bytesToHex, generateKeyPair, sha256Hex } from "@agent/crypto";
import { type ExecutionReceipt, signReceipt } from "@agent/receipts";
import { createSeededRandom } from "@agent/testkit";
import { describe, expect, test } from "vitest";
import { evidence, executor, had, relay, resigned } from "../../test/attacks.ts";
import { createTestSigner, START_TIME } from "../../test/create-delegation.ts";
import { verifyBundle } from "../index.ts";

const random = createSeededRandom(33);

/** An agent with devices of one key each, the last of which signs. */
function createAgentWithDevices(devices: number, keys: number) {
  const { signer } = createTestSigner(random, keys);
  const pairs = Array.from({ length: devices }, () => generateKeyPair(random.randomBytes(32)));
  const terms = pairs.map(({ publicKey }, index) => ({
    device_id: `device-${index}`,
    public_key: bytesToHex(publicKey),
    valid_from: START_TIME - 1_000,
    valid_until: null,
  }));
  const last = terms.at(-1)!;
  return { signer: { ...signer, devices: terms }, last, secretKey: pairs.at(-1)!.secretKey };
}

const { delegation_receipts: _, public_key: __, ...own } = evidence.receipt;
const result = { result: "", result_hash: sha256Hex("") };

/** Returns the verdict on evidence whose receipt has this many receipts of the agent in it. */
function verifyNested(
  { signer, secretKey }: ReturnType<typeof createAgentWithDevices>,
  count: number,
  changes: Partial<ExecutionReceipt>,
) {
  const nested = Array.from({ length: count }, (___, index) =>
    signReceipt(
      { ...own, ...result, agent_id: signer.agent_id, task_id: `task-${index}`, ...changes },
      secretKey,
    ),
  );
  const receipt = signReceipt(
    { ...own, public_key: executor.publicKey, delegation_receipts: nested },
    executor.secretKey,
  );
  const signers = [executor.signer, signer];
  const changed = had({ receipt, signers, nested_tasks: [], settlements: [], postings: [] });
  const verdict = verifyBundle(changed, { publicKey: relay.publicKey });
  return { verdict, inner: verdict.nested[0]?.nested.map(({ valid }) => valid) };
}

describe("the receipts of an agent with 33 keys and 1,000 devices", () => {
  const agent = createAgentWithDevices(1_000, 33);

  test.each<[string, number, Partial<ExecutionReceipt>]>([
    ["of which 256 name their key", 256, { public_key: agent.last.public_key }],
    ["of which 256 name their device", 256, { device_id: agent.last.device_id }],
    ["of which 3 name neither", 3, {}],
  ])("the receipts are all valid, %s", { timeout: 60_000 }, (_name, count, changes) => {
    const { verdict, inner } = verifyNested(agent, count, changes);
    expect(verdict.code).toBeUndefined();
    expect(inner).toEqual(Array.from({ length: count }, () => true));
  });
});

test("receipts that name neither key nor device count until 4,096 keys have been tried", () => {
  const { verdict, inner } = verifyNested(createAgentWithDevices(127, 1), 100, {});
  // The agent's own key and 127 devices are tried for each.
  expect(inner).toEqual(Array.from({ length: 100 }, (_name, index) => index < 32));
  // An executor cannot make evidence invalid by receipts that it adds.
  expect(verdict.valid).toBe(true);
  expect(verdict.checks).toContainEqual({
    name: "nested",
    ok: false,
    code: "receipt.nested_refused",
  });
});

test("a text of more than 64 KiB counts as several tries", () => {
  const long = { result: "x".repeat(4 * 65_536) };
  const { inner } = verifyNested(createAgentWithDevices(511, 1), 3, long);
  expect(inner).toEqual([true, false, false]);
});

test("an own key, the newest first, is tried before the keys of other devices", () => {
  const signer = createTestSigner(random, 2);
  const devices = createAgentWithDevices(127, 1).signer.devices;
  const agent = { ...signer, signer: { ...signer.signer, devices }, last: devices[0]! };
  const { inner } = verifyNested(agent, 100, {});
  expect(inner).toEqual(Array.from({ length: 100 }, () => true));
});

describe("a receipt that names no key, of an agent with several keys", () => {
  const { signature, ...unsigned } = own as ExecutionReceipt;
  const timeless = { completed_at: [{ toString: 1 }] };

  test.each<[string, object]>([
    ["no signature", unsigned],
    ["a signature that is null", { ...unsigned, signature: null }],
    ["a signature that is no text", { ...unsigned, signature: { length: 5 } }],
    ["a time that is no number", { ...unsigned, signature, ...timeless }],
    ["no member at all", {}],
  ])("TL19 a receipt with %s is refused without throwing", (___, receipt) => {
    const { valid, code, checks } = verifyBundle(resigned({ receipt }));
    expect({ valid, code }).toEqual({ valid: false, code: "receipt.malformed" });
    expect(checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(["well_formed"]);
  });
});
