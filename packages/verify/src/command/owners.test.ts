import { deriveAgentId, hexToDidKey, signSuccession } from "@agent/crypto";
import {
  signAttestation,
  signDelegationToken,
  signReceipt,
  signSettlementRecord,
} from "@agent/receipts";
import { createSeededRandom } from "@agent/testkit";
import { expect, test } from "vitest";
import * as made from "../../test/artifacts.ts";
import { createDelegation } from "../../test/create-delegation.ts";
import { runOnFiles } from "../../test/run-on-files.ts";
import { formatBundle, signBundle } from "../index.ts";

const { alice, bob, carol } = made;
const ownId = deriveAgentId(alice.publicKey);
const { evidence, relay } = createDelegation(createSeededRandom(7), {
  hops: 1,
  price: 2,
  credential: false,
});

const receiptBy = (signer: typeof alice, agent_id: string) =>
  JSON.stringify(
    signReceipt({ ...made.receipt, agent_id, public_key: signer.publicKey }, signer.secretKey),
  );
const tokenBy = (signer: typeof alice, issuer_agent_id: string) => {
  const { suite: _suite, signature: _signature, ...body } = made.rootToken;
  const token = { ...body, issuer_agent_id, issuer_public_key: signer.publicKey };
  return JSON.stringify(signDelegationToken(token, signer.secretKey));
};
const settlementBy = (signer: typeof alice) => {
  const { suite: _suite, signature: _signature, ...body } = made.settlement;
  return JSON.stringify(signSettlementRecord({ ...body, issuer: signer.did }, signer.secretKey));
};
const attestationBy = (signer: typeof alice) => {
  const { suite: _suite, signature: _signature, agent_id: _, ...body } = made.attestation;
  return JSON.stringify(signAttestation(body, signer.secretKey));
};
/** The evidence of a task as another holder of a key signs it in the relay's name. */
const bundleBy = (signer: { readonly publicKey: string; readonly secretKey: Uint8Array }) => {
  const settlements = evidence.settlements.map(
    ({ suite: _suite, signature: _signature, ...record }) =>
      signSettlementRecord({ ...record, issuer: hexToDidKey(signer.publicKey) }, signer.secretKey),
  );
  return formatBundle(signBundle({ ...evidence, settlements }, { ...relay, ...signer }));
};

const agents = [`${alice.did}`, `${bob.did}`];
const roles = [`${alice.did}=agent`, `${carol.did}=relay`];
const relayIds = [`${bob.did}=relay:${made.relayId}`, `${carol.did}=relay:${made.carolId}`];

test.each<[string, string, readonly string[], number]>([
  ["a receipt in the name of the agent of another named key", receiptBy(bob, ownId), agents, 1],
  [
    "a receipt in the name of an agent whose id shows another key",
    receiptBy(bob, ownId),
    [bob.did],
    1,
  ],
  ["a receipt of the agent itself", receiptBy(alice, ownId), agents, 0],
  ["a receipt of an agent whose id shows no key", receiptBy(bob, made.bobId), agents, 0],
  [
    "a receipt under a later key that was named for its agent",
    receiptBy(bob, ownId),
    [`${bob.did}=agent:${ownId}`],
    0,
  ],
  [
    "a receipt of another agent than the key was named for",
    receiptBy(bob, made.aliceId),
    [`${bob.did}=agent:${made.bobId}`],
    1,
  ],
  ["a delegation token in the name of another agent", tokenBy(bob, ownId), agents, 1],
  ["a delegation token of its issuer", tokenBy(alice, ownId), agents, 0],
  ["a settlement record by an agent", settlementBy(alice), roles, 1],
  ["a settlement record by the relay", settlementBy(carol), roles, 0],
  ["evidence by an agent", bundleBy(alice), [...roles, `${relay.publicKey}=relay`], 1],
  ["evidence by the relay", bundleBy(relay), [...roles, `${relay.publicKey}=relay`], 0],
  ["an attestation in the name of another relay", attestationBy(carol), relayIds, 1],
  ["an attestation of the relay itself", attestationBy(bob), relayIds, 0],
  [
    "a ledger of another agent than the key was named for",
    JSON.stringify({ ...made.ledger, agent_id: made.bobId }),
    [`${alice.did}=agent:${made.aliceId}`],
    1,
  ],
  [
    "a ledger of the agent that the key was named for",
    JSON.stringify(made.ledger),
    [`${alice.did}=agent:${made.aliceId}`],
    0,
  ],
])(
  "agent-verify, for %s under keys of a trust file, exits with the right code",
  async (_, file, keys, exitCode) => {
    const files = { file, "trust.txt": keys.join("\n") };
    expect((await runOnFiles(files, "file", "--trust", "trust.txt")).exitCode).toBe(exitCode);
    const named = keys.flatMap((key) => ["--key", key]);
    expect((await runOnFiles(files, "file", ...named)).exitCode).toBe(exitCode);
  },
);

test("a refused key that was named for another owner is reported as such", async () => {
  const { out } = await runOnFiles({ file: receiptBy(bob, ownId) }, "file", "--key", bob.did);
  expect(out).toContain("which you did not name for this signer");
});

test.each<[string, typeof alice, string[], number]>([
  ["that begins with another key is refused", bob, [], 1],
  ["that begins with another key is refused for that key", bob, ["--key", bob.did], 1],
  ["that begins with the key of the id is valid", alice, [], 0],
  ["that begins with the key of the id is valid for a later key", alice, ["--key", carol.did], 0],
  [
    "that begins later is valid for a key that was named for the agent",
    bob,
    ["--key", `${bob.did}=agent:${ownId}`],
    0,
  ],
])(
  "a succession of an agent whose id shows its first key, %s",
  async (_, first, args, exitCode) => {
    const step = signSuccession({
      agent_id: ownId,
      oldSecretKey: first.secretKey,
      newSecretKey: carol.secretKey,
      timestamp: 1,
    });
    expect((await runOnFiles({ file: JSON.stringify(step) }, "file", ...args)).exitCode).toBe(
      exitCode,
    );
  },
);
