import { toMicro } from "@agent/budget";
import { chooseAmount, chooseFrom } from "../history-relay.ts";
import type { HostilePeer } from "./hostile-peer.ts";
import type { HostileHistory, HostileStep } from "./hostile-step.ts";

const PEERS_PATH = "/api/v1/admin/federation/peers";
const OUTBOX_PATH = "/api/v1/admin/federation/outbox";

const getPeerPath = ({ signer }: HostilePeer) => `${PEERS_PATH}/${signer.relayId}`;

export async function addPeer({ relay }: HostileHistory, { url }: HostilePeer): Promise<void> {
  await relay.asOperator("POST", PEERS_PATH, { endpoint_url: url });
}

const admitPeer: HostileStep = addPeer;

const removePeer: HostileStep = ({ relay }, peer) => relay.asOperator("DELETE", getPeerPath(peer));

const changeCredit: HostileStep = async ({ relay, granted }, peer, [kind, much]) => {
  const credit_limit = kind % 4 === 0 ? 0 : chooseAmount(much, 20_000_000);
  const { status } = await relay.asOperator("PUT", getPeerPath(peer), { credit_limit });
  if (status !== 200) return;
  const { relayId } = peer.signer;
  granted.set(relayId, Math.max(granted.get(relayId)!, toMicro(credit_limit)));
};

/** Records a payment from the peer or to it. */
const recordPayment: HostileStep = async ({ relay }, peer, [kind, much]) => {
  const amount = chooseAmount(much, 3_000_000);
  const direction = kind % 3 === 0 ? "sent" : "received";
  const reference = `wire ${relay.nextName()}`;
  const body = { amount, direction, reference };
  const { status } = await relay.asOperator("POST", `${getPeerPath(peer)}/settle`, body);
  if (status !== 200) return;
  if (direction === "sent") relay.facts.paidToPeer += toMicro(amount);
  else relay.facts.deposited += toMicro(amount);
};

const clearDefaults: HostileStep = async ({ relay, cleared }, peer) => {
  const { relayId } = peer.signer;
  const [before] = await relay.list<{ sum: number }>(
    "select coalesce(sum(coalesce(defaulted, refused)), 0) as sum from federation_inbound where relay_id = ?",
    [relayId],
  );
  const path = `${getPeerPath(peer)}/clear-defaults`;
  const { status } = await relay.asOperator("POST", path, { reason: "written off" });
  if (status !== 200) return;
  cleared.set(relayId, (cleared.get(relayId) ?? 0) + Number(before?.sum));
};

/** Decides the settlements that wait for the operator: retries them, or gives them up. */
export async function decideHeld({ relay }: HostileHistory, isRetried: boolean): Promise<void> {
  const held = await relay.list<{ settlement_id: string }>(
    "select settlement_id from federation_outbox where state = 'failed' and ended_at is null",
  );
  for (const { settlement_id } of held) {
    const path = `${OUTBOX_PATH}/${settlement_id}`;
    if (isRetried) await relay.asOperator("POST", `${path}/retry`);
    else await relay.asOperator("POST", `${path}/give-up`, { reason: "the peer lies" });
  }
}

const decideSettlements: HostileStep = (history, _, [kind]) => decideHeld(history, kind % 2 === 0);

/** An agent of the peer joins the honest relay too. */
const joinAgent: HostileStep = async ({ relay }, peer, [who]) => {
  const agent = chooseFrom(peer.agents, who)!;
  const body = { agent_id: agent.agentId, public_key: agent.publicKey };
  const sent = relay.t.request("POST", "/api/v1/agents/bootstrap", { body });
  await relay.report(`join ${agent.agentId}`, sent);
};

export const operatorSteps = {
  admitPeer,
  removePeer,
  changeCredit,
  recordPayment,
  clearDefaults,
  decideSettlements,
  joinAgent,
} satisfies Record<string, HostileStep>;
