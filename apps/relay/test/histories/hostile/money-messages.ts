import { chooseAmount, chooseFrom } from "../history-relay.ts";
import { listTasks } from "../list-tasks.ts";
import { createSettlementOf } from "./answer-requests.ts";
import type { HostileStep } from "./hostile-step.ts";

const SETTLEMENT_PATH = "/federation/v1/settlement/forward";

/** Settles a result as it is owed, or with one thing changed. */
const sendSettlement: HostileStep = async ({ peers }, peer, [which, much, kind, id]) => {
  const result = chooseFrom(peer.results, which);
  if (result === undefined) return;
  const amount = chooseAmount(much, 90_000_000);
  const changes = [
    {},
    {},
    {},
    { amount, gross_amount: amount },
    { amount: 0, gross_amount: 0 },
    { gross_amount: 90, fee_amount: 89, fee_rate: 0.99 },
    { receipt_hash: "0".repeat(64) },
    { agent_id: peer.agents[0]!.agentId },
    { task_id: chooseFrom(peer.results, much)!["task_id"] },
    { timestamp: peer.honest.now() - 299_000 },
    { timestamp: peer.honest.now() + 3_600_000 },
    { origin_relay: peers.at(-1)!.signer.relayId },
    { x402_tx_hash: "0x0", x402_network: "eip155:1" },
  ];
  const reused = id % 4 === 0 && { settlement_id: `settlement ${id % 16}` };
  const change = { ...chooseFrom(changes, kind), ...reused };
  await peer.send(SETTLEMENT_PATH, createSettlementOf(peer, result, change));
};

/** Settles a task that this peer never sent, under a true receipt of the honest relay if there is one. */
const sendUnowedSettlement: HostileStep = async ({ relay }, peer, [which, much]) => {
  const task = chooseFrom(await listTasks(relay, "1 = 1"), which);
  if (task === undefined) return;
  const [receipt] = await relay.list<{ receipt_hash: string }>(
    "select receipt_hash from receipts where task_id = ?",
    [task.task_id],
  );
  const amount = much % 2 === 0 ? task.charge / 1e6 : chooseAmount(much, 90_000_000);
  const body = peer.signer.createSettlement({
    task_id: task.task_id,
    agent_id: task.agent_id,
    receipt_hash: receipt?.receipt_hash ?? "0".repeat(64),
    gross_amount: amount,
    fee_rate: 0,
    fee_amount: 0,
    amount,
  });
  await peer.send(SETTLEMENT_PATH, body);
};

/** Asks for the settlements that the honest relay has booked, sometimes of another peer's tasks. */
const askSettlements: HostileStep = async (_, peer, [which, kind]) => {
  const taskId = chooseFrom([...peer.received, ...peer.ordered], which)?.["task_id"];
  const query = kind % 3 === 0 ? "?limit=1000000" : `?task_id=${String(taskId)}`;
  await peer.signer.get(`/federation/v1/settlements${query}`);
};

export const moneyMessages = {
  sendSettlement,
  sendUnowedSettlement,
  askSettlements,
} satisfies Record<string, HostileStep>;
