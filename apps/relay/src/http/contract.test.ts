import type { Operation } from "@agent/wire";
import { expect, test } from "vitest";
import type { Fetch } from "../../test/network/carrier.ts";
import {
  getCases,
  describeImplied,
  describeRefusals,
  describeSuccesses,
  operationNames,
} from "../../test/contract/describe-contract.ts";
import { createProxyCarrier } from "../../test/contract/proxied.ts";
import { buildPath } from "../../test/contract/samples.ts";
import { operations } from "../operations.ts";

test.each(operationNames)(
  "%s has a case for each success and each refusal in its row, and no other case",
  (name) => {
    const { ok, refusals }: Operation = operations[name];
    const declared = [...Object.keys(ok), ...refusals];
    expect(Object.keys(getCases(name)).toSorted()).toEqual(declared.toSorted());
  },
);

// The refusals pass through it as well in `pnpm test:proxy`, which takes longer.
const carry = createProxyCarrier();
describeSuccesses(carry);
describeRefusals();
describeImplied();

const another: [string, Fetch][] = [
  ["a media type", () => new Response("text", { headers: { "content-type": "a/b" } })],
  ["a status", () => Response.json({}, { status: 418 })],
  ["a body", () => Response.json(null)],
];

test.each([
  ...another.map(([what, relay]) => ["health" as const, what, relay] as const),
  ...operationNames.map((name) => [name, ...another[2]!] as const),
])(
  "the response check finds whatever a response of %s has that docs/openapi.json lacks: %s",
  async (name, _, relay) => {
    const { method } = operations[name];
    const request = new Request(`http://relay.test${buildPath(name)}`, { method });
    await expect(carry(relay, request)).rejects.toThrow(/^response/m);
  },
);
