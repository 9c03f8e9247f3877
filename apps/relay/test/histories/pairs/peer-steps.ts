import { toMicro } from "@agent/budget";
import { chooseAmount, chooseFrom } from "../history-relay.ts";
import { putListing } from "../agent-steps.ts";
import type { HistoryPair, Site } from "./history-pair.ts";
import type { PairStep } from "./pair-step.ts";

const PEERS_PATH = "/api/v1/admin/federation/peers";
const OUTBOX_PATH = "/api/v1/admin/federation/outbox";

export const getPeerPath = ({ other }: Site) => `${PEERS_PATH}/${other.relay.t.relay.relayId}`;

/** Adds the other relay as a peer by a handshake. */
export function addPeer({ relay, other }: Site) {
  return relay.asOperator("POST", PEERS_PATH, { endpoint_url: other.link.url });
}

/** Makes a peer of the other relay, alone or together with that relay's operator, mostly with credit. */
const joinPeer: PairStep = async (_, site, [kind, much]) => {
  const sites = kind % 3 === 0 ? [site] : [site.other, site];
  for (const each of sites) await addPeer(each);
  if (kind % 4 === 0) return;
  for (const each of sites) await setCredit(each, chooseAmount(much, 50_000_000));
};

const removePeer: PairStep = (_, site) => site.relay.asOperator("DELETE", getPeerPath(site));

export function setCredit(site: Site, credit_limit: number) {
  return site.relay.asOperator("PUT", getPeerPath(site), { credit_limit });
}

const changeCredit: PairStep = (_, site, [kind, much]) =>
  setCredit(site, kind % 4 === 0 ? 0 : chooseAmount(much, 50_000_000));

/** Records a payment between the relays at both of them. */
const payPeer: PairStep = async (pair, site, [much]) => {
  const { relay, other } = site;
  const amount = chooseAmount(much, 5_000_000);
  const reference = pair.nextPayment();
  const path = `${getPeerPath(site)}/settle`;
  const sent = await relay.asOperator("POST", path, { amount, direction: "sent", reference });
  if (sent.status !== 200) return;
  relay.facts.paidToPeer += toMicro(amount);
  pair.unrecorded.push({ site: other, amount, reference });
  await recordReceived(pair);
};

/** Records the payments that the receiver's operator has not recorded yet, for example while it was frozen. */
export async function recordReceived(pair: HistoryPair): Promise<void> {
  for (const payment of pair.unrecorded.splice(0)) {
    const { site, amount, reference } = payment;
    const body = { amount, direction: "received", reference };
    const answer = await site.relay.asOperator("POST", `${getPeerPath(site)}/settle`, body);
    if (answer.status === 200) site.relay.facts.deposited += toMicro(amount);
    else pair.unrecorded.push(payment);
  }
  const [first] = pair.sites;
  const difference = pair.unrecorded.reduce((sum, { site, amount }) => {
    return sum + (site === first ? toMicro(amount) : 0 - toMicro(amount));
  }, 0);
  if (difference !== 0) pair.differences.add(Math.abs(difference));
}

const clearDefaults: PairStep = async (pair, site) => {
  const defaulted = await site.relay.list<{ task_id: string }>(
    "select task_id from federation_inbound where defaulted is not null",
  );
  for (const { task_id } of defaulted) pair.cleared.add(task_id);
  const path = `${getPeerPath(site)}/clear-defaults`;
  await site.relay.asOperator("POST", path, { reason: "written off" });
};

export interface HeldSettlement {
  readonly settlement_id: string;
  readonly task_id: string;
}

export function listHeld({ relay }: Site): Promise<HeldSettlement[]> {
  return relay.list<HeldSettlement>(
    "select settlement_id, task_id from federation_outbox where state = 'failed' and ended_at is null order by settlement_id",
  );
}

export function retrySettlement({ relay }: Site, { settlement_id }: HeldSettlement) {
  return relay.asOperator("POST", `${OUTBOX_PATH}/${settlement_id}/retry`);
}

const retryHeld: PairStep = async (_, site, [which]) => {
  const held = chooseFrom(await listHeld(site), which);
  if (held !== undefined) await retrySettlement(site, held);
};

export function giveUpSettlement({ relay }: Site, { settlement_id }: HeldSettlement) {
  const body = { reason: "the peer is gone" };
  return relay.asOperator("POST", `${OUTBOX_PATH}/${settlement_id}/give-up`, body);
}

/** Registers an agent of the other relay at this one too, sometimes with a listing. */
const joinAgent: PairStep = async (_, { relay, other }, picks) => {
  const [who, kind] = picks;
  const { facts, t } = relay;
  const agent = other.relay.chooseParty(who);
  if (facts.parties.some(({ agentId }) => agentId === agent.agentId)) return;
  const body = { agent_id: agent.agentId, public_key: agent.publicKey };
  const sent = t.request("POST", "/api/v1/agents/bootstrap", { body });
  const { status, body: answer } = await relay.report(`join ${agent.agentId}`, sent);
  if (status >= 300) return;
  const party = { ...agent, deviceId: answer["device_id"] as string };
  facts.parties.push(party);
  if (kind % 2 === 0) await putListing(relay, party, picks);
};

export const peerSteps = {
  joinPeer,
  removePeer,
  changeCredit,
  payPeer,
  clearDefaults,
  retryHeld,
  joinAgent,
} satisfies Record<string, PairStep>;
