import { expect, test } from "vitest";
import { accountOf, FEE_ACCOUNT } from "./account.ts";
import { asMicro } from "./money.ts";
import { buildSettlementPostings, type Posting } from "./posting.ts";
import { matchesPostings, type RecordedSettlement } from "./settlement-record.ts";

const [payerId, payeeId, taskId] = ["payer", "payee", "task"];
const record: RecordedSettlement = { amount: 200, fee: 10, net: 190, payerId, payeeId };
const postings = buildSettlementPostings({
  payerId,
  payeeId,
  taskId,
  locked: asMicro(240),
  charge: asMicro(200),
  fee: asMicro(10),
});
const peer = accountOf.peer("far");
const held = accountOf.held(taskId);
const move = (type: Posting["type"], from: Posting["account"], to: Posting["account"], n: number) =>
  [
    { account: from, type, amount: asMicro(0 - n) },
    { account: to, type, amount: asMicro(n) },
  ] as const;
const fromPeer = { ...record, payerId: "relay:far" };
const changed = (at: number, change: Partial<Posting>) =>
  postings.map((posting, i) => (i === at ? { ...posting, ...change } : posting));

test.each<[string, boolean, RecordedSettlement, readonly Posting[]]>([
  ["matches the postings of its payment", true, record, postings],
  ["matches no postings when nothing was paid", true, { ...record, amount: 0, fee: 0, net: 0 }, []],
  [
    "matches a returned hold when nothing was paid",
    true,
    { ...record, amount: 0, fee: 0, net: 0 },
    postings.slice(0, 2),
  ],
  [
    "matches a payment to a peer",
    true,
    record,
    postings.map((posting) =>
      posting.account === "agent:payee" ? { ...posting, account: peer } : posting,
    ),
  ],
  [
    "matches a payment by a peer, which the movement itself charges",
    true,
    fromPeer,
    [...move("settlement_credit", held, "agent:payee", 190), ...move("fee", held, FEE_ACCOUNT, 10)],
  ],
  [
    "matches a payment by a peer that owes it, because the hold had ended",
    true,
    fromPeer,
    [...move("settlement_credit", peer, "agent:payee", 190), ...move("fee", peer, FEE_ACCOUNT, 10)],
  ],
  [
    "matches the forwarded payment of an intermediate relay",
    true,
    fromPeer,
    [...move("fee", held, FEE_ACCOUNT, 10), ...move("settlement_credit", held, peer, 190)],
  ],
  ["differs by its amount", false, { ...record, amount: 201 }, postings],
  [
    "differs by the amount that a peer paid",
    false,
    { ...fromPeer, amount: 201 },
    [...move("settlement_credit", held, "agent:payee", 190), ...move("fee", held, FEE_ACCOUNT, 10)],
  ],
  ["differs by its amount and its fee", false, { ...record, amount: 201, fee: 11 }, postings],
  ["differs by its net amount and its fee", false, { ...record, fee: 9, net: 191 }, postings],
  ["differs by its payer", false, { ...record, payerId: "other" }, postings],
  ["differs by its payee", false, { ...record, payeeId: "other" }, postings],
  ["differs when a posting is missing", false, record, postings.slice(0, -1)],
  ["differs when there are no postings", false, record, []],
  ["differs when a posting was changed", false, record, changed(3, { amount: asMicro(191) })],
  [
    "differs when more was returned than held",
    false,
    record,
    changed(0, { amount: asMicro(-239) }),
  ],
  [
    "differs when the payer was charged less than the amount",
    false,
    record,
    changed(1, { amount: asMicro(235) }).map((posting) =>
      posting.type === "settlement_debit" ? { ...posting, amount: asMicro(-195) } : posting,
    ),
  ],
  ["differs when the fee went to an agent", false, record, changed(4, { account: "agent:x" })],
  [
    "differs when another payer was charged as well",
    false,
    record,
    [...postings, ...move("settlement_debit", "agent:x", "agent:y", 5)],
  ],
])("a settlement record %s", (_, expected, recorded, moved) => {
  expect(matchesPostings(recorded, moved)).toBe(expected);
});
