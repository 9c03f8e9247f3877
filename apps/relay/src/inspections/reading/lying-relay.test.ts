import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseSecretKeyHex } from "@agent/crypto/sealed-key";
import {
  hashInspectionStatement,
  hashOutcomeRecord,
  type OutcomeRecord,
  signDecisionRecord,
  signOutcomeRecord,
  signSettlementRecord,
  signVerdictRecord,
} from "@agent/receipts";
import { parseVerifierKey } from "@agent/transparency";
import {
  type BundleInspection,
  type Evidence,
  type EvidenceBundle,
  formatBundle,
  signBundle,
  verifyArtifact,
} from "@agent/verify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readBesideRelay } from "../../../test/engine/stored.ts";
import {
  beginCase,
  beginDispute,
  type Case,
  createParties,
  decide,
  giveVerdict,
  type Parties,
} from "../../../test/inspections.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";
import { findIdentity } from "../../identity/store.ts";

let folder: string;
let t: TestRelay;
let parties: Parties;
let secretKey: Uint8Array;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "relay-lying-"));
  const AGENT_DB_PATH = join(folder, "relay.db");
  t = await startTestRelay({ AGENT_DB_PATH });
  parties = await createParties(t);
  const stored = await readBesideRelay(AGENT_DB_PATH, findIdentity);
  const parsed = parseSecretKeyHex(stored?.secret_key ?? "");
  if (!parsed.ok) throw new Error("the relay's key is not stored");
  ({ secretKey } = parsed);
});
afterEach(async () => {
  await t.close();
  rmSync(folder, { recursive: true });
});

interface Inspected {
  readonly inspection: BundleInspection & { readonly outcome: OutcomeRecord };
  readonly settlement: EvidenceBundle["settlements"][number];
}

/** Changes an inspected bundle, which the relay then signs as its own. */
type Lie = (inspected: Inspected, bundle: EvidenceBundle) => Changes;

type Changes = { readonly [Member in keyof EvidenceBundle]?: EvidenceBundle[Member] | undefined };

async function signLie({ boss, task }: Case, lie: Lie): Promise<string> {
  const { text } = await t.as(boss, "GET", `${task.path}/evidence`);
  const bundle = JSON.parse(text) as EvidenceBundle;
  const { relay_id, attestation, created_at, spec: _, issuer: _1, suite: _2, ...rest } = bundle;
  const { signature: _3, ...parts } = rest;
  const inspection = bundle.inspection as Inspected["inspection"];
  const changes = lie({ inspection, settlement: bundle.settlements[0]! }, bundle);
  const { body } = await t.request("GET", "/.well-known/agent-relay.json");
  const publicKey = String(body["public_key"]);
  const signer = { relayId: relay_id, publicKey, secretKey, now: created_at };
  const { received_at } = attestation;
  // JSON omits the members that a lie sets to undefined.
  const changed = JSON.parse(JSON.stringify({ ...parts, ...changes, received_at })) as Evidence;
  return formatBundle(signBundle(changed, signer));
}

async function verifyLogged(text: string) {
  const { body } = await t.request("GET", "/.well-known/agent-relay.json");
  const parsed = parseVerifierKey((body["log"] as { vkey: string }).vkey);
  if (!parsed.ok) throw new Error(parsed.code);
  return verifyArtifact(text, { log: { logKey: parsed.key } });
}

function signRecord(settlement: Inspected["settlement"], change: Partial<Inspected["settlement"]>) {
  const { suite: _, signature: _1, ...record } = settlement;
  return signSettlementRecord({ ...record, ...change }, secretKey);
}

/** Signs another outcome, and the record that names it. */
function signEnd(
  { inspection, settlement }: Inspected,
  change: Partial<OutcomeRecord>,
): Pick<EvidenceBundle, "settlements"> & { readonly inspection: BundleInspection } {
  const { suite: _, signature: _1, ...body } = inspection.outcome;
  const outcome = signOutcomeRecord({ ...body, ...change }, secretKey);
  return {
    inspection: { ...inspection, outcome },
    settlements: [signRecord(settlement, { outcome_hash: hashOutcomeRecord(outcome) })],
  };
}

const addMicro = (amount: number, units: number) => (Math.round(amount * 1e6) + units) / 1e6;

async function decideCase(): Promise<Case> {
  const given = await beginDispute(t, parties, { offer: 0.5 });
  expect((await decide(t, given, 0.6)).status).toBe(200);
  return given;
}

describe("evidence of a relay that signs a lie with its own key", () => {
  test("IS11: evidence is valid as long as nothing is changed", async () => {
    const text = await signLie(await decideCase(), () => ({}));
    expect(await verifyLogged(text)).toMatchObject({ kind: "bundle", valid: true });
  });

  test.each<[string, string, Lie]>([
    [
      "the outcome states another share than the arbiter",
      "bundle.inspection_mismatch",
      (inspected) => signEnd(inspected, { share: 0.600001 }),
    ],
    [
      "a statement of the submitter is the relay's",
      "verdict.signature_invalid",
      (inspected) => {
        const [statement, ...others] = inspected.inspection.verdicts;
        const { suite: _, signature: _1, ...body } = statement!;
        const verdicts = [signVerdictRecord({ ...body, offer: 0 }, secretKey), ...others];
        const ended = signEnd(inspected, { verdicts: verdicts.map(hashInspectionStatement) });
        return { ...ended, inspection: { ...ended.inspection, verdicts } };
      },
    ],
    [
      "the decision is the relay's under the arbiter's name",
      "decision.signature_invalid",
      (inspected) => {
        const { suite: _, signature: _1, ...body } = inspected.inspection.decision!;
        const decision = signDecisionRecord({ ...body, share: 1 }, secretKey);
        const ended = signEnd(inspected, { share: 1, decision: hashInspectionStatement(decision) });
        return { ...ended, inspection: { ...ended.inspection, decision } };
      },
    ],
    [
      "the arbiter's fee went to the relay",
      "bundle.postings_mismatch",
      ({ inspection }) => ({
        inspection: {
          ...inspection,
          postings: inspection.postings.map((posting) =>
            posting.account === `agent:${parties.arbiter.agentId}`
              ? { ...posting, account: "relay:fees", type: "fee" as const }
              : posting,
          ),
        },
      }),
    ],
    [
      "one micro-unit more was paid",
      "bundle.settlement_mismatch",
      ({ settlement }, { postings }) => ({
        settlements: [
          signRecord(settlement, {
            amount_settled: addMicro(settlement.amount_settled, 1),
            net: addMicro(settlement.net, 1),
          }),
        ],
        postings: postings.map((posting) => {
          const added = { settlement_debit: -1, settlement_credit: 1 }[posting.type as string];
          return { ...posting, amount: addMicro(posting.amount, added ?? 0) };
        }),
      }),
    ],
    [
      "the terms took another fee",
      "bundle.inspection_mismatch",
      ({ inspection }) => ({
        inspection: { ...inspection, terms: { ...inspection.terms, fee_rate: 0.06 } },
      }),
    ],
    [
      "the case is still open",
      "bundle.inspection_mismatch",
      ({ inspection }) => ({
        settlements: [],
        postings: [],
        inspection: { ...inspection, state: "disputed", outcome: null },
      }),
    ],
  ])("IS11: evidence is refused if %s: %s", async (_, code, lie) => {
    const text = await signLie(await decideCase(), lie);
    expect(verifyArtifact(text)).toMatchObject({ kind: "bundle", valid: false, code });
  });

  test("IS11: evidence without a rejection that changed no sum is refused because of the relay's log", async () => {
    const given = await beginCase(t, parties);
    await giveVerdict(t, given, "rejected");
    await giveVerdict(t, given, "accepted");
    const text = await signLie(given, (inspected) => {
      const verdicts = inspected.inspection.verdicts.slice(1);
      const ended = signEnd(inspected, { verdicts: verdicts.map(hashInspectionStatement) });
      return { ...ended, inspection: { ...ended.inspection, verdicts } };
    });
    expect((await verifyLogged(text)).valid).toBe(false);
  });

  test("IS11: evidence without the whole inspection is refused because of the relay's log", async () => {
    const given = await beginCase(t, parties);
    await giveVerdict(t, given, "accepted");
    const text = await signLie(given, ({ settlement }) => {
      const { outcome_hash: _, ...record } = settlement;
      return { inspection: undefined, settlements: [signRecord(record, {})] };
    });
    expect((await verifyLogged(text)).valid).toBe(false);
  });
});
