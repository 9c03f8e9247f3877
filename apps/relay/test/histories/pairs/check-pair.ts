import { toMicro } from "@agent/budget";
import type { HistoryRelay } from "../history-relay.ts";
import type { HistoryPair, Site } from "./history-pair.ts";

/** Checks what two relays owe each other, once all that was under way between them has ended. */
export async function checkPair(pair: HistoryPair, endsPeered: boolean): Promise<void> {
  for (const site of pair.sites) {
    await checkDecided(site);
    if (!pair.isRestored) await checkPaidWork(pair, site);
  }
  if (!pair.isRestored) await checkMirrored(pair);
  if (pair.gaveUp.size === 0) await checkAlarms(pair, endsPeered);
}

/** Sums the movements between a relay and its peer by task or payment, in micro-units. */
async function sumMovements({ relay, other }: Site): Promise<Map<string, number>> {
  const rows = await relay.list<{ reference_id: string; amount: number }>(
    `select reference_id, sum(amount) as amount from postings where account = ?
     group by reference_id having sum(amount) <> 0`,
    [`peer:${other.relay.t.relay.relayId}`],
  );
  return new Map(rows.map(({ reference_id, amount }) => [reference_id, Number(amount)]));
}

/** Checks that each task and each payment changed both books by the same amount. */
async function checkMirrored({ sites: [site], gaveUp }: HistoryPair): Promise<void> {
  const [ours, theirs] = [await sumMovements(site), await sumMovements(site.other)];
  for (const id of new Set([...ours.keys(), ...theirs.keys()])) {
    const [own = 0, others = 0] = [ours.get(id), theirs.get(id)];
    if (own + others === 0 || gaveUp.has(id)) continue;
    await fail(site, "both books say the same of a task", id, { own, others });
  }
}

/**
 * Checks that peers report the difference of their books. Only a restore causes one, and relays that are no peers
 * do not compare them.
 */
async function checkAlarms(
  { sites, isRestored, differences }: HistoryPair,
  endsPeered: boolean,
): Promise<void> {
  const [site] = sites;
  const alarms = sites.flatMap(({ relay }) => relay.alarms.slice(-1));
  // While only one relay has recorded a payment, the books differ by it.
  const wrong = alarms.filter((line) => !differences.has(getDifference(line)));
  if (!isRestored && wrong.length > 0) {
    site.relay.fail("no relay reports a difference of books that agree", wrong);
  }
  if (!endsPeered) return;
  const movements = [await sumMovements(site), await sumMovements(site.other)];
  const difference = movements
    .flatMap((sums) => [...sums.values()])
    .reduce((all, amount) => all + amount, 0);
  if (difference === 0) return;
  const reported = alarms.map(getDifference);
  if (!reported.includes(Math.abs(difference))) {
    const sums = movements.map((sums) => [...sums]);
    site.relay.fail("peers report the difference of their books", { difference, alarms, sums });
  }
}

/** Returns the difference that an alarm states, in micro-units. */
function getDifference(alarm: string): number {
  return Math.abs(toMicro((JSON.parse(alarm) as { readonly difference: number }).difference));
}

interface PeerWork {
  readonly task_id: string;
  readonly body: string;
  readonly defaulted: number | null;
  readonly undecided: number | null;
}

/** Checks that completed work of a peer's task is paid, or that its relay says why it is not. */
async function checkPaidWork({ gaveUp, cleared }: HistoryPair, site: Site): Promise<void> {
  const unpaid = await site.relay.list<PeerWork>(
    "select task_id, body, defaulted, undecided from federation_inbound where settlement_id is null",
  );
  for (const { task_id, body, defaulted, undecided } of unpaid) {
    const { receiptStatus, amount } = JSON.parse(body) as { receiptStatus: string; amount: number };
    if (receiptStatus !== "completed" || amount === 0) continue;
    if (defaulted !== null || gaveUp.has(task_id) || cleared.has(task_id)) continue;
    const [accepted] = await site.other.relay.list(
      'select task_id from federation_outbound where task_id = ? and body like \'%"state":"completed"%\'',
      [task_id],
    );
    if (accepted !== undefined) await fail(site, "accepted work is paid or in default", task_id);
    if (undecided === null) site.relay.note(`not accepted: ${task_id}`);
  }
}

/** Checks that nothing is reserved for a peer, and that each settlement is decided. */
async function checkDecided({ relay }: Site): Promise<void> {
  const open = await relay.list(
    `select task_id, payable, body from federation_outbound where payable <> 0
     union all select task_id, payable, body from federation_outbox where ended_at is null`,
  );
  if (open.length > 0) relay.fail("every settlement is decided", open);
}

/** Fails with all that both relays have stored about a task. */
async function fail(site: Site, rule: string, id: string, detail: object = {}): Promise<never> {
  const stored = [await listStored(site.relay, id), await listStored(site.other.relay, id)];
  return site.relay.fail(`${site.relay.name}: ${rule}`, { id, ...detail, stored });
}

async function listStored(relay: HistoryRelay, id: string) {
  const [task, outbound, inbound, outbox, postings] = await Promise.all([
    relay.list("select status, claimed_by, agent_id from tasks where task_id = ?", [id]),
    relay.list("select body from federation_outbound where task_id = ?", [id]),
    relay.list("select body, settlement_id from federation_inbound where task_id = ?", [id]),
    relay.list("select body from federation_outbox where task_id = ?", [id]),
    relay.list("select account, type, amount from postings where reference_id = ?", [id]),
  ]);
  return { relay: relay.name, task, outbound, inbound, outbox, postings };
}
