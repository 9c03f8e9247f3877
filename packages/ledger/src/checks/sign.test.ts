import { canonicalize, fromBase64Url, hexToBytes, sha256Hex, verify } from "@agent/crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  alice,
  buildBody,
  buildSignedLedger,
  createSigner,
  timelineArbitrary,
} from "../../test/fixtures.ts";
import {
  hashTimeline,
  LEDGER_SPEC,
  type LedgerEvent,
  signLedger,
  type SignedLedger,
  verifyLedger,
} from "../index.ts";

const codeOf = (ledger: SignedLedger) => verifyLedger(ledger, { publicKey: alice.publicKey }).code;
const withEvents = (timeline: LedgerEvent[]) => ({ ...buildSignedLedger({ timeline }), steps: [] });

describe("signing", () => {
  test("signing adds spec, content_hash and signature to the body", () => {
    const { spec, content_hash, signature, ...rest } = buildSignedLedger();
    expect(rest).toEqual(buildBody());
    expect({ spec, content_hash }).toEqual({
      spec: LEDGER_SPEC,
      content_hash: hashTimeline(buildBody().timeline),
    });
    expect(signature).toMatch(/^[A-Za-z0-9_-]{85}[AQgw]$/);
  });

  test("the signature covers the 32 bytes of the hash and not its hex text", () => {
    const { content_hash, signature } = buildSignedLedger();
    const holds = (message: Uint8Array | string) =>
      verify(fromBase64Url(signature), message, hexToBytes(alice.publicKey));
    expect(holds(hexToBytes(content_hash))).toBe(true);
    expect(holds(content_hash)).toBe(false);
  });

  test("signing does not change the body and replaces an older hash and signature", () => {
    const before = Object.freeze({
      ...buildBody(),
      spec: "old",
      content_hash: "old",
      signature: "old",
    });
    expect(signLedger(before, alice.secretKey)).toEqual(buildSignedLedger());
    expect(before.spec).toBe("old");
  });

  test("signing a body without a canonical form throws", () => {
    const payload = { reason: "\udc00" };
    const timeline: LedgerEvent[] = [{ timestamp: 1, type: "plan_failed", payload }];
    expect(() => buildSignedLedger({ timeline })).toThrow("lone surrogate");
  });

  test("a signed ledger with any timeline is valid", () => {
    fc.assert(
      fc.property(timelineArbitrary, fc.integer({ min: 0, max: 255 }), (timeline, seed) => {
        const { publicKey, secretKey } = createSigner(seed);
        const another = createSigner((seed + 1) % 256).publicKey;
        const sent = JSON.stringify(signLedger(buildBody({ timeline, steps: [] }), secretKey));
        expect(verifyLedger(sent, { publicKey }).valid).toBe(true);
        expect(verifyLedger(sent, { publicKey: another }).valid).toBe(false);
      }),
    );
  });
});

describe("signed timelines", () => {
  const refused = "ledger.content_hash_mismatch";
  const some = timelineArbitrary.filter(({ length }) => length > 0);

  test("no event of a signed timeline can be removed without a refusal", () => {
    fc.assert(
      fc.property(some, fc.nat(), (timeline, pick) => {
        const ledger = withEvents(timeline);
        const rest = timeline.toSpliced(pick % timeline.length, 1);
        expect(codeOf({ ...ledger, timeline: rest })).toBe(refused);
      }),
    );
  });

  test("no event of a signed timeline can be swapped with another without a refusal", () => {
    fc.assert(
      fc.property(some, fc.nat(), fc.nat(), (timeline, one, two) => {
        const [left, right] = [one % timeline.length, two % timeline.length];
        const [first, second] = [timeline[left]!, timeline[right]!];
        fc.pre(canonicalize(first) !== canonicalize(second));
        const swapped = timeline.with(left, second).with(right, first);
        expect(codeOf({ ...withEvents(timeline), timeline: swapped })).toBe(refused);
      }),
    );
  });

  test("no event of a signed timeline can be changed in any member, even a new one, without a refusal", () => {
    fc.assert(
      fc.property(
        some,
        fc.nat(),
        fc.constantFrom("tool", "step_id", "title", "__proto__", "note"),
        fc.string({ minLength: 1 }),
        (timeline, pick, member, value) => {
          const index = pick % timeline.length;
          const event = structuredClone(timeline[index]!);
          Object.defineProperty(event.payload, member, {
            value,
            enumerable: true,
            configurable: true,
          });
          fc.pre(canonicalize(event) !== canonicalize(timeline[index]));
          const changed = timeline.with(index, event);
          expect(codeOf({ ...withEvents(timeline), timeline: changed })).toBe(refused);
        },
      ),
    );
  });

  test("no event can be added to a signed timeline without a refusal", () => {
    fc.assert(
      fc.property(timelineArbitrary, some, fc.nat(), (timeline, [event], pick) => {
        const longer = timeline.toSpliced(pick % (timeline.length + 1), 0, event!);
        expect(codeOf({ ...withEvents(timeline), timeline: longer })).toBe(refused);
      }),
    );
  });

  test("no event of a signed timeline can be moved to another ledger with a matching hash", () => {
    fc.assert(
      fc.property(timelineArbitrary, timelineArbitrary, (timeline, other) => {
        fc.pre(hashTimeline(timeline) !== hashTimeline(other));
        const { signature } = withEvents(timeline);
        expect(codeOf({ ...withEvents(other), signature })).toBe("ledger.signature_invalid");
      }),
    );
  });
});

describe("the content hash", () => {
  test("the content hash is the SHA-256 of the events' canonical texts joined with newlines", () => {
    const { timeline } = buildBody();
    const text = timeline.map((event) => canonicalize(event)).join("\n");
    expect(hashTimeline(timeline)).toBe(sha256Hex(text));
    expect(hashTimeline([])).toBe(sha256Hex(""));
  });

  test("the content hash does not depend on the order of members", () => {
    const shuffled = (value: object) =>
      fc
        .shuffledSubarray(Object.entries(value), { minLength: Object.keys(value).length })
        .map((entries) => Object.fromEntries(entries));
    fc.assert(
      fc.property(
        timelineArbitrary.chain((timeline) =>
          fc
            .tuple(
              ...timeline.map((event) =>
                shuffled(event.payload).chain((payload) => shuffled({ ...event, payload })),
              ),
            )
            .map((events) => [timeline, events as unknown as LedgerEvent[]] as const),
        ),
        ([timeline, events]) => {
          expect(hashTimeline(events)).toBe(hashTimeline(timeline));
        },
      ),
    );
  });

  test("the canonical texts that are joined contain no newline", () => {
    const text = fc.string({ unit: fc.constantFrom("\n", "\r", "\u2028", '"', "\\", "a") });
    fc.assert(
      fc.property(text, text, (name, value) => {
        expect(canonicalize({ [name]: value })).not.toContain("\n");
      }),
    );
  });

  test("the content hash of an event with a newline differs from that of two events", () => {
    const reason = (text: string): LedgerEvent => ({
      timestamp: 1,
      type: "plan_failed",
      payload: { reason: text },
    });
    const [prefix, suffix] = canonicalize(reason("|")).split("|") as [string, string];
    const forged = reason(`a${suffix}\n${prefix}b`);
    expect(hashTimeline([forged])).not.toBe(hashTimeline([reason("a"), reason("b")]));
  });
});
