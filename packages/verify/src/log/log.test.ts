import { bytesToHex, didKeyToPublicKey, signJson, toBase64 } from "@agent/crypto";
import { flattenChain, signReceipt } from "@agent/receipts";
import { createSeededRandom } from "@agent/testkit";
import { ModelLog } from "@agent/transparency/model-log";
import {
  entryOf,
  formatProofFile,
  formatVerifierKey,
  hashNode,
  parseVerifierKey,
} from "@agent/transparency";
import { describe, expect, test } from "vitest";
import * as made from "../../test/artifacts.ts";
import { createDelegation } from "../../test/create-delegation.ts";
import {
  type BundleLog,
  type Evidence,
  formatReport,
  getOutcome,
  type LogOptions,
  signBundle,
  verifyArtifact,
  verifyBundle,
  verifyLogProof,
} from "../index.ts";

const time = 1_790_000_000_000;
const { evidence, relay } = createDelegation(createSeededRandom(7), {
  hops: 2,
  keys: 2,
  price: 2,
  credential: true,
});
const { receipt, settlements, credential, task, signers } = evidence;
const executor = signers.find(({ agent_id }) => agent_id === receipt.agent_id)!;
const publicKey = executor.keys.at(-1)!.public_key;
const subjectKey = bytesToHex(
  didKeyToPublicKey((credential!.credentialSubject as { id: string }).id),
);

const log = new ModelLog(1);
const [first, second] = [new ModelLog(2), new ModelLog(3)].map(({ keys }) => keys);
const { logKey } = log.keys;
const witnesses = [first!.witnessKey, second!.witnessKey];
const witnessSigners = [first!.witness, second!.witness];

log.append(entryOf.settlement({ task_id: "other", payee_id: "other" }, { time }));
const needed = {
  receipt: entryOf.receipt(receipt, { time, publicKey, ref: task.task_id }),
  settlement: entryOf.settlement(settlements[0]!, { time }),
  credential: entryOf.credential(credential!, {
    time,
    agentId: receipt.agent_id,
    publicKey: subjectKey,
  }),
};
const nested = flattenChain(receipt).links[0]!.receipt;
const nestedSigner = signers.find(({ agent_id }) => agent_id === nested.agent_id)!;
const allowed = {
  binding: entryOf.keyBound(
    { ...executor.keys.at(-1)!, agent_id: receipt.agent_id, device_id: null },
    { time },
  ),
  nested: entryOf.receipt(nested, {
    time,
    publicKey: nestedSigner.keys.at(-1)!.public_key,
    ref: nested.relay_task_id!,
  }),
};
const strange = entryOf.settlement({ task_id: "strange", payee_id: "x" }, { time });
for (const entry of [...Object.values(needed), ...Object.values(allowed), strange])
  log.append(entry);
const all = [needed.receipt, needed.settlement, needed.credential, allowed.binding, allowed.nested];

async function prove(entries: readonly Uint8Array[], from = log): Promise<BundleLog["entries"]> {
  const stored = [...Object.values(needed), ...Object.values(allowed), strange].map(toBase64);
  return Promise.all(
    entries.map(async (bytes) => {
      const entry = toBase64(bytes);
      const index = 1 + stored.indexOf(entry);
      return { index, entry, proof: (await from.prove(index)).map(toBase64) };
    }),
  );
}

const whole: BundleLog = {
  origin: log.keys.origin,
  vkey: formatVerifierKey(logKey),
  checkpoint: log.sign(witnessSigners),
  entries: await prove(all),
};
const strangePlace = await prove([strange]);
const had = (changes: Partial<BundleLog>, more: Partial<Evidence> = {}) =>
  signBundle({ ...evidence, ...more, log: { ...whole, ...changes } }, relay);

/** The verdict, with the two levels of the log alone. */
function checkLevels(bundle: object, options: LogOptions = {}) {
  const { valid, code, checks } = verifyBundle(bundle, { log: options });
  const levels = checks.filter(({ name }) => name === "logged" || name === "witnessed");
  return { valid, ...(code !== undefined && { code }), levels };
}

const logged = { name: "logged", ok: true };
const witnessed = { name: "witnessed", ok: true };
const refused = (code: string) => ({
  valid: false,
  code,
  levels: [{ name: "logged", ok: false, code }],
});

describe("bundles with the proofs of a log", () => {
  test("a bundle is logged by the key that the relay states, and by the one that the verifier named", () => {
    expect(checkLevels(had({}))).toEqual({ valid: true, levels: [logged] });
    expect(checkLevels(had({}), { logKey })).toEqual({ valid: true, levels: [logged] });
    const [stated, named] = [{}, { logKey, witnesses }].map((options) =>
      formatReport(verifyBundle(had({}), { log: options }), had({}), { log: options }),
    );
    expect(stated).toContain(
      "in log log.example of 7 entries at 1, 2, 3, 4, 5, by the log key that the relay states",
    );
    expect(named).toContain("by the log key that you named");
    expect(named).toContain("witnessed 2 of 2, by log.example/witness");
  });

  test("a bundle is witnessed by as many witnesses as the verifier demands", () => {
    for (const quorum of [undefined, 1, 2]) {
      const verdict = checkLevels(had({}), { logKey, witnesses, quorum });
      expect(verdict).toEqual({ valid: true, levels: [logged, witnessed] });
    }
  });

  test.each([0, -1, Number.NaN])(
    "TL17 a bundle without a cosignature is not witnessed under a quorum of %d",
    (quorum) => {
      const verdict = checkLevels(had({ checkpoint: log.sign() }), { logKey, witnesses, quorum });
      const code = "log.quorum_missing";
      const levels = [logged, { name: "witnessed", ok: false, code }];
      expect(verdict).toEqual({ valid: false, code, levels });
    },
  );

  test.each<[string, LogOptions, string]>([
    ["witnesses of a log that only the relay states", { witnesses }, "log.key_unknown"],
    ["a quorum of no witnesses", { logKey, quorum: 1 }, "log.quorum_missing"],
    ["a quorum that is no number", { logKey, quorum: Number.NaN }, "log.quorum_missing"],
  ])("TL20 a bundle is not witnessed by %s, and is refused", (_, options, code) => {
    const levels = [logged, { name: "witnessed", ok: false, code }];
    expect(checkLevels(had({}), options)).toEqual({ valid: false, code, levels });
  });

  test("a bundle is valid where neither witnesses nor a quorum are demanded", () => {
    const nothing = { logKey, witnesses: [], quorum: 0 };
    expect(checkLevels(had({}), nothing)).toEqual({ valid: true, levels: [logged] });
  });

  test("a bundle needs neither nested receipts nor keys in the log", async () => {
    const entries = await prove(Object.values(needed));
    expect(checkLevels(had({ entries }), { logKey })).toEqual({ valid: true, levels: [logged] });
  });

  test("a bundle without proofs is not shown as logged, and is refused where a log was demanded", () => {
    const bare = signBundle(evidence, relay);
    expect(checkLevels(bare)).toEqual({ valid: true, levels: [] });
    expect(checkLevels(bare, { logKey })).toEqual(refused("log.entry_missing"));
    const code = "log.quorum_missing";
    const levels = [{ name: "witnessed", ok: false, code }];
    expect(checkLevels(bare, { witnesses })).toEqual({ valid: false, code, levels });
  });

  test.each(["receipt", "settlement", "credential"] as const)(
    "a bundle whose %s is not proven has a warning, and is refused where the log was named",
    async (missing) => {
      const entries = await prove(all.filter((entry) => entry !== needed[missing]));
      const code = "log.entry_missing";
      const levels = [{ name: "logged", ok: false, code }];
      expect(checkLevels(had({ entries }))).toEqual({ valid: true, levels });
      expect(checkLevels(had({ entries }), { logKey })).toEqual(refused(code));
    },
  );

  const other = new ModelLog(9);
  for (const entry of [strange, ...all, strange]) other.append(entry);
  const [place] = whole.entries as [BundleLog["entries"][number]];
  const withPlace = (changes: Partial<typeof place>) => ({
    entries: [{ ...place, ...changes }, ...whole.entries.slice(1)],
  });
  const entryAt = (facts: { time?: number; publicKey?: string; ref?: string }) =>
    toBase64(entryOf.receipt(receipt, { time, publicKey, ref: task.task_id, ...facts }));
  const attacks: readonly [string, Partial<BundleLog>, string][] = [
    [
      "an entry of something else",
      { entries: [...whole.entries, ...strangePlace] },
      "log.entry_mismatch",
    ],
    ["an entry twice", { entries: [...whole.entries, whole.entries[0]!] }, "log.entry_mismatch"],
    [
      "a receipt under another key",
      withPlace({ entry: entryAt({ publicKey: "a".repeat(64) }) }),
      "log.entry_mismatch",
    ],
    [
      "a receipt of another task",
      withPlace({ entry: entryAt({ ref: "other" }) }),
      "log.entry_mismatch",
    ],
    [
      "another time of the entry",
      withPlace({ entry: entryAt({ time: time + 1 }) }),
      "log.inclusion_invalid",
    ],
    [
      "an entry of 91 bytes",
      withPlace({ entry: toBase64(new Uint8Array(91).fill(1)) }),
      "log.entry_malformed",
    ],
    ["an entry that is no base64", withPlace({ entry: `${place.entry} ` }), "log.entry_malformed"],
    ["another index", withPlace({ index: 2 }), "log.inclusion_invalid"],
    ["an index of the size", withPlace({ index: 7 }), "log.index_out_of_range"],
    ["a negative index", withPlace({ index: -1 }), "log.index_out_of_range"],
    ["a hash too few", withPlace({ proof: place.proof.slice(1) }), "log.inclusion_invalid"],
    [
      "a hash that is no base64",
      withPlace({ proof: [...place.proof.slice(1), "?"] }),
      "log.inclusion_invalid",
    ],
    ["a checkpoint of another size", { checkpoint: log.sign([], 5) }, "log.inclusion_invalid"],
    ["a checkpoint of another log", { checkpoint: other.sign() }, "log.key_unknown"],
    ["a checkpoint that is none", { checkpoint: "no note" }, "log.malformed"],
    [
      "a changed root",
      {
        checkpoint: whole.checkpoint.replace(
          /\n7\n./,
          (m) => `${m.slice(0, 3)}${m[3] === "A" ? "B" : "A"}`,
        ),
      },
      "log.signature_invalid",
    ],
    ["another origin", { origin: "other.example" }, "log.wrong_origin"],
    ["a key that is none", { vkey: "log.example+00000000+AAAA" }, "log.malformed"],
    [
      "the key of a witness",
      { vkey: formatVerifierKey(log.keys.witnessKey), origin: log.keys.witness.name },
      "log.wrong_origin",
    ],
  ];
  test.each(attacks)("a bundle with proofs of a log is refused for %s", (_, changes, code) => {
    expect(checkLevels(had(changes))).toEqual(refused(code));
  });

  test("a bundle is refused where the relay states a log of its own beside the one that was named", async () => {
    const forged = {
      origin: other.keys.origin,
      vkey: formatVerifierKey(other.keys.logKey),
      checkpoint: other.sign(),
      entries: await prove(all, other),
    };
    expect(checkLevels(had(forged))).toEqual({ valid: true, levels: [logged] });
    expect(checkLevels(had(forged), { logKey })).toEqual(refused("log.key_unknown"));
  });

  test.each([
    ["one witness of two", log.sign([first!.witness]), "log.quorum_missing"],
    ["one witness twice", log.sign([first!.witness, first!.witness]), "log.quorum_missing"],
    ["no witness", log.sign(), "log.quorum_missing"],
    [
      "the cosignature of a fork",
      log.sign() + other.sign([first!.witness]).split("\n\n")[1]!.split("\n")[1]! + "\n",
      "log.cosignature_invalid",
    ],
  ])("a bundle is logged and not witnessed with %s", (_, checkpoint, code) => {
    const levels = [logged, { name: "witnessed", ok: false, code }];
    const verdict = checkLevels(had({ checkpoint }), { logKey, witnesses, quorum: 2 });
    expect(verdict).toEqual({ valid: false, code, levels });
  });

  test("the proofs of a bundle are malformed with a member of another form, and refused when changed", () => {
    const log = { ...whole, entries: [{ index: 0.5, entry: "", proof: [] }] };
    const changed = signJson({ ...had({}), log }, relay.secretKey);
    expect(verifyBundle(changed)).toMatchObject({ code: "bundle.malformed" });
    const unsigned = { ...had({}), log: { ...whole, entries: [] } };
    expect(verifyBundle(unsigned)).toMatchObject({ code: "bundle.signature_invalid" });
  });
});

describe("artifacts with proof files", () => {
  const { settlement, noShow, receipt: plain, credential: issued } = made;
  const model = new ModelLog(4);
  const index = {
    settlement: model.append(entryOf.settlement(settlement, { time })),
    noShow: model.append(entryOf.noShow(noShow, { time })),
    receipt: model.append(
      entryOf.receipt(plain, { time, publicKey: made.alice.publicKey, ref: "elsewhere" }),
    ),
    credential: model.append(
      entryOf.credential(issued, { time, agentId: "bob", publicKey: made.bob.publicKey }),
    ),
  };
  const entries = [
    entryOf.settlement(settlement, { time }),
    entryOf.noShow(noShow, { time }),
    entryOf.receipt(plain, { time, publicKey: made.alice.publicKey, ref: "elsewhere" }),
    entryOf.credential(issued, { time, agentId: "bob", publicKey: made.bob.publicKey }),
  ];
  const fileOf = async (at: number, checkpoint = model.sign([first!.witness])) =>
    formatProofFile({ entry: entries[at]!, index: at, proof: await model.prove(at), checkpoint });
  const trust = { logKey: model.keys.logKey };
  const now = made.now;

  const check = (artifact: object, proof: string | undefined, options: LogOptions = trust) =>
    verifyLogProof(verifyArtifact(artifact, { now, log: options }), artifact, proof, {
      log: options,
    });

  test.each([
    ["settlement", settlement, index.settlement],
    ["no-show", noShow, index.noShow],
    ["receipt", plain, index.receipt],
    ["credential", issued, index.credential],
  ])("an artifact is logged by its proof file: a %s", async (_, artifact, at) => {
    const verdict = check(artifact, await fileOf(at), { ...trust, witnesses: [witnesses[0]!] });
    expect(verdict).toMatchObject({ valid: true });
    expect(verdict.checks.slice(-2)).toEqual([logged, witnessed]);
  });

  test.each([
    ["the proof of another artifact", settlement, index.noShow, {}, "log.entry_mismatch"],
    ["the proof of the same task's receipt", settlement, index.receipt, {}, "log.entry_mismatch"],
    [
      "a log that was not named",
      settlement,
      index.settlement,
      { logKey: undefined },
      "log.key_unknown",
    ],
    ["another log", settlement, index.settlement, { logKey }, "log.key_unknown"],
    [
      "a missing witness",
      settlement,
      index.settlement,
      { witnesses: [witnesses[1]!] },
      "log.quorum_missing",
    ],
  ])(
    "an artifact with its proof file is refused with %s",
    async (_, artifact, at, options, code) => {
      expect(check(artifact, await fileOf(at), { ...trust, ...options })).toMatchObject({
        valid: false,
        code,
      });
    },
  );

  test("a receipt without a key is only logged by an entry that names the key that signed it", async () => {
    const { suite: _suite, signature: _signature, public_key: _key, ...body } = plain;
    const { alice, bob } = made;
    const keyless = signReceipt(body, alice.secretKey);
    for (const { publicKey, code } of [
      { publicKey: alice.publicKey, code: undefined },
      { publicKey: bob.publicKey, code: "log.entry_mismatch" },
    ]) {
      const own = new ModelLog(5);
      const entry = entryOf.receipt(keyless, { time, publicKey, ref: "elsewhere" });
      const at = own.append(entry);
      const proof = await own.prove(at);
      const file = formatProofFile({ entry, index: at, proof, checkpoint: own.sign() });
      const options = {
        publicKey: [bob.publicKey, alice.publicKey],
        log: { logKey: own.keys.logKey },
      };
      const verdict = verifyLogProof(verifyArtifact(keyless, options), keyless, file, options);
      expect(verdict.code).toBe(code);
    }
  });

  test("an artifact is refused when a log or a witness is demanded and there is no proof", () => {
    expect(check(settlement, undefined)).toMatchObject({ valid: false, code: "log.entry_missing" });
    expect(check(settlement, undefined, { witnesses })).toMatchObject({
      code: "log.quorum_missing",
    });
    expect(check(settlement, undefined, { quorum: 1 })).toMatchObject({
      code: "log.quorum_missing",
    });
    expect(check(settlement, undefined, {})).toMatchObject({ valid: true });
  });

  test("an artifact with the invalid proof of another one is told that it is of another one", async () => {
    const file = await fileOf(index.settlement);
    const invalid = file.replace(/index \d+/, `index ${index.receipt}`);
    expect(check(settlement, invalid)).toMatchObject({ code: "log.inclusion_invalid" });
    expect(check(noShow, invalid)).toMatchObject({ code: "log.entry_mismatch" });
  });

  test("an artifact with a proof file stays refused for its own faults", async () => {
    const forged = { ...settlement, net: 2 };
    const verdict = check(forged, await fileOf(index.settlement));
    expect(verdict).toMatchObject({ code: "settlement.signature_invalid" });
  });

  test("an artifact with its proof file is refused when the leaf is the hash of two others", async () => {
    const inner = hashNode(new Uint8Array(32), new Uint8Array(32));
    const file = formatProofFile({ entry: inner, index: 0, proof: [], checkpoint: model.sign() });
    expect(check(settlement, file)).toMatchObject({ code: "log.entry_malformed" });
  });

  test("a proof or a checkpoint is verified alone, by the named key of the log only", async () => {
    const proof = await fileOf(index.settlement);
    const verdict = verifyArtifact(proof, { log: { ...trust, witnesses: [witnesses[0]!] } });
    expect(verdict).toMatchObject({ kind: "log_proof", valid: true });
    expect(verdict.checks.map(({ name }) => name)).toEqual([
      "well_formed",
      "intact",
      "key_bound",
      "logged",
      "witnessed",
    ]);
    expect(getOutcome(verdict, {})).toBe("valid");
    expect(formatReport(verdict, proof, { log: trust })).toContain(
      `log log.example holds the settlement with hash`,
    );
    const checkpoint = model.sign();
    expect(verifyArtifact(checkpoint, { log: trust })).toMatchObject({
      kind: "checkpoint",
      valid: true,
    });
    for (const text of [proof, checkpoint]) {
      expect(verifyArtifact(text)).toMatchObject({ valid: false, code: "log.key_unknown" });
    }
    const cut = proof.replace("index 0", "index 1");
    expect(verifyArtifact(cut, { log: trust })).toMatchObject({ code: "log.inclusion_invalid" });
    const old = proof.replace("@v1", "@v2");
    expect(verifyArtifact(old, { log: trust })).toMatchObject({ code: "log.malformed" });
  });
});

test("the verifier keys of these tests are parsed as they were formatted", () => {
  expect(parseVerifierKey(formatVerifierKey(logKey))).toEqual({ ok: true, key: logKey });
});
