import type { NoShowRecord, RelayAttestation, SettlementRecord } from "@agent/receipts";
import type { EvidenceBundle } from "../bundle/schema.ts";
import { noShowList } from "../recognise.ts";
import { DONE } from "./agent-claims.ts";
import type { Claim } from "./claim.ts";
import { isoTime, printable, usd } from "./words.ts";

export function bundleClaim(bundle: EvidenceBundle): Claim {
  const { task, receipt, attestation, peer, erased, relay_id, issuer } = bundle;
  const place = peer === undefined ? "" : ` of relay ${peer.relay_id}`;
  const submitter = task.submitted_by === null ? "the operator" : agent(task.submitted_by);
  return {
    statement: `${agent(receipt.agent_id)}${place} ${DONE[task.status]} task ${printable(task.task_id)} for ${submitter}`,
    details: [
      `submitted ${isoTime(task.submitted_at)}, ended ${isoTime(receipt.completed_at)}, taken ${isoTime(attestation.received_at)}`,
      paymentOf(bundle),
      ...(erased === undefined ? [] : [`its texts were erased ${isoTime(erased.erased_at)}`]),
    ],
    signer: `relay ${relay_id}`,
    key: issuer,
  };
}

function paymentOf({ settlements }: EvidenceBundle): string {
  const sum = (member: "amount_settled" | "fee" | "net") =>
    usd(...settlements.map((record) => record[member]));
  return settlements.some(({ amount_settled }) => amount_settled > 0)
    ? `paid ${sum("amount_settled")}: ${sum("net")} to the agent, ${sum("fee")} to the relay`
    : "nothing was paid";
}

export function settlementClaim(record: SettlementRecord): Claim {
  const { task_id, payer_id, payee_id, amount_settled, fee, net, settled_at, issuer } = record;
  return {
    statement: `${agent(payer_id)} paid ${usd(amount_settled)} for task ${printable(task_id)} of ${agent(payee_id)}`,
    details: [`settled ${isoTime(settled_at)}: ${usd(net)} to the agent, ${usd(fee)} to the relay`],
    signer: "a relay",
    key: issuer,
  };
}

export function attestationClaim(attestation: RelayAttestation): Claim {
  const { relay_id, task_id, receipt_hash, received_at } = attestation;
  return {
    statement: `relay ${relay_id} took receipt ${receipt_hash} for task ${printable(task_id)}`,
    details: [`taken ${isoTime(received_at)}`],
    signer: `relay ${relay_id}`,
    key: null,
  };
}

/** Of one statement, or of all those of a task as a relay answers them. */
export function noShowClaim(value: NoShowRecord | object): Claim {
  const records = (noShowList(value) ?? [value]) as readonly Partial<NoShowRecord>[];
  const { issuer = null } = records[0] ?? {};
  return {
    statement: records
      .map(
        ({ agent_id, task_id }) =>
          `${agent(agent_id)} claimed task ${printable(task_id)} and delivered nothing`,
      )
      .join("; "),
    details: records.map(
      ({ claimed_at, lapsed_at, priced }) =>
        `claimed ${isoTime(claimed_at)}, lapsed ${isoTime(lapsed_at)}, ${priced === true ? "for a price" : "free of charge"}`,
    ),
    signer: "a relay",
    key: issuer,
  };
}

function agent(id: unknown): string {
  return `agent ${printable(id)}`;
}
