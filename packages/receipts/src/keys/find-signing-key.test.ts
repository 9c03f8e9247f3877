import { expect, test } from "vitest";
import { alice, bob, buildSignedReceipt } from "../../test/fixtures.ts";
import { type BoundKeys, type ExecutionReceipt, findSigningKey } from "../index.ts";

const named = buildSignedReceipt();
const unnamed = buildSignedReceipt({ public_key: undefined });

test.each<[string, ExecutionReceipt, BoundKeys | undefined, string | undefined]>([
  ["the embedded key without bound keys", named, undefined, alice.publicKey],
  ["the only bound key", unnamed, alice.publicKey, alice.publicKey],
  ["the embedded one of the bound keys", named, [bob.publicKey, alice.publicKey], alice.publicKey],
  ["the bound key that verifies", unnamed, [bob.publicKey, alice.publicKey], alice.publicKey],
  [
    "the bound key that verifies, not an embedded key that is not bound",
    buildSignedReceipt({ public_key: "0".repeat(64) }),
    [bob.publicKey, alice.publicKey],
    alice.publicKey,
  ],
  ["no key if there is none", unnamed, undefined, undefined],
])("the signing key of a receipt is %s", (_, receipt, bound, key) => {
  expect(findSigningKey(receipt, bound)).toBe(key);
});
