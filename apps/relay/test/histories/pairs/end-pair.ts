import { checkRows } from "../check-money.ts";
import { payOutAll, resolveAll } from "../end-history.ts";
import { unfreezeRelay } from "../relay-steps.ts";
import { checkPair } from "./check-pair.ts";
import type { HistoryPair } from "./history-pair.ts";
import {
  addPeer,
  getPeerPath,
  giveUpSettlement,
  listHeld,
  recordReceived,
  retrySettlement,
  setCredit,
} from "./peer-steps.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const CREDIT = 1_000;

const repeat = (times: number, ms: number) => Array.from({ length: times }, () => ms);
/** Longer than all attempts of a settlement and than the hold that waits for it, twice. */
const DEADLINES_MS = [
  ...repeat(3, MINUTE_MS),
  ...repeat(6, 10 * MINUTE_MS),
  ...repeat(8, HOUR_MS),
  ...repeat(3, 6 * HOUR_MS),
];
/** Longer than any other deadline of the relays. */
const LAST_DAYS_MS = [DAY_MS, 3 * DAY_MS, 5 * DAY_MS];

/** Lets everything between two relays end, with or without a peering, and compares and pays out all money. */
export async function endPair(pair: HistoryPair, endsPeered: boolean): Promise<void> {
  for (const { relay, link } of pair.sites) {
    relay.note(`the end of ${relay.name}`);
    link.pattern = 0;
    link.lostPath = undefined;
    await link.plug();
    await unfreezeRelay(relay);
    relay.ahead = 0;
    await relay.tick();
    await relay.asOperator("POST", "/api/v1/admin/clock/accept");
  }
  await recordReceived(pair);
  if (endsPeered) await joinPeers(pair);
  await passAll(pair, DEADLINES_MS);
  await decideHeld(pair);
  await passAll(pair, LAST_DAYS_MS);
  for (const { relay } of pair.sites) {
    await resolveAll(relay);
    await checkRows(relay);
  }
  await checkPair(pair, endsPeered);
  await passAll(pair, [31 * DAY_MS]);
  for (const { relay } of pair.sites) await payOutAll(relay);
}

/** Tries each settlement that waits for the operator once more, and then gives it up. */
async function decideHeld(pair: HistoryPair): Promise<void> {
  let isRetried = false;
  for (const site of pair.sites) {
    for (const held of await listHeld(site)) {
      await retrySettlement(site, held);
      isRetried = true;
    }
  }
  if (isRetried) await passAll(pair, DEADLINES_MS);
  for (const site of pair.sites) {
    for (const held of await listHeld(site)) {
      pair.gaveUp.add(held.task_id);
      await giveUpSettlement(site, held);
    }
  }
}

async function joinPeers({ sites }: HistoryPair): Promise<void> {
  for (const site of sites) await addPeer(site);
  // The first attempt fails while the other relay still refuses this one.
  const answers = [await addPeer(sites[0]), await addPeer(sites[1])];
  const refused = sites.filter((_, at) => answers[at]!.body["code"] === "peer.refused");
  for (const { other } of refused) {
    // That relay was restored from a backup in which it was not removed, so its operator starts anew.
    await other.relay.asOperator("DELETE", getPeerPath(other));
  }
  for (const { other } of refused) {
    await addPeer(other);
    await addPeer(other.other);
    await addPeer(other);
  }
  for (const site of sites) await setCredit(site, CREDIT);
}

async function passAll(pair: HistoryPair, passes: readonly number[]): Promise<void> {
  for (const ms of passes) await pair.advance(ms);
}
