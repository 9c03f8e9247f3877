import type { NoShowRecord, RelayAttestation, SettlementRecord } from "@agent/receipts";
import type { EvidenceBundle } from "../bundle/schema.ts";
import { getNoShowRecords } from "../detect-kind.ts";
import { statusVerbs } from "./agent-claims.ts";
import type { Claim } from "./claim.ts";
import { formatTime, toPrintable, formatDollars } from "./format.ts";

export function describeBundle(bundle: EvidenceBundle): Claim {
  const { task, receipt, attestation, peer, erased, relay_id, issuer } = bundle;
  const place = peer === undefined ? "" : ` of relay ${peer.relay_id}`;
  const submitter = task.submitted_by === null ? "the operator" : formatAgent(task.submitted_by);
  return {
    statement: `${formatAgent(receipt.agent_id)}${place} ${statusVerbs[task.status]} task ${toPrintable(task.task_id)} for ${submitter}`,
    details: [
      `submitted ${formatTime(task.submitted_at)}, ended ${formatTime(receipt.completed_at)}, received ${formatTime(attestation.received_at)}`,
      formatPayment(bundle),
      ...formatOutcome(bundle),
      ...(erased === undefined ? [] : [`its texts were erased ${formatTime(erased.erased_at)}`]),
    ],
    signer: `relay ${relay_id}`,
    key: issuer,
  };
}

function formatPayment({ settlements, inspection }: EvidenceBundle): string {
  if (inspection !== undefined && inspection.state !== "closed") {
    return `not paid yet: ${formatDollars(inspection.due)} is held for an inspection, which is ${inspection.state}`;
  }
  const sum = (member: "amount_settled" | "fee" | "net") =>
    formatDollars(...settlements.map((record) => record[member]));
  return settlements.some(({ amount_settled }) => amount_settled > 0)
    ? `paid ${sum("amount_settled")}: ${sum("net")} to the agent, ${sum("fee")} to the relay`
    : "nothing was paid";
}

function formatOutcome({ inspection }: EvidenceBundle): readonly string[] {
  const { outcome = null, due = 0 } = inspection ?? {};
  if (outcome === null) return [];
  return [`inspection ${outcome.outcome}: the share ${outcome.share} of ${formatDollars(due)}`];
}

export function describeSettlement(record: SettlementRecord): Claim {
  const { task_id, payer_id, payee_id, amount_settled, fee, net, settled_at, issuer } = record;
  return {
    statement: `${formatAgent(payer_id)} paid ${formatDollars(amount_settled)} for task ${toPrintable(task_id)} of ${formatAgent(payee_id)}`,
    details: [
      `settled ${formatTime(settled_at)}: ${formatDollars(net)} to the agent, ${formatDollars(fee)} to the relay`,
    ],
    signer: "a relay",
    key: issuer,
  };
}

export function describeAttestation(attestation: RelayAttestation): Claim {
  const { relay_id, task_id, receipt_hash, received_at } = attestation;
  return {
    statement: `relay ${relay_id} received receipt ${receipt_hash} for task ${toPrintable(task_id)}`,
    details: [`received ${formatTime(received_at)}`],
    signer: `relay ${relay_id}`,
    key: null,
  };
}

/** Describes one no-show record, or all those of a task as a relay returns them. */
export function describeNoShow(value: NoShowRecord | object): Claim {
  const records = (getNoShowRecords(value) ?? [value]) as readonly Partial<NoShowRecord>[];
  const { issuer = null } = records[0] ?? {};
  return {
    statement: records
      .map(
        ({ agent_id, task_id }) =>
          `${formatAgent(agent_id)} claimed task ${toPrintable(task_id)} and delivered nothing`,
      )
      .join("; "),
    details: records.map(
      ({ claimed_at, lapsed_at, priced }) =>
        `claimed ${formatTime(claimed_at)}, expired ${formatTime(lapsed_at)}, ${priced === true ? "for a price" : "free of charge"}`,
    ),
    signer: "a relay",
    key: issuer,
  };
}

function formatAgent(id: unknown): string {
  return `agent ${toPrintable(id)}`;
}
