import { afterAll, beforeAll, expect, test, vi } from "vitest";

/** Records the calls of the real functions. */
const parsed = vi.fn<(value: unknown) => void>();
const written = vi.fn<(value: unknown) => void>();

const counted =
  <A extends [unknown, ...unknown[]], R>(
    count: (value: unknown) => void,
    real: (...args: A) => R,
  ) =>
  (...args: A): R => {
    count(args[0]);
    return real(...args);
  };

let openReceiptScene: (typeof import("../../test/receipt-fixture.ts"))["openReceiptFixture"];

beforeAll(async () => {
  vi.resetModules();
  vi.doMock("@agent/crypto", async (original) => {
    const real = await original<typeof import("@agent/crypto")>();
    return {
      ...real,
      canonicalize: counted(written, real.canonicalize),
      canonicalizeSigned: counted(written, real.canonicalizeSigned),
    };
  });
  vi.doMock("@agent/receipts", async (original) => {
    const real = await original<typeof import("@agent/receipts")>();
    return { ...real, parseReceipt: counted(parsed, real.parseReceipt) };
  });
  ({ openReceiptFixture: openReceiptScene } = await import("../../test/receipt-fixture.ts"));
});
afterAll(() => {
  vi.doUnmock("@agent/crypto");
  vi.doUnmock("@agent/receipts");
  vi.resetModules();
});

test("an incoming receipt is parsed and made canonical only once", async () => {
  const s = await openReceiptScene();
  try {
    const receipt = s.receipt();
    vi.clearAllMocks();
    expect(await s.post(receipt)).toMatchObject({ status: 200, body: { status: "completed" } });
    expect(parsed.mock.calls).toEqual([[receipt]]);
    const { prompt_hash } = receipt;
    const receipts = written.mock.calls.filter(
      ([value]) => (value as { prompt_hash?: unknown }).prompt_hash === prompt_hash,
    );
    expect(receipts).toEqual([[receipt]]);
  } finally {
    await s.t.close();
  }
});
