import { expect, test } from "vitest";
import { alice, aliceId } from "../../test/artifacts.ts";
import { formatNamedKey, parseNamedKey } from "./parse-named-key.ts";

const { publicKey, did } = alice;

test.each([
  [publicKey, { publicKey }],
  [publicKey.toUpperCase(), { publicKey }],
  [did, { publicKey }],
  [`${did}=agent`, { publicKey, role: "agent" }],
  [`${publicKey}=relay`, { publicKey, role: "relay" }],
  [`${publicKey}=agent:${aliceId}`, { publicKey, role: "agent", id: aliceId }],
  [`${did}=relay:${aliceId}`, { publicKey, role: "relay", id: aliceId }],
])("the named key %s is read, and is written again in the same form", (text, named) => {
  expect(parseNamedKey(text)).toEqual(named);
  expect(formatNamedKey(named as never)).toBe(
    text.replace(did, publicKey).replace(publicKey.toUpperCase(), publicKey),
  );
});

test.each([
  "",
  "00",
  "did:key:z6Mk",
  `${publicKey}=`,
  `${publicKey}=witness`,
  `${publicKey}=${aliceId}`,
  `${publicKey}=agent:`,
  `${publicKey}=agent:alice`,
  `${publicKey}=agent:${aliceId}=relay`,
  `=agent`,
])("%j is no named key", (text) => {
  expect(parseNamedKey(text)).toBeNull();
});
