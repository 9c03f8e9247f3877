import {
  bytesToHex,
  generateKeyPair,
  hexToDidKey,
  publicKeyToDidKey,
  signJson,
  signRelaySuccession,
  signSuccession,
} from "@agent/crypto";
import { createPresentation, issueCredential } from "@agent/credentials";
import { signAttestation, signNoShowRecord, signSettlementRecord } from "@agent/receipts";
import { createSeededRandom } from "@agent/testkit";
import { describe, expect, test } from "vitest";
import { createDelegation, START_TIME } from "../../test/create-delegation.ts";
import { formatBundle, signBundle, verifyArtifact, verifyBundle } from "../index.ts";

const { evidence, relay } = createDelegation(createSeededRandom(7), {
  hops: 1,
  price: 2,
  credential: true,
});
const [second, third, stranger] = [2, 3, 4].map((byte) => {
  const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(byte));
  return { publicKey: bytesToHex(publicKey), secretKey };
}) as [Pair, Pair, Pair];
type Pair = Pick<typeof relay, "publicKey" | "secretKey">;

const step = (from: Pair, to: Pair, timestamp: number, relay_id = relay.relayId) =>
  signRelaySuccession({
    relay_id,
    oldSecretKey: from.secretKey,
    newSecretKey: to.secretKey,
    timestamp,
  });

const succession = [step(relay, second, START_TIME + 1), step(second, third, START_TIME + 2)];
const [settlement] = evidence.settlements;
const read = { ...settlement!, suite: undefined, signature: undefined };
/** Returns the settlement as the relay signs it under a later key. */
const signedBy = ({ secretKey }: Pair) => {
  const { suite: _suite, signature: _signature, ...body } = read;
  return signSettlementRecord(body as Parameters<typeof signSettlementRecord>[0], secretKey);
};

const bundleBy = (pair: Pair, steps: readonly object[], signer = pair) =>
  signBundle(
    { ...evidence, settlements: [signedBy(signer)] },
    { ...relay, ...pair, succession: steps },
  );
const bundle = bundleBy(third, succession);

describe("D8: bundles with succession records", () => {
  test.each([relay, second, third].map(({ publicKey }) => publicKey))(
    "D8: a bundle with succession records is valid when the caller names any key of the chain (%s)",
    (publicKey) => {
      expect(verifyBundle(formatBundle(bundle), { publicKey })).toMatchObject({ valid: true });
    },
  );

  test("D8: a bundle keeps the relay's records under a former key, and the hash of its settlement", () => {
    expect(evidence.credential?.issuer).not.toBe(bundle.issuer);
    expect(bundle.settlements[0]?.issuer).toBe(settlement?.issuer);
    expect(verifyBundle(bundleBy(third, succession, relay))).toMatchObject({ valid: true });
  });

  test.each<[string, Pair, string | undefined]>([
    ["a former key is valid", relay, undefined],
    ["the key in force is valid", third, undefined],
    ["a key outside of the chain is refused", stranger, "no_show.wrong_issuer"],
  ])("D8: a no-show record under %s in a bundle of a relay that rotated its key", (_, by, code) => {
    const noShow = signNoShowRecord(
      {
        task_id: evidence.task.task_id,
        agent_id: evidence.receipt.agent_id,
        claimed_at: START_TIME,
        lapsed_at: START_TIME + 60_000,
        wall_clock_ms: 60_000,
        priced: true,
        issuer: hexToDidKey(by.publicKey),
      },
      by.secretKey,
    );
    const signer = { ...relay, ...third, succession };
    expect(verifyBundle(signBundle({ ...evidence, no_shows: [noShow] }, signer)).code).toBe(code);
  });

  test("D8: settlements under a former key count until 4,096 keys have been tried", () => {
    const chain = Array.from({ length: 32 }, (_, index) => {
      const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(100 + index));
      return { publicKey: bytesToHex(publicKey), secretKey };
    });
    const steps = chain.map((pair, index) =>
      step(chain[index - 1] ?? relay, pair, START_TIME + index),
    );
    const verifyMany = (count: number, by: Pair) => {
      const { suite: _suite, signature: _signature, ...body } = settlement!;
      const settlements = Array.from({ length: count }, (_, index) =>
        signSettlementRecord(
          {
            ...body,
            settlement_id: `settlement ${index}`,
            ...(index > 0 && { amount_settled: 0, fee: 0, net: 0 }),
          },
          by.secretKey,
        ),
      );
      const signer = { ...relay, ...chain.at(-1)!, succession: steps };
      return verifyBundle(signBundle({ ...evidence, settlements }, signer)).code;
    };
    // The relay's second key is the 32nd that is tried.
    expect(verifyMany(128, chain[0]!)).toBeUndefined();
    expect(verifyMany(129, chain[0]!)).toBe("settlement.signature_invalid");
    expect(verifyMany(500, chain.at(-1)!)).toBeUndefined();
  });

  test("D8: a bundle with succession records is refused for a key that is not in the chain", () => {
    const { publicKey } = stranger;
    expect(verifyBundle(bundle, { publicKey })).toMatchObject({ code: "artifact.key_unbound" });
  });

  const broken = "bundle.relay_succession_broken";
  const otherId = "019b7d21-53eb-7ccd-926c-3badff397898";
  const ofAgent = signSuccession({
    agent_id: relay.relayId,
    oldSecretKey: relay.secretKey,
    newSecretKey: third.secretKey,
    timestamp: START_TIME,
  });
  test.each<[string, readonly object[], string]>([
    ["that ends at another key", succession.slice(0, 1), broken],
    ["without a step", [], broken],
    ["that leaves a step out", [succession[0]!, step(relay, third, START_TIME + 2)], broken],
    ["that repeats a step", [succession[0]!, succession[0]!, succession[1]!], broken],
    ["that goes back in time", [step(relay, second, START_TIME + 3), succession[1]!], broken],
    ["with a changed step", [{ ...succession[0], reason: "x" }, succession[1]!], broken],
    ["of another relay", [step(relay, third, START_TIME, otherId)], broken],
    ["of an agent with the relay's id", [ofAgent], broken],
    ["with a step by a stranger", [step(stranger, third, START_TIME)], "settlement.wrong_issuer"],
  ])(
    "D8: a bundle with succession records is refused with a chain %s",
    (_, relay_succession, code) => {
      const without = { ...bundle, credential: null, relay_succession };
      const forged = signJson(without, third.secretKey);
      expect(verifyBundle(forged)).toMatchObject({ valid: false, code });
    },
  );

  test("D8: a bundle is refused when a former key signs a record issued under a later one", () => {
    const { suite: _suite, signature: _signature, ...body } = settlement!;
    const issuer = publicKeyToDidKey(generateKeyPair(new Uint8Array(32).fill(2)).publicKey);
    const stolen = signSettlementRecord({ ...body, issuer }, relay.secretKey);
    const forged = signJson({ ...bundle, settlements: [stolen] }, third.secretKey);
    expect(verifyBundle(forged)).toMatchObject({ code: "settlement.signature_invalid" });
  });
});

describe("D8: artifacts without a chain, verified with the caller's chain", () => {
  const old = bundleBy(relay, []);

  test("D8: an earlier bundle is valid for the new key only with the chain", () => {
    const { publicKey } = third;
    expect(verifyArtifact(old, { publicKey: relay.publicKey })).toMatchObject({ valid: true });
    expect(verifyArtifact(old, { publicKey })).toMatchObject({ code: "artifact.key_unbound" });
    const options = { publicKey, relaySuccession: succession };
    expect(verifyArtifact(old, options)).toMatchObject({ valid: true });
  });

  test("D8: a settlement record that a later key signed is valid only with the chain", () => {
    const record = signedBy(third);
    expect(verifyArtifact(record)).toMatchObject({ code: "settlement.signature_invalid" });
    const relaySuccession = succession;
    expect(verifyArtifact(record, { relaySuccession })).toMatchObject({ valid: true });
    const { publicKey } = third;
    expect(verifyArtifact(record, { relaySuccession, publicKey })).toMatchObject({ valid: true });
    const forged = signedBy(stranger);
    expect(verifyArtifact(forged, { relaySuccession })).toMatchObject({ valid: false });
  });

  test("D8: a chain adds no key for a key that was named for another relay", () => {
    const verifyFor = (id: string) => {
      const named = { publicKey: third.publicKey, role: "relay", id } as const;
      return verifyArtifact(old, { publicKey: [named], relaySuccession: succession });
    };
    expect(verifyFor(relay.relayId)).toMatchObject({ valid: true });
    const otherId = "019b7d21-53eb-7ccd-926c-3badff397898";
    expect(verifyFor(otherId)).toMatchObject({ valid: false, code: "artifact.key_unbound" });
  });

  test("D8: a chain that breaks a rule adds no key", () => {
    const relaySuccession = [{ ...succession[0], timestamp: 0 }, succession[1]];
    const options = { publicKey: third.publicKey, relaySuccession };
    expect(verifyArtifact(old, options)).toMatchObject({ code: "artifact.key_unbound" });
  });

  test("D8: a chain of a relay is an artifact of its own kind", () => {
    const verdict = verifyArtifact(succession, { publicKey: second.publicKey });
    expect(verdict).toMatchObject({ kind: "relay_succession", valid: true });
    expect(verifyArtifact(succession.toReversed())).toMatchObject({
      code: "succession.old_key_mismatch",
    });
    const both = { ...succession[0], agent_id: relay.relayId };
    expect(verifyArtifact(both)).toMatchObject({ kind: null, code: "artifact.unrecognised" });
  });
});

describe("D8: artifacts that are dated after the end of their relay's key", () => {
  const MINUTE_MS = 60_000;
  const end = START_TIME + 60 * MINUTE_MS;
  const chain = [step(relay, second, end)];
  const issuer = hexToDidKey(relay.publicKey);
  /** Signs each kind of artifact under the former key, at a time. */
  const signedAt: Readonly<Record<string, (at: number) => object>> = {
    "a settlement record": (settled_at) => {
      const { suite: _suite, signature: _signature, ...body } = settlement!;
      return signSettlementRecord({ ...body, settled_at }, relay.secretKey);
    },
    "a no-show record": (lapsed_at) =>
      signNoShowRecord(
        {
          task_id: evidence.task.task_id,
          agent_id: evidence.receipt.agent_id,
          claimed_at: START_TIME,
          lapsed_at,
          wall_clock_ms: 60_000,
          priced: true,
          issuer,
        },
        relay.secretKey,
      ),
    "an attestation": (attested_at) =>
      signAttestation(
        {
          relay_id: relay.relayId,
          task_id: evidence.task.task_id,
          receipt_hash: "0".repeat(64),
          received_at: START_TIME,
          attested_at,
        },
        relay.secretKey,
      ),
    "a bundle": (now) => signBundle(evidence, { ...relay, now }),
  };
  const kinds = Object.keys(signedAt);

  test.each(kinds)("D8: %s under a former key is refused five minutes after its end", (kind) => {
    const late = signedAt[kind]!(end + 5 * MINUTE_MS);
    for (const { publicKey } of [relay, second]) {
      const verdict = verifyArtifact(late, { publicKey, relaySuccession: chain });
      expect(verdict).toMatchObject({ valid: false, code: "bundle.key_not_in_force" });
      expect(verdict.checks).toContainEqual({
        name: "key_valid",
        ok: false,
        code: "bundle.key_not_in_force",
      });
    }
  });

  test.each(kinds)(
    "D8: %s under a former key is valid before five minutes after its end",
    (kind) => {
      const timely = signedAt[kind]!(end + 5 * MINUTE_MS - 1);
      for (const { publicKey } of [relay, second]) {
        const options = { publicKey, relaySuccession: chain };
        expect(verifyArtifact(timely, options)).toMatchObject({ valid: true });
      }
    },
  );

  test("D8: a bundle with another step from a former key is refused for the relay's own chain", () => {
    const forked = bundleBy(stranger, [step(relay, stranger, START_TIME + 1)]);
    const options = { publicKey: relay.publicKey, relaySuccession: chain };
    expect(verifyArtifact(forked, options)).toMatchObject({ code: "artifact.key_unbound" });
  });

  test("D8: a bundle with more steps than the verifier has is valid for an earlier key", () => {
    const options = { publicKey: relay.publicKey, relaySuccession: succession.slice(0, 1) };
    expect(verifyArtifact(bundle, options)).toMatchObject({ valid: true });
  });

  test("D8: verifyBundle ends the keys of the chain as well", () => {
    const late = signBundle(evidence, { ...relay, now: end + 5 * MINUTE_MS });
    const options = { publicKey: relay.publicKey, relaySuccession: chain };
    expect(verifyBundle(late, options)).toMatchObject({ code: "bundle.key_not_in_force" });
  });

  test("D8: a bundle that states an earlier time than its parts is dated by its parts", () => {
    const early = [step(relay, second, START_TIME - 60 * MINUTE_MS)];
    const backdated = signBundle(evidence, { ...relay, now: START_TIME - 61 * MINUTE_MS });
    const options = { publicKey: relay.publicKey, relaySuccession: early };
    expect(verifyArtifact(backdated, options)).toMatchObject({ code: "bundle.key_not_in_force" });
  });

  test.each<[string, Pair, object[], string | undefined]>([
    ["the verifier's own steps are valid", relay, chain, undefined],
    [
      "a former key leads to no other key",
      relay,
      [step(relay, stranger, end)],
      "artifact.key_unbound",
    ],
    [
      "the key in use leads to a new key",
      second,
      [...chain, step(second, third, end + 1)],
      undefined,
    ],
  ])("D8: in a succession of a relay %s", (_, named, steps, code) => {
    const options = { publicKey: named.publicKey, relaySuccession: chain };
    expect(verifyArtifact(steps, options).code).toBe(code);
  });

  describe("D8: credentials of a former key", () => {
    const options = { now: end + 1, publicKey: relay.publicKey, relaySuccession: chain };
    const issue = (now: number, validForMs?: number) =>
      issueCredential({ ...trust, secretKey: relay.secretKey, now, validForMs });
    const present = (credential: ReturnType<typeof issue>, now: number) =>
      createPresentation({ credentials: [credential], secretKey: second.secretKey, now });
    const trust = {
      type: "AgentTrustCredential",
      subject: {
        id: hexToDidKey(third.publicKey),
        trust_level: "verified",
        interaction_count: 5,
        successful_tasks: 5,
        failed_tasks: 0,
        first_seen_at: 0,
        last_seen_at: START_TIME,
      },
    } as const;
    const ended = "bundle.key_not_in_force";

    test.each<[string, number, number | undefined, string | undefined]>([
      ["issued before its end is valid", end - MINUTE_MS, undefined, undefined],
      ["issued late is refused", end + 5 * MINUTE_MS, undefined, ended],
      ["that is valid for years is refused", end - MINUTE_MS, 1e11, ended],
    ])("D8: a credential of a former key %s, also in a presentation", (_, at, validFor, code) => {
      const credential = issue(at, validFor);
      const now = at + 1;
      expect(verifyArtifact(credential, { ...options, now }).code).toBe(code);
      const verdict = verifyArtifact(present(credential, now), {
        ...options,
        now,
        publicKey: [relay.publicKey, second.publicKey],
      });
      expect(verdict.code).toBe(code);
      expect(verdict.nested[0]?.code).toBe(code);
    });
  });
});
