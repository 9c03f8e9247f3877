import { canonicalize, hexToDidKey, sha256Hex, signJson } from "@agent/crypto";
import {
  type ExecutionReceipt,
  hashReceipt,
  signNoShowRecord,
  signReceipt,
  signSettlementRecord,
} from "@agent/receipts";
import { rankAndRecord, type Candidate, type RoutingRecord } from "@agent/routing-semiring";
import { createSeededRandom } from "@agent/testkit";
import { describe, expect, test } from "vitest";
import {
  attacks,
  bundle,
  elsewhere,
  evidence,
  executor,
  forwarded,
  had,
  hands,
  relay,
  resigned,
  stranger,
  text,
} from "../../test/attacks.ts";
import { createDelegation, START_TIME } from "../../test/create-delegation.ts";
import {
  formatBundle,
  type EvidenceBundle,
  type KeyRecord,
  type NestedTask,
  formatReport,
  type ProofLevelName,
  PROOF_LEVELS,
  signBundle,
  verifyArtifact,
  verifyBundle,
} from "../index.ts";

/** The proof levels that need no transparency log. */
const unlogged = PROOF_LEVELS.filter(({ name }) => name !== "logged" && name !== "witnessed");

const failing = (input: unknown) => {
  const { valid, code, checks } = verifyBundle(input);
  return { valid, code, levels: checks.filter(({ ok }) => !ok).map(({ name }) => name) };
};

describe("the evidence of a finished task", () => {
  test("the evidence of a finished task passes every proof level without the relay", () => {
    const verdict = verifyBundle(text, { publicKey: relay.publicKey });
    expect(verdict).toMatchObject({ kind: "bundle", valid: true });
    expect(verdict.checks).toEqual(unlogged.map(({ name }) => ({ name, ok: true })));
    expect(verdict.nested.map(({ kind }) => kind)).toEqual(["receipt", "credential"]);
    expect(verifyArtifact(text, { publicKey: relay.publicKey })).toEqual(verdict);
  });

  test.each<[string, string]>([
    ["a did:key", hexToDidKey(relay.publicKey)],
    ["upper-case hex", relay.publicKey.toUpperCase()],
    ["a key of the relay", `${relay.publicKey}=relay`],
  ])("evidence is valid under the relay's key named as %s", (_, publicKey) => {
    expect(verifyArtifact(text, { publicKey })).toMatchObject({ valid: true });
    expect(verifyBundle(text, { publicKey: [publicKey] })).toMatchObject({ valid: true });
  });

  test("the evidence is verified alike as a value, in any order of its members", () => {
    const reordered = Object.fromEntries(Object.entries(bundle).reverse());
    expect(verifyBundle(reordered)).toEqual(verifyBundle(text));
  });

  test("the evidence of a free task contains no settlement", () => {
    const free = createDelegation(createSeededRandom(9), { price: 0, credential: false });
    const { valid, checks } = verifyBundle(formatBundle(signBundle(free.evidence, free.relay)));
    expect(valid).toBe(true);
    expect(checks.some(({ name }) => name === "settled")).toBe(false);
  });

  test.each(["failed", "denied"] as const)(
    "the evidence of a %s task contains the refund",
    (status) => {
      const refunded = createDelegation(createSeededRandom(9), { price: 2, status });
      const verdict = verifyBundle(formatBundle(signBundle(refunded.evidence, refunded.relay)));
      expect(verdict.valid).toBe(true);
      expect(verdict.checks).toContainEqual({ name: "settled", ok: true });
    },
  );

  test("the evidence contains the attestation of the relay whose agent did the task", () => {
    const verdict = verifyBundle(formatBundle(forwarded));
    expect(verdict).toMatchObject({ valid: true });
    expect(verdict.checks).toEqual(unlogged.map(({ name }) => ({ name, ok: true })));
  });

  test("the evidence contains the payment from the hold of the relay that forwarded the task", () => {
    const held = `held:${evidence.task.task_id}`;
    const rows: [string, string, number][] = [
      [held, "settlement_credit", -1.9],
      [`agent:${evidence.receipt.agent_id}`, "settlement_credit", 1.9],
      [held, "fee", -0.1],
      ["relay:fees", "fee", 0.1],
    ];
    const postings = rows.map(([account, type, amount]) => ({
      ...evidence.postings[0]!,
      account,
      type,
      amount,
    }));
    expect(verifyBundle(had({ postings })).checks).toContainEqual({ name: "settled", ok: true });
    expect(failing(had({ postings: postings.slice(2) })).code).toBe("bundle.postings_mismatch");
  });

  test("the evidence stays valid when its credential has expired", () => {
    const years = 5 * 365 * 86_400_000;
    expect(verifyBundle(text, { now: START_TIME + years }).valid).toBe(true);
  });

  test("three hops with prompts and results of 1 KiB stay under 32 KiB", () => {
    const random = createSeededRandom(10);
    const wishes = { hops: 4, keys: 2, price: 2, credential: true, textLength: 1_024 };
    const { evidence: large, relay: voucher } = createDelegation(random, wishes);
    const { length } = new TextEncoder().encode(formatBundle(signBundle(large, voucher)));
    expect(length).toBeGreaterThan(10_000);
    expect(length).toBeLessThan(32_768);
  });
});

describe("a text that is not the bundle's canonical JSON is refused:", () => {
  test.each([
    ["a line end behind it", `${text}\n`],
    ["a blank inside", text.replace(":", ": ")],
    ["members in another order", JSON.stringify(Object.fromEntries(Object.entries(bundle)))],
    ["an escape that need not be", text.replace("read_file", String.raw`re\u0061d_file`)],
  ])("the text of a bundle is refused with %s", (_, changed) => {
    expect(changed).not.toBe(text);
    expect(verifyBundle(changed).valid).toBe(false);
    expect(["bundle.not_canonical", "bundle.malformed"]).toContain(verifyBundle(changed).code);
  });

  test("a bundle with a member named twice is refused", () => {
    expect(failing(text.replace("{", `{"suite":"${bundle.suite}",`)).code).toBe("bundle.malformed");
  });
});

describe("members that the relay did not sign are refused", () => {
  test.each(Object.keys(bundle).filter((name) => name !== "signature"))(
    "a bundle without %s is refused",
    (name) => {
      const { [name as keyof EvidenceBundle]: _, ...rest } = bundle;
      expect(verifyBundle(rest).valid).toBe(false);
    },
  );

  test.each<[string, object]>([
    ["a member added", { note: 1 }],
    ["another time", { created_at: bundle.created_at + 1 }],
    ["another prompt", { task: { ...bundle.task, prompt: "?" } }],
    ["no settlement", { settlements: [] }],
    ["a signature of another", { signature: signJson(bundle, stranger.secretKey).signature }],
  ])("a bundle with a member that the relay did not sign is refused: %s", (_, changes) => {
    expect(failing({ ...bundle, ...changes })).toEqual({
      valid: false,
      code: "bundle.signature_invalid",
      levels: ["intact"],
    });
  });

  test("the evidence of another task than the expected one is refused", () => {
    expect(verifyBundle(text, { taskId: evidence.task.task_id }).valid).toBe(true);
    const { code, checks } = verifyBundle(text, { taskId: "another" });
    expect(code).toBe("bundle.task_mismatch");
    expect(checks).toContainEqual({ name: "task_bound", ok: false, code });
  });

  test("the evidence of another relay than the expected one is refused", () => {
    const { code, checks } = verifyBundle(text, { publicKey: stranger.publicKey });
    expect(code).toBe("artifact.key_unbound");
    expect(checks.at(-1)).toEqual({ name: "key_bound", ok: false, code });
  });
});

describe("the relay's signature does not make an invalid part valid:", () => {
  test.each(attacks)("a bundle with %s fails at %s with %s", (_, level, code, changed) => {
    expect(failing(changed)).toEqual({ valid: false, code, levels: [level] });
  });
});

describe("the records of choices", () => {
  const known = (agent_id: string, unit_cost: number): Candidate => ({
    agent_id,
    capabilities: ["summarise"],
    unit_cost,
    trust_score: 0.3,
    blocked: false,
    successes: 0,
    counted: 0,
    avg_latency_ms: null,
    listing_latency_ms: null,
    online: true,
    availability_guarantee: null,
  });
  const routed = (latency: number): Candidate => ({
    ...known("a", 0),
    listing_latency_ms: 1,
    route: { trust: 1, cost: 0, latency, reliability: 1, path: ["self", "a"] },
  });
  const candidates = [known(evidence.receipt.agent_id, 2), known(stranger.signer.agent_id, 3)];
  const { record } = rankAndRecord(candidates, { requiredCapabilities: ["summarise"], seed: 7 });
  const hashOf = (value: object) => sha256Hex(canonicalize(value));
  const chosen = (changes: object = {}, given: object = record) =>
    had({
      routing: {
        ...evidence.routing,
        choice: record.choice,
        record_hash: hashOf(given),
        record: given as RoutingRecord,
        ...changes,
      },
    });

  test("the stored record of a choice leads to the same choice", () => {
    expect(verifyBundle(formatBundle(chosen()))).toMatchObject({ valid: true });
  });

  test("the stored record of a choice may be left out while its hash remains", () => {
    const { routing } = chosen();
    const { record: _, ...named } = routing;
    expect(verifyBundle(had({ routing: named })).valid).toBe(true);
  });

  test("the stored record of a choice is not checked if it follows rules of another version", () => {
    const later = { ...record, algorithm: "agent-routing@6", choice: null };
    expect(verifyBundle(chosen({}, later)).valid).toBe(true);
  });

  test("A12: the stored record of a choice leads to the same choice under its price cap", () => {
    const wanted = { requiredCapabilities: ["summarise"], seed: 7, priceCap: 2 };
    const { record: capped } = rankAndRecord(candidates, wanted);
    expect(verifyBundle(formatBundle(chosen({ choice: capped.choice }, capped)))).toMatchObject({
      valid: true,
    });
    const raised = { ...capped, price_cap: 1 };
    expect(verifyBundle(formatBundle(chosen({ choice: capped.choice }, raised))).valid).toBe(false);
  });

  test("G3: the stored record of a choice leads to the same choice from an excerpt of many candidates", () => {
    const many = Array.from({ length: 1_001 }, (_, i) => known(`agent-${i}`, 3));
    const { record: cut } = rankAndRecord([...candidates, ...many], {
      requiredCapabilities: ["summarise"],
      hashInputs: () => "0".repeat(64),
    });
    expect(cut.candidates).toHaveLength(100);
    const choice = cut.choice;
    expect(verifyBundle(formatBundle(chosen({ choice }, cut)))).toMatchObject({ valid: true });
    const fewer = { ...cut, excerpt: { ...cut.excerpt, eligible: 200 } };
    expect(verifyBundle(formatBundle(chosen({ choice }, fewer))).valid).toBe(false);
  });

  test.each<[string, EvidenceBundle]>([
    ["of another hash", chosen({ record_hash: "0".repeat(64) })],
    ["without a hash", chosen({ record_hash: undefined })],
    ["of other candidates", chosen({}, { ...record, candidates: candidates.slice(1) })],
    ["of other prices", chosen({}, { ...record, candidates: [known("a", 1), ...candidates] })],
    ["of another weight", chosen({}, { ...record, weights: { ...record.weights, trust: 9 } })],
    ["without weight", chosen({}, { ...record, weights: { ...record.weights, trust: -1 } })],
    ["a route of negative latency", chosen({}, { ...record, candidates: [routed(-5_001)] })],
    ["of another choice", chosen({ choice: { ...record.choice, composite_score: 1 } })],
    ["without a choice", chosen({ choice: null })],
  ])("the stored record of a choice %s is refused", (_, changed) => {
    const read = JSON.parse(JSON.stringify(changed)) as object;
    expect(failing(signJson(read, relay.secretKey))).toMatchObject({
      valid: false,
      code: "bundle.routing_mismatch",
      levels: ["hashes_match"],
    });
  });

  test.each<[string, object]>([
    ["candidates", { candidates: [{}] }],
    ["a graph", { graph: [1] }],
    ["a way", { candidates: [{ ...candidates[0], route: { path: [] } }] }],
    ["weights", { weights: null }],
  ])("the stored record of a choice is malformed with an invalid %s", (_, change) => {
    expect(failing(chosen({}, { ...record, ...change })).code).toBe("bundle.malformed");
  });
});

describe("a warning leaves the evidence valid:", () => {
  const { receipt } = evidence;
  const rebuilt = (changes: object) => {
    const changed = signReceipt({ ...receipt, ...changes }, executor.secretKey);
    const settlements = evidence.settlements.map((record) =>
      signSettlementRecord({ ...record, receipt_hash: hashReceipt(changed) }, relay.secretKey),
    );
    return had({ receipt: changed, settlements });
  };

  test.each<[string, ProofLevelName, object]>([
    ["the hash of another prompt", "hashes_match", { prompt_hash: "0".repeat(64) }],
    ["the hash of another result", "hashes_match", { result_hash: "0".repeat(64) }],
    [
      "a nested receipt that was changed",
      "nested",
      {
        delegation_receipts: [{ ...receipt.delegation_receipts![0]!, result: "changed" }],
      },
    ],
    [
      "a nested receipt of an unknown agent",
      "nested",
      {
        delegation_receipts: [
          signReceipt(
            { ...receipt, agent_id: stranger.signer.agent_id, delegation_receipts: [] },
            stranger.secretKey,
          ),
        ],
      },
    ],
  ])("the evidence stays valid with a warning for %s", (_, level, changes) => {
    expect(failing(rebuilt(changes))).toEqual({ valid: true, code: undefined, levels: [level] });
  });

  test.each<[string, number, ProofLevelName[]]>([
    ["at its own task's submission leads to a warning", 1, ["nested"]],
    ["after its own task's submission is valid", 2, []],
  ])("a nested receipt by a key that ended %s", (_, after, levels) => {
    const [, inner] = hands as [(typeof hands)[0], (typeof hands)[0]];
    const valid_until = START_TIME + after;
    const signers = evidence.signers.map((signer) =>
      signer.agent_id === inner.signer.agent_id
        ? { ...signer, keys: signer.keys.map((key) => ({ ...key, valid_until })) }
        : signer,
    );
    expect(failing(resigned({ signers }))).toEqual({ valid: true, code: undefined, levels });
  });
});

describe("D4: the relay's records of nested tasks", () => {
  const stated = evidence.nested_tasks!;
  const change = (index: number, changes: object) =>
    stated.map((task, at) => (at === index ? { ...task, ...changes } : task));

  test.each<[string, NestedTask[]]>([
    [
      "another agent submitted the nested task",
      change(0, { submitted_by: stranger.signer.agent_id }),
    ],
    ["the operator submitted it", change(0, { submitted_by: null })],
    ["another agent did it", change(1, { executor: stranger.signer.agent_id })],
    [
      "the task is no business of the participants",
      change(1, { submitted_by: null, executor: null }),
    ],
  ])("D4: hop_bound fails when %s, and the work itself stays valid", (_, nested_tasks) => {
    const verdict = verifyBundle(had({ nested_tasks }));
    expect(verdict.valid).toBe(true);
    expect(verdict.checks.filter(({ ok }) => !ok)).toEqual([
      { name: "hop_bound", ok: false, code: "bundle.hop_mismatch" },
    ]);
  });

  test("D4: hop_bound fails when a nested receipt names the relay's task beside another one", () => {
    const { receipt } = evidence;
    const [inner] = receipt.delegation_receipts as [ExecutionReceipt];
    const borrowed = signReceipt({ ...inner, task_id: "another" }, hands[1]!.secretKey);
    const changed = signReceipt(
      { ...receipt, delegation_receipts: [borrowed] },
      executor.secretKey,
    );
    expect(failing(had({ receipt: changed, settlements: [], postings: [] }))).toEqual({
      valid: true,
      code: undefined,
      levels: ["hop_bound"],
    });
  });

  test("D4: hop_bound is missing without nested receipts", () => {
    const { evidence: short, relay: voucher } = createDelegation(createSeededRandom(9), {
      hops: 1,
    });
    const { valid, checks } = verifyBundle(signBundle(short, voucher));
    expect(valid).toBe(true);
    expect(checks.some(({ name }) => name === "hop_bound")).toBe(false);
  });

  test.each<[string, NestedTask[] | undefined]>([
    ["nothing, as relays of the version before", undefined],
    ["nothing of one task, which is at another relay", stated.slice(1)],
  ])("D4: hop_bound is missing when the relay states %s", (_, nested_tasks) => {
    const { nested_tasks: _all, ...before } = evidence;
    const verdict = verifyBundle(
      signBundle({ ...before, ...(nested_tasks && { nested_tasks }) }, relay),
    );
    expect(verdict.valid).toBe(true);
    expect(verdict.checks.some(({ name }) => name === "hop_bound")).toBe(false);
  });
});

describe("G4: a bundle whose receipt was completed after the end of its key", () => {
  const { receipt, task } = evidence;
  const [former, present] = executor.signer.keys as [KeyRecord, KeyRecord];
  const left = task.submitted_at + 1;
  const completed = (completed_at: number) => {
    const late = signReceipt({ ...receipt, completed_at }, executor.secretKey);
    const signers = evidence.signers.map((signer) =>
      signer.agent_id === executor.signer.agent_id
        ? { ...signer, keys: [former, { ...present, valid_until: left }] }
        : signer,
    );
    const received_at = START_TIME + 1_800_000;
    return had({ receipt: late, signers, settlements: [], postings: [], received_at });
  };

  test("G4: a receipt that was completed five minutes or more after the end of its key is refused", () => {
    expect(failing(completed(left + 300_000)).code).toBe("bundle.key_not_in_force");
  });

  test("G4: a receipt that was completed within five minutes after the end of its key is valid", () => {
    expect(failing(completed(left + 299_999)).code).toBeUndefined();
  });
});

test("a device's key counts while the device is the agent's", () => {
  const { receipt } = evidence;
  const changed = signReceipt({ ...receipt, public_key: stranger.publicKey }, stranger.secretKey);
  const withDevice = (valid_until: number | null) => {
    const device = {
      device_id: "device",
      public_key: stranger.publicKey,
      valid_from: START_TIME,
      valid_until,
    };
    const [signer, ...others] = evidence.signers;
    return had({
      receipt: changed,
      settlements: [],
      postings: [],
      signers: [{ ...signer!, devices: [device] }, ...others],
    });
  };
  expect(failing(withDevice(null)).valid).toBe(true);
  const { received_at } = evidence;
  expect(failing(withDevice(received_at + 1)).valid).toBe(true);
  expect(failing(withDevice(received_at)).code).toBe("bundle.key_not_in_force");
});

describe("the verifier does not throw:", () => {
  test.each([undefined, null, 1, "", "null", "{}", [], {}, () => 1, Symbol("x"), new Map()])(
    "the verifier does not throw for %o",
    (value) => {
      expect(verifyBundle(value)).toMatchObject({ kind: "bundle", code: "bundle.malformed" });
    },
  );

  test.each(Object.keys(bundle))(
    "the verifier does not throw for %s replaced by anything else",
    (name) => {
      const odd = [null, 0, "", [], {}, [null], { a: 1 }, "\ud800", Infinity, new Date(0)];
      const taken = odd.filter((value) => {
        const changed = { ...bundle, [name]: value };
        const verdict = verifyBundle(changed);
        formatReport(verdict, changed, { explain: true });
        return verdict.valid;
      });
      expect(taken).toEqual([]);
    },
  );
});

describe("B2: earlier executors that let their claims end", () => {
  const missed = (task_id = evidence.task.task_id, secretKey = relay.secretKey) => ({
    no_shows: [
      signNoShowRecord(
        {
          task_id,
          agent_id: stranger.signer.agent_id,
          claimed_at: START_TIME,
          lapsed_at: START_TIME + 60_000,
          wall_clock_ms: null,
          priced: true,
          issuer: bundle.issuer,
        },
        secretKey,
      ),
    ],
  });

  test("B2: earlier executors are listed in the bundle by the relay's own records", () => {
    expect(verifyBundle(had(missed()))).toMatchObject({ valid: true });
  });

  test.each([
    ["of another task", missed("another"), "bundle.no_show_mismatch"],
    ["by another key", missed(undefined, elsewhere.secretKey), "no_show.signature_invalid"],
  ])("B2: the records of earlier executors are refused %s", (_, changes, code) => {
    expect(failing(had(changes)).code).toBe(code);
  });
});
