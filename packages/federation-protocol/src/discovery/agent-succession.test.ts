import { deriveAgentId, bytesToHex, generateKeyPair, signSuccession } from "@agent/crypto";
import { describe, expect, it, test } from "vitest";
import { alpha, beta, gamma, NOW, worker } from "../../test/messages.ts";
import { boundSuccessions, checkKeyProof, SUCCESSION_LIMITS } from "./agent-succession.ts";
import { resolveClaims } from "./claims.ts";
import { parseEntries } from "./entries.ts";

const pairs = Array.from({ length: 20 }, (_, at) =>
  generateKeyPair(new Uint8Array(32).fill(at + 1)),
);
const keys = pairs.map(({ publicKey }) => bytesToHex(publicKey));
const [first = "", second = "", third = "", fourth = ""] = keys;
const id = deriveAgentId(first);

const step = (from: number, to: number, more: object = {}) => ({
  ...signSuccession({
    agent_id: id,
    oldSecretKey: pairs[from]!.secretKey,
    newSecretKey: pairs[to]!.secretKey,
    timestamp: NOW + to,
  }),
  ...more,
});
const chain = [step(0, 1), step(1, 2)];
const long = Array.from({ length: 17 }, (_, at) => step(at, at + 1));

const entry = (public_key: string | null, succession?: unknown, agent_id = id) => ({
  agent_id,
  public_key,
  capabilities: ["sum"],
  ...(succession !== undefined && { succession }),
});

interface SenderOptions {
  readonly via?: string;
  readonly sends?: boolean;
}
const take = (agents: readonly object[], { via = beta.id, sends = true }: SenderOptions = {}) =>
  parseEntries(
    { agents },
    {
      peer: { relayId: via, trust: 0.5, latencyMs: 1, sendsSuccession: sends },
      self: alpha.id,
      isOwn: () => false,
    },
  );

describe("D1: an entry with a version 8 id", () => {
  it.each<[string, object]>([
    ["the key that it was made of", entry(first)],
    ["a key and the one record that leads to it", entry(second, chain[0])],
    ["a key and the list of records that lead to it", entry(third, chain)],
    ["a key and a chain of the greatest length", entry(keys[16]!, long.slice(0, 16))],
    ["no key", entry(null)],
  ])("an entry with a version 8 id is accepted with %s", (_, good) => {
    expect(take([good])).toHaveLength(1);
  });

  it.each<[string, object]>([
    ["a later key and no chain", entry(second)],
    ["a later key and an empty chain", entry(second, [])],
    ["a chain to another key", entry(third, chain[0])],
    ["a chain in the wrong order", entry(third, chain.toReversed())],
    ["a chain that does not begin at the id's key", entry(third, chain[1])],
    ["a chain with a changed record", entry(second, step(0, 1, { timestamp: 1 }))],
    ["a chain of another id", entry(second, chain[0], deriveAgentId(fourth))],
    ["a chain with too many records", entry(keys[17]!, long)],
    ["a record of too many characters", entry(second, step(0, 1, { note: "x".repeat(2_048) }))],
    ["a text as chain", entry(second, "record")],
    ["a list of texts as chain", entry(second, ["record"])],
  ])("an entry with a version 8 id is left out with %s, without effect on others", (_, bad) => {
    expect(take([bad, entry(first, undefined, id)]).map(({ public_key }) => public_key)).toEqual([
      first,
    ]);
  });

  it("an entry with a version 8 id keeps only the chain that proves its key, with all signed members", () => {
    expect(take([entry(third, chain)])[0]).toMatchObject({ succession: chain });
    expect(take([entry(first, chain)])[0]).not.toHaveProperty("succession");
    expect(take([entry(worker.publicKey, chain, worker.id)])[0]).not.toHaveProperty("succession");
  });

  it("an entry with a version 8 id is accepted without a chain, but not with a wrong one, from peers that send none", () => {
    expect(take([entry(second)], { sends: false })).toHaveLength(1);
    expect(take([entry(third, chain[0])], { sends: false })).toEqual([]);
  });

  it("an entry with a version 8 id is accepted without a chain if its peer forwards it for a relay that sends none", () => {
    expect(take([{ ...entry(second), source_relay: gamma.id }])).toHaveLength(1);
  });
});

test("D1: at most 64 records of an answer are verified, those that prove nothing included", () => {
  const budget = SUCCESSION_LIMITS.recordsPerAnswer;
  const wrong = Array.from({ length: budget / 2 }, () => entry(fourth, chain));
  expect(take([...wrong, entry(third, chain)])).toEqual([]);
  expect(take([...wrong.slice(1), entry(third, chain)])).toHaveLength(1);
  expect(checkKeyProof(take([entry(third, chain)])[0]!, 1)).toEqual({
    proof: "unproven",
    chain: [],
  });
});

test("D1: an answer carries at most 64 records, and entries whose chain does not fit go without", () => {
  const entries = Array.from({ length: 5 }, () => take([entry(keys[16]!, long.slice(0, 16))])[0]!);
  const bounded = boundSuccessions([...entries, ...take([entry(first)])], {
    isRead: true,
  });
  expect(bounded.map((agent) => "succession" in agent)).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
  ]);
});

it.each<[string, unknown, isRead: boolean]>([
  ["to a peer that does not read it", chain, false],
  ["of too many records", long, true],
  [
    "with a record of too many characters",
    [step(0, 1), step(1, 2, { note: "x".repeat(2_048) })],
    true,
  ],
])("D1: an entry of an answer goes without a chain %s", (_, succession, isRead) => {
  const listed = { ...take([entry(first)])[0]!, succession: succession as typeof chain };
  const next = take([entry(third, chain)])[0]!;
  const bounded = boundSuccessions([listed, listed, listed, listed, next], { isRead });
  expect(bounded.map((agent) => "succession" in agent)).toEqual([
    false,
    false,
    false,
    false,
    isRead,
  ]);
});

describe("D1: the claims of a version 8 id", () => {
  const claim = (via: string, sent: object, { isAdmitted = false, sends = true } = {}) => ({
    agent: take([sent], { via, sends })[0]!,
    isAdmitted,
  });

  it("a claim under the last key of a chain wins over one under a key that it replaced", () => {
    const resolved = resolveClaims([
      claim(beta.id, entry(first)),
      claim(gamma.id, entry(third, chain)),
      claim(worker.id, entry(second, chain[0])),
    ]);
    expect(resolved).toMatchObject({ public_key: third });
    expect(resolved).not.toHaveProperty("id_conflict");
  });

  it("a claim that a chain proves wins over an unproven one", () => {
    const resolved = resolveClaims([
      claim(beta.id, entry(fourth), { sends: false }),
      claim(gamma.id, entry(second, chain[0])),
    ]);
    expect(resolved).toMatchObject({ public_key: second });
    expect(resolved).not.toHaveProperty("id_conflict");
  });

  it("two claims with diverging chains are a conflict", () => {
    expect(
      resolveClaims([
        claim(beta.id, entry(second, step(0, 1))),
        claim(gamma.id, entry(third, step(0, 2))),
      ]),
    ).toMatchObject({ id_conflict: true });
  });

  it("an admitted peer's claim wins over an unknown relay's chain, because a stolen key can sign one", () => {
    expect(
      resolveClaims([
        claim(beta.id, entry(first), { isAdmitted: true }),
        claim(gamma.id, entry(second, chain[0])),
      ]),
    ).toMatchObject({ public_key: first });
  });
});
