import { verifyJson, hexToBytes } from "@agent/crypto";
import { flattenChain } from "@agent/receipts";
import { createSeededRandom } from "@agent/testkit";
import { entryOf } from "@agent/transparency";
import { describe, expect, test, vi } from "vitest";
import { createDelegation } from "../../test/create-delegation.ts";
import { type IsSignedBy, listLoggableParts } from "../index.ts";

// Three receipts, one inside the other, by agents with 20 keys of which the last one signs.
const { evidence } = createDelegation(createSeededRandom(3), {
  hops: 3,
  keys: 20,
  credential: false,
  price: 0,
});
const { receipt, task, signers } = evidence;
const nested = flattenChain(receipt).links.map((link) => link.receipt);

const keysOf = (agentId: string) =>
  signers.find(({ agent_id }) => agent_id === agentId)!.keys.map(({ public_key }) => public_key);

const countingCheck = () =>
  vi.fn<IsSignedBy>((each, publicKey) => verifyJson(each, hexToBytes(publicKey)));

/** The entries of the receipts, each under one of its agent's keys. */
const listEntries = (place: number) => [
  entryOf.receipt(receipt, {
    time: 1,
    publicKey: keysOf(receipt.agent_id).at(place)!,
    ref: task.task_id,
  }),
  ...nested.map((each) =>
    entryOf.receipt(each, {
      time: 1,
      publicKey: keysOf(each.agent_id).at(place)!,
      ref: each.relay_task_id ?? each.task_id,
    }),
  ),
];

describe("entries of receipts", () => {
  test("entries of the signing key are found with one verification each, however many keys there are", () => {
    const isSignedBy = countingCheck();
    const parts = listLoggableParts(evidence, isSignedBy);
    expect(isSignedBy).not.toHaveBeenCalled();
    const held = listEntries(-1).map((entry) => parts.findIndex((part) => part.isHeldBy(entry)));
    expect(held).toEqual([0, 1, 2]);
    expect(isSignedBy).toHaveBeenCalledTimes(3);
  });

  test("entries of another key of the agent belong to no part of the receipt", () => {
    const parts = listLoggableParts(evidence);
    expect(listEntries(0).filter((entry) => parts.some((part) => part.isHeldBy(entry)))).toEqual(
      [],
    );
  });

  test("entries of a key of another agent are refused without a verification", () => {
    const isSignedBy = countingCheck();
    const parts = listLoggableParts(evidence, isSignedBy);
    const foreign = entryOf.receipt(receipt, {
      time: 1,
      publicKey: keysOf(nested[0]!.agent_id).at(-1)!,
      ref: task.task_id,
    });
    expect(parts.some((part) => part.isHeldBy(foreign))).toBe(false);
    expect(isSignedBy).not.toHaveBeenCalled();
  });

  test("entries of a receipt that is inside several times belong to one part", () => {
    const twice = { ...receipt, delegation_receipts: [nested[0], nested[0]] } as typeof receipt;
    expect(listLoggableParts({ ...evidence, receipt: twice })).toHaveLength(3);
  });
});
