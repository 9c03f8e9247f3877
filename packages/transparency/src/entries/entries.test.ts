import { bytesToHex, canonicalize, sha256Hex } from "@agent/crypto";
import { describe, expect, test } from "vitest";
import { ENTRY_KINDS, hashTag, isSameArtifact, type LogEntry, parseLogEntry } from "./entry.ts";
import { entryOf } from "./entry-of.ts";
import { type EntryAlarm, scanEntries } from "./scan-entries.ts";

const time = 1_790_000_000_000;
const key = "a".repeat(64);
const hashOf = (value: object) => sha256Hex(canonicalize(value));

function parse(bytes: Uint8Array): LogEntry {
  const parsed = parseLogEntry(bytes);
  if (!parsed.ok) throw new Error(parsed.code);
  return parsed.entry;
}

const tag = (type: "agent" | "key" | "ref", value: string | null) =>
  value === null ? "0".repeat(32) : bytesToHex(hashTag(type, value));

const receipt = { agent_id: "agent", task_id: "task", signature: "s" };
const record = { payee_id: "payee", task_id: "task", net: 1 };
const credential = { id: "urn:uuid:1", proof: {} };
const revocation = { credential_id: "urn:uuid:1", revoked_at: 5 };
const bound = { agent_id: "agent", public_key: key, device_id: "device", valid_from: 5 };
const ended = { agent_id: "agent", public_key: key, device_id: null, valid_until: 5 };
const outcome = { task_id: "task", share: 1 };
const noShow = { agent_id: "agent", task_id: "task", type: "no_show" };
const step = { relay_id: "relay", new_public_key: key };

describe("the entry of", () => {
  const cases: readonly [
    keyof typeof ENTRY_KINDS,
    Uint8Array,
    string | null,
    string | null,
    string | null,
    string,
  ][] = [
    [
      "receipt",
      entryOf.receipt(receipt, { time, publicKey: key, ref: "here" }),
      "agent",
      key,
      "here",
      hashOf(receipt),
    ],
    ["settlement", entryOf.settlement(record, { time }), "payee", null, "task", hashOf(record)],
    [
      "credential",
      entryOf.credential(credential, { time, agentId: "agent", publicKey: key }),
      "agent",
      key,
      "urn:uuid:1",
      hashOf(credential),
    ],
    [
      "credential_revoked",
      entryOf.credentialRevoked(revocation, { time, agentId: "agent", publicKey: key }),
      "agent",
      key,
      "urn:uuid:1",
      hashOf(revocation),
    ],
    ["key_bound", entryOf.keyBound(bound, { time }), "agent", key, "device", hashOf(bound)],
    ["key_ended", entryOf.keyEnded(ended, { time }), "agent", key, null, hashOf(ended)],
    [
      "outcome",
      entryOf.outcome(outcome, { time, agentId: "agent" }),
      "agent",
      null,
      "task",
      hashOf(outcome),
    ],
    [
      "liabilities",
      entryOf.liabilities(record, { time, epochId: "epoch" }),
      null,
      null,
      "epoch",
      hashOf(record),
    ],
    [
      "continued",
      entryOf.continued("o\n1\nr\n", { time, olderOrigin: "o" }),
      null,
      null,
      "o",
      sha256Hex("o\n1\nr\n"),
    ],
    [
      "continued",
      entryOf.continued(null, { time, olderOrigin: "o" }),
      null,
      null,
      "o",
      "0".repeat(64),
    ],
    ["no_show", entryOf.noShow(noShow, { time }), "agent", null, "task", hashOf(noShow)],
    ["relay_key", entryOf.relayKey(step, { time }), "relay", key, null, hashOf(step)],
  ];
  test.each(cases)("a %s has its tags and its hash", (kind, entry, agent, publicKey, ref, hash) => {
    expect(parse(entry)).toEqual({
      kind,
      kindNumber: ENTRY_KINDS[kind],
      time,
      agentTag: tag("agent", agent),
      keyTag: tag("key", publicKey),
      refTag: tag("ref", ref),
      artifactHash: hash,
    });
  });

  test("there is exactly one way to build an entry of each kind", () => {
    expect(new Set(cases.map(([kind]) => kind))).toEqual(new Set(Object.keys(ENTRY_KINDS)));
  });

  test("a record has the same entry before and after it is signed", () => {
    const signed = { ...record, signature: "s" };
    expect(entryOf.settlement(signed, { time })).toEqual(entryOf.settlement(record, { time }));
    expect(entryOf.noShow({ ...noShow, signature: "s" } as never, { time })).toEqual(
      entryOf.noShow(noShow, { time }),
    );
  });

  test("the same value has different tags as an agent, as a key and as an id", () => {
    const tags = (["agent", "key", "ref"] as const).map((type) => tag(type, "value"));
    expect(new Set(tags).size).toBe(3);
  });

  test("an entry belongs to its artifact at any time, and to no other artifact", () => {
    const entry = entryOf.settlement(record, { time });
    expect(isSameArtifact(entry, entryOf.settlement(record, { time: time + 1 }))).toBe(true);
    const others = [
      entryOf.settlement({ ...record, net: 2 } as typeof record, { time }),
      entryOf.settlement({ ...record, task_id: "other" }, { time }),
      entryOf.noShow({ agent_id: "payee", ...record }, { time }),
      entry.with(0, entry[0]! + 1),
      entry.with(1, ENTRY_KINDS.credential),
      entry.slice(0, 89),
      new Uint8Array(),
    ];
    for (const other of others) expect(isSameArtifact(entry, other)).toBe(false);
  });
});

describe("a scan of entries", () => {
  const watched = {
    agentIds: ["agent", "payee"],
    keys: [key],
    knownArtifacts: [hashOf(receipt)],
    knownRefs: ["task"],
  };
  const otherKey = "b".repeat(64);
  const signedBy = (publicKey: string, of: { agent_id: string }, ref = "task") =>
    entryOf.receipt(of, { time, publicKey, ref });
  const known = signedBy(key, receipt);
  const settled = entryOf.settlement(record, { time });

  test.each([
    ["nothing", [], []],
    ["a known receipt and its settlement", [known, settled], []],
    ["a watched key of a watched agent", [entryOf.keyBound(bound, { time })], []],
    ["the end of a key", [entryOf.keyEnded({ ...ended, public_key: otherKey }, { time })], []],
    [
      "another key of a watched agent",
      [entryOf.keyBound({ ...bound, public_key: otherKey }, { time })],
      ["monitor.unknown_key"],
    ],
    [
      "a key of another agent",
      [entryOf.keyBound({ ...bound, agent_id: "other", public_key: otherKey }, { time })],
      [],
    ],
    [
      "an unknown receipt by a watched key",
      [signedBy(key, { agent_id: "x" }, "t")],
      ["monitor.unknown_receipt"],
    ],
    [
      "an unknown receipt of a watched agent",
      [signedBy(otherKey, { agent_id: "agent" }, "t")],
      ["monitor.unknown_receipt"],
    ],
    ["a receipt of others", [signedBy(otherKey, { agent_id: "x" }, "t")], []],
    [
      "a settlement of no known task",
      [entryOf.settlement({ ...record, task_id: "t" }, { time })],
      ["monitor.unknown_settlement"],
    ],
    ["a settlement of others", [entryOf.settlement({ payee_id: "x", task_id: "t" }, { time })], []],
    ["a second receipt of a known task", [known, known], ["monitor.twice"]],
    ["a second settlement of a known task", [settled, settled], ["monitor.twice"]],
    [
      "a second settlement of a known task to another payee",
      [settled, entryOf.settlement({ ...record, payee_id: "x" }, { time })],
      ["monitor.twice"],
    ],
    [
      "a second outcome of a known task",
      [1, 2].map((share) =>
        entryOf.outcome({ ...outcome, share } as never, { time, agentId: "x" }),
      ),
      ["monitor.twice"],
    ],
    [
      "no-shows of a known task, of which there may be several",
      [1, 2].map(() => entryOf.noShow(noShow, { time })),
      [],
    ],
    ["an entry of 89 bytes", [known.slice(1)], ["log.entry_malformed"]],
  ])("a scan of %s has its alarms", (_, entries, codes) => {
    const { alarms } = scanEntries(entries, watched);
    expect(alarms.map(({ code }) => code)).toEqual(codes);
  });

  test("a scan of entries remembers what it saw, and counts indexes from where it began", () => {
    const first = scanEntries([known, settled], watched);
    const second = scanEntries([known], watched, { first: 40, seen: first.seen });
    expect(second.alarms).toEqual([{ code: "monitor.twice", index: 40 }]);
    expect(scanEntries([known], watched, { first: 40 }).alarms).toEqual([]);
  });

  test("a scan of entries knows the task of a known receipt, in this scan and in later ones", () => {
    const { knownArtifacts } = watched;
    const receiptsOnly = { ...watched, knownArtifacts: new Set(knownArtifacts), knownRefs: [] };
    expect(scanEntries([settled], receiptsOnly).alarms).toMatchObject([
      { code: "monitor.unknown_settlement" },
    ]);
    const { alarms, seen } = scanEntries([known], receiptsOnly);
    expect(alarms).toEqual([]);
    const later = scanEntries([settled, settled, known], receiptsOnly, { first: 1, seen });
    expect(later.alarms).toEqual([
      { code: "monitor.twice", index: 2 },
      { code: "monitor.twice", index: 3 },
    ]);
  });

  test.each([
    ["in the same scan", (entries: readonly Uint8Array[]) => [entries]],
    ["in a later scan", (entries: readonly Uint8Array[]) => entries.map((entry) => [entry])],
  ])(
    "TL14 a scan of a known receipt that is entered for a second task %s knows neither that task nor its pay",
    (_, split) => {
      const again = signedBy(key, receipt, "another task");
      const paid = entryOf.settlement({ ...record, task_id: "another task" }, { time });
      const receiptsOnly = { ...watched, knownRefs: [] };
      const alarms: EntryAlarm[] = [];
      let [first, seen]: [number, readonly string[]] = [0, []];
      for (const entries of split([known, settled, again, paid])) {
        const scan = scanEntries(entries, receiptsOnly, { first, seen });
        alarms.push(...scan.alarms);
        [first, seen] = [first + entries.length, scan.seen];
      }
      expect(alarms).toEqual([
        { code: "monitor.twice", index: 2 },
        { code: "monitor.unknown_settlement", index: 3 },
      ]);
    },
  );

  test("TL14 a scan of entries remembers as much of a known receipt that is entered for 100 tasks as for one", () => {
    const receiptsOnly = { ...watched, knownRefs: [] };
    const others = Array.from({ length: 99 }, (_, at) => signedBy(key, receipt, `task ${at}`));
    const { alarms, seen } = scanEntries([known, ...others], receiptsOnly);
    expect(alarms.map(({ code }) => code)).toEqual(Array(99).fill("monitor.twice"));
    expect(seen).toEqual(scanEntries([known], receiptsOnly).seen);
  });

  const orders = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ] as const;
  const decided = (share: number) =>
    entryOf.outcome({ ...outcome, share } as never, { time, agentId: "agent" });
  test.each([
    ["two outcomes", [known, decided(1), decided(2)], 1],
    [
      "a settlement to another agent and one to the payee",
      [known, entryOf.settlement({ ...record, payee_id: "x" }, { time }), settled],
      1,
    ],
    ["one settlement and one outcome", [known, settled, decided(1)], 0],
    [
      "two settlements of another task that is not watched",
      [known, ...[1, 2].map(() => entryOf.settlement({ payee_id: "x", task_id: "t" }, { time }))],
      0,
    ],
  ] as const)(
    "TL11 a scan of a known receipt and %s has its alarms in any order",
    (_, entries, count) => {
      for (const order of orders) {
        const { alarms } = scanEntries(
          order.map((at) => entries[at]!),
          { ...watched, knownRefs: [] },
        );
        expect(alarms.map(({ code }) => code)).toEqual(Array(count).fill("monitor.twice"));
      }
    },
  );

  test("a scan of entries counts entries of kinds that it does not know", () => {
    const strange = known.with(1, 99);
    expect(scanEntries([strange, known], watched)).toMatchObject({ unknownKinds: 1, alarms: [] });
  });
});
