import { afterEach, beforeEach, expect, test } from "vitest";
import { serveTestRelay, type ServedRelay } from "../../test/devices.ts";

let t: ServedRelay;
beforeEach(async () => {
  t = await serveTestRelay();
});
afterEach(() => t.close());

const get = (headers: Record<string, string> = {}) =>
  fetch(`${t.baseUrl}/openapi.json`, { headers });

test("H4: the contract is made once and may be cached by every client", async () => {
  const first = await get();
  expect(first.status).toBe(200);
  expect(first.headers.get("content-type")).toBe("application/json");
  expect(first.headers.get("cache-control")).toBe("public, max-age=300");
  const etag = first.headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
  const text = await first.text();
  expect(JSON.parse(text)).toMatchObject({ openapi: "3.1.0" });
  const again = await get();
  expect([again.headers.get("etag"), await again.text()]).toEqual([etag, text]);
});

test("H4: a caller that has the contract gets no second copy", async () => {
  const etag = (await get()).headers.get("etag") ?? "";
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    const answer = await get({ "if-none-match": known });
    expect([answer.status, await answer.text()]).toEqual([304, ""]);
    expect(answer.headers.get("etag")).toBe(etag);
  }
  expect((await get({ "if-none-match": '"other"' })).status).toBe(200);
});

test("H4: the contract is compressed for callers that can read it", async () => {
  const [plain, zipped] = await Promise.all(
    ["identity", "gzip"].map((coding) => get({ "accept-encoding": coding })),
  );
  const answers = [plain, zipped].map((answer) => answer?.headers.get("content-encoding"));
  expect(answers).toEqual([null, "gzip"]);
  expect(await zipped?.json()).toEqual(await plain?.json());
  expect(zipped?.headers.get("vary")).toBe("Accept-Encoding");
  const tags = [plain, zipped].map((answer) => answer?.headers.get("etag"));
  expect(new Set(tags).size).toBe(2);
  const known = await get({ "accept-encoding": "gzip", "if-none-match": tags[1] ?? "" });
  expect(known.status).toBe(304);
});
