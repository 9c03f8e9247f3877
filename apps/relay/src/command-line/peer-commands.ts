import type { CallResult } from "@agent/client";
import type { Operations, Result } from "@agent/wire";
import { formatMoney, formatTime, MONEY_RULE, parseMoney, toStateCell } from "./format-values.ts";
import {
  usageFault,
  type CommandCall,
  type CommandResult,
  type OperatorCommand,
} from "./operator-command.ts";
import { buildListOutput, omitMissing, readPageQuery, PAGE_USAGE } from "./page-query.ts";

type Peer = Result<Operations["addPeer"]>;

/** The commands about other relays. */
export const peerCommands = {
  peers: {
    usage:
      "peers | peers add URL | peers credit ID AMOUNT | peers remove ID | " +
      `peers payments ID ${PAGE_USAGE} | peers history ID ${PAGE_USAGE} | ` +
      "peers pay ID AMOUNT --sent|--received --reference R | peers clear-defaults ID --reason R",
    purpose: "list the peers of the relay and the amounts owed, or manage one of them",
    run: runPeers,
  },
  outbox: {
    usage:
      `outbox [--state pending|completed|failed] ${PAGE_USAGE} | ` +
      "outbox retry ID | outbox give-up ID --reason R",
    purpose: "list settlements that are sent to other relays, or retry or give up one",
    run: runOutbox,
  },
} as const satisfies Record<string, OperatorCommand>;

async function runPeers(call: CommandCall): Promise<CommandResult> {
  const { client, args, options } = call;
  const [act, first = "", second] = args;
  const params = { relayId: first };
  switch (act) {
    case undefined:
      return listPeers(call);
    case "add":
      return showPeer(await client.addPeer({ body: { endpoint_url: first } }));
    case "credit": {
      const credit_limit = parseMoney(second);
      if (credit_limit === undefined) return usageFault(`AMOUNT ${second} ${MONEY_RULE}`);
      return showPeer(await client.setPeerCredit({ params, body: { credit_limit } }));
    }
    case "remove":
      return show(await client.removePeer({ params }));
    case "payments":
      return listPayments(call, first);
    case "history":
      return listHistory(call, first);
    case "pay":
      return recordPayment(call, first, second);
    case "clear-defaults": {
      const { reason = "" } = options;
      return show(await client.clearPeerDefaults({ params, body: { reason } }));
    }
    default:
      throw new Error(`the usage names peers ${act}, but it does nothing`);
  }
}

/** Shows an answer of few members. */
function show<R extends { readonly ok: true; readonly body: object } | { readonly ok: false }>(
  answer: R,
): CommandResult {
  if (!answer.ok) return answer as unknown as CommandResult;
  const { body } = answer as { readonly body: object };
  const blocks = Object.entries(body).map(([name, value]) => `${name}  ${String(value)}`);
  return { ok: true, body, blocks };
}

async function listPeers({ client }: CommandCall): Promise<CommandResult> {
  const answer = await client.listFederationPeers();
  if (!answer.ok) return answer;
  return { ok: true, body: answer.body, blocks: [buildPeerTable(answer.body.peers)] };
}

/** Shows the one relay that a command has changed. */
function showPeer(answer: CallResult<Operations["addPeer"]>): CommandResult {
  if (!answer.ok) return answer;
  return { ok: true, body: answer.body, blocks: [buildPeerTable([answer.body])] };
}

function buildPeerTable(peers: readonly Peer[]) {
  const rows = peers.map((peer) => [
    peer.relay_id,
    peer.display_name,
    toStateCell(peer.state),
    String(peer.tasks_24h ?? 0),
    describePosition(peer.position),
    formatMoney(peer.credit_limit),
    formatMoney(peer.reserved),
    formatTime(peer.last_heartbeat_at),
    peer.endpoint_url,
  ]);
  const columns = [
    { title: "relay", isId: true },
    { title: "name", isFlexible: true },
    { title: "state" },
    { title: "tasks 24 h", align: "right" },
    { title: "owed", align: "right" },
    { title: "credit", align: "right" },
    { title: "reserved", align: "right" },
    { title: "last heartbeat" },
    { title: "address", isFlexible: true },
  ] as const;
  return { columns, rows, empty: "no peers" };
}

function describePosition(position: number): string {
  if (position === 0) return "nothing";
  return position > 0 ? `we owe ${formatMoney(position)}` : `owes us ${formatMoney(-position)}`;
}

async function listPayments(call: CommandCall, relayId: string): Promise<CommandResult> {
  const query = readPageQuery(call);
  const answer = await call.client.listPeerPayments({ params: { relayId }, query });
  if (!answer.ok) return answer;
  const { payments } = answer.body;
  const rows = payments.map((payment) => [
    formatTime(payment.at),
    payment.type,
    formatMoney(payment.amount),
    describePosition(payment.position_after),
    payment.reference ?? "",
    payment.description ?? "",
  ]);
  const columns = [
    { title: "when" },
    { title: "type" },
    { title: "amount", align: "right" },
    { title: "position", align: "right" },
    { title: "reference", isFlexible: true },
    { title: "description", isFlexible: true },
  ] as const;
  return buildListOutput(answer.body, { columns, rows, empty: "no payments" });
}

async function listHistory(call: CommandCall, relayId: string): Promise<CommandResult> {
  const query = readPageQuery(call);
  const answer = await call.client.listPeerHistory({ params: { relayId }, query });
  if (!answer.ok) return answer;
  const { history } = answer.body;
  const rows = history.map((event) => {
    const { at, type, sequence: _, peer_id: _peer, ...members } = event;
    const words = Object.entries(members).map(
      ([name, value]) => `${name}=${JSON.stringify(value)}`,
    );
    return [formatTime(at), type, words.join(" ")];
  });
  const columns = [
    { title: "when" },
    { title: "event" },
    { title: "detail", isFlexible: true },
  ] as const;
  return buildListOutput(answer.body, {
    columns,
    rows,
    empty: "nothing happened in the last 7 days",
  });
}

async function recordPayment(
  { client, options }: CommandCall,
  relayId: string,
  text: string | undefined,
): Promise<CommandResult> {
  const { sent, received, reference = "" } = options;
  const amount = parseMoney(text);
  if (amount === undefined) return usageFault(`AMOUNT ${text} ${MONEY_RULE}`);
  if (sent === received) return usageFault("either --sent or --received is required, not both");
  const direction = sent === true ? "sent" : "received";
  const payment = { amount, direction, reference } as const;
  const answer = await client.settlePeer({ params: { relayId }, body: payment });
  if (!answer.ok) return answer;
  return { ok: true, body: answer.body, blocks: [describePayment(payment, answer.body)] };
}

/** Describes a payment that was recorded, and what one relay owes the other after it. */
export function describePayment(
  payment: Readonly<{ amount: number; direction: "sent" | "received"; reference: string }>,
  recorded: Readonly<{ relay_id: string; position: number; idempotent: boolean }>,
): string {
  const { amount, direction, reference } = payment;
  const { relay_id: relayId, position, idempotent } = recorded;
  const preposition = direction === "sent" ? "to" : "from";
  const fact = idempotent
    ? `${reference} was recorded before and changes nothing`
    : `${formatMoney(amount)} ${direction} ${preposition} ${relayId}, paid as ${reference}`;
  return `${fact}; ${position === 0 ? "nothing is owed" : describePosition(position)}`;
}

async function runOutbox(call: CommandCall): Promise<CommandResult> {
  const { client, args, options } = call;
  const [act, settlementId = ""] = args;
  if (act === undefined) return listOutbox(call);
  const params = { settlementId };
  if (act === "retry") return show(await client.retryOutbox({ params }));
  const { reason = "" } = options;
  return show(await client.giveUpOutbox({ params, body: { reason } }));
}

async function listOutbox(call: CommandCall): Promise<CommandResult> {
  const { state } = call.options;
  const query = { ...readPageQuery(call), ...omitMissing({ state }) };
  const answer = await call.client.listOutbox({ query: query as object });
  if (!answer.ok && answer.code === "federation.disabled") {
    const blocks = ["federation is off: no settlements are sent to other relays"];
    return { ok: true, body: { settlements: [], next_cursor: null }, blocks };
  }
  if (!answer.ok) return answer;
  const { settlements } = answer.body;
  const rows = settlements.map((entry) => [
    entry.settlement_id,
    entry.relay_id,
    formatMoney(entry.amount),
    toStateCell(entry.state),
    String(entry.attempts),
    formatTime(entry.next_attempt_at),
    entry.last_error ?? "",
  ]);
  const columns = [
    { title: "settlement", isId: true },
    { title: "relay", isId: true },
    { title: "amount", align: "right" },
    { title: "state" },
    { title: "attempts", align: "right" },
    { title: "next attempt" },
    { title: "last error", isFlexible: true },
  ] as const;
  return buildListOutput(answer.body, { columns, rows, empty: "no settlements" });
}
