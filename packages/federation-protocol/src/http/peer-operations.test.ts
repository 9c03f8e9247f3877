import { buildOpenApi, errors, listImpliedRefusals, type Operation } from "@agent/wire";
import { FEDERATION_PREFIX } from "@agent/wire/engine";
import { describe, expect, it } from "vitest";
import { peerOperations } from "./peer-operations.ts";

const rows: readonly [string, Operation][] = Object.entries(peerOperations);
const namesOf = (rule: (row: Operation) => boolean) =>
  rows.filter(([, row]) => rule(row)).map(([name]) => name);

interface Described {
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly description?: string }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

const document = buildOpenApi(peerOperations, "1.2.3") as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
};

/** Every object anywhere in a JSON value. */
function* objectsIn(value: unknown): Iterable<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  yield value as Record<string, unknown>;
  for (const member of Object.values(value)) yield* objectsIn(member);
}

describe("the table of operations between relays", () => {
  it("every request but that for the identity must be signed by a peer", () => {
    expect(namesOf(({ auth }) => auth !== "peer")).toEqual(["relayIdentity"]);
    expect(peerOperations.relayIdentity.auth).toBe("public");
  });

  it("all paths are under the federation prefix, each method of a path once", () => {
    expect(namesOf(({ path }) => !path.startsWith(FEDERATION_PREFIX))).toEqual([]);
    const places = rows.map(([, { method, path }]) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });

  it("only what is asked before a peer is known is limited by address", () => {
    expect(namesOf(({ tier }) => tier !== null)).toEqual([
      "relayIdentity",
      "proposePeer",
      "confirmPeer",
    ]);
  });

  it("the operations between relays take no idempotency keys, no tokens and no unread bodies", () => {
    expect(namesOf((row) => row.keyed ?? row.singleUse ?? row.rawBody ?? false)).toEqual([]);
    expect(namesOf((row) => row.scope !== undefined || row.ownerOnly === true)).toEqual([]);
  });
});

describe.each(rows)("%s", (_, row) => {
  const described = document.paths[row.path]?.[row.method.toLowerCase()];

  it("the operation has a success and names each of its refusals once", () => {
    const statuses = Object.keys(row.ok).map(Number);
    expect(statuses).not.toEqual([]);
    expect([200, 202]).toEqual(expect.arrayContaining(statuses));
    expect(new Set(row.refusals).size).toBe(row.refusals.length);
  });

  it("OpenAPI describes the operation with its statuses, refusals, headers and body", () => {
    const refusals = [...row.refusals, ...listImpliedRefusals(row)];
    const statuses = new Set([
      ...Object.keys(row.ok),
      ...refusals.map((code) => String(errors[code].status)),
    ]);
    expect(Object.keys(described?.responses ?? {}).toSorted()).toEqual([...statuses].toSorted());
    for (const code of refusals) {
      expect(described?.responses[errors[code].status]?.description).toContain(`\`${code}\``);
    }
    const signed = [{ relayId: [], relaySignature: [], relayTimestamp: [] }];
    expect(described?.security).toEqual(row.auth === "peer" ? signed : []);
    expect(described?.requestBody !== undefined).toBe(row.body !== undefined);
  });

  it("OpenAPI describes each parameter and each member of the request and the answers", () => {
    const parameters = described?.parameters?.map((each) => [each.name, each] as const) ?? [];
    const members = [...objectsIn(described)].flatMap(({ properties }) =>
      Object.entries((properties ?? {}) as Record<string, { readonly description?: string }>),
    );
    const missing = [...parameters, ...members].filter(
      ([, { description }]) => description === undefined,
    );
    expect(missing.map(([name]) => name)).toEqual([]);
  });

  it("H17: only enumerations that take words of later versions are in the answers", () => {
    const enumerations = [...objectsIn(described?.responses)].filter(({ enum: words }) => words);
    expect(enumerations.filter((schema) => schema["x-extensible"] !== true)).toEqual([]);
  });
});
