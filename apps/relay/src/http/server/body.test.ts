import { loadJsonVectors } from "@agent/testkit";
import { limits } from "@agent/wire";
import { describe, expect, test } from "vitest";
import { parseJsonObject, readBodyText } from "./body.ts";

function requestOf(body: RequestInit["body"], headers: Record<string, string> = {}): Request {
  return new Request("http://relay.test/", {
    method: "POST",
    body: body ?? null,
    headers,
    duplex: "half",
  } as RequestInit);
}

/** Bytes that come in pieces, without a declared length. */
function streamOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: (() => {
      let next = 0;
      return (controller: ReadableStreamDefaultController<Uint8Array>) => {
        const piece = pieces[next++];
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      };
    })(),
  });
}

const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;
const ofBytes = (length: number) => `{"a":"${"x".repeat(length - 8)}"}`;

describe("a body's media type", () => {
  test.each([
    "application/json",
    "Application/JSON; charset=utf-8",
    "application/ld+json",
    "application/vnd.agent.v1+json ;v=1",
  ])("the relay accepts the media type %s", async (type) => {
    expect(await readBodyText(requestOf("{}", { "content-type": type }))).toEqual({
      ok: true,
      text: "{}",
    });
  });

  test("the relay accepts a body without a media type", async () => {
    const request = requestOf(new TextEncoder().encode("{}"));
    expect(request.headers.has("content-type")).toBe(false);
    expect(await readBodyText(request)).toMatchObject({ ok: true });
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/json5",
    "text/json",
    "application/xml",
  ])("the relay refuses the media type %s", async (type) => {
    expect(await readBodyText(requestOf("{}", { "content-type": type }))).toMatchObject({
      code: "request.media_type",
    });
  });

  test.each(["gzip", "br", "identity"])(
    "the relay refuses a body with %s encoding without reading it",
    async (encoding) => {
      const request = requestOf("{}", {
        "content-type": "application/json",
        "content-encoding": encoding,
      });
      expect(await readBodyText(request)).toMatchObject({ code: "request.media_type" });
      expect(request.bodyUsed).toBe(false);
    },
  );
});

describe("a body's size", () => {
  const json = { "content-type": "application/json" };

  test.each([limits.requestBytes, limits.requestBytes + 1])(
    "a body may have up to the limit and not more: %i bytes",
    async (length) => {
      const text = ofBytes(length);
      const expected =
        length > limits.requestBytes ? { code: "request.too_large" } : { ok: true, text };
      const bytes = new TextEncoder().encode(text);
      const declared = requestOf(bytes, { ...json, "content-length": String(length) });
      expect(await readBodyText(declared)).toMatchObject(expected);
      const pieces = [bytes.subarray(0, 1_000), bytes.subarray(1_000)];
      expect(await readBodyText(requestOf(streamOf(pieces), json))).toMatchObject(expected);
    },
  );

  test("the size of a body is counted in bytes, not in characters", async () => {
    const text = JSON.stringify("é".repeat(limits.requestBytes / 2));
    expect(await readBodyText(requestOf(text, json))).toMatchObject({ code: "request.too_large" });
  });

  test("the relay stops reading a body beyond the limit", async () => {
    let given = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        given += 1;
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    expect(await readBodyText(requestOf(endless, json))).toMatchObject({
      code: "request.too_large",
    });
    expect(given).toBeLessThan(25);
  });
});

describe("a body's bytes", () => {
  test("a body may arrive in chunks that end within a character", async () => {
    const bytes = new TextEncoder().encode('{"a":"\u{1f600}"}');
    const pieces = [...bytes].map((byte) => Uint8Array.of(byte));
    expect(await readBodyText(requestOf(streamOf(pieces)))).toEqual({
      ok: true,
      text: '{"a":"\u{1f600}"}',
    });
  });

  test.each([
    ["a byte that never occurs", [0xff]],
    ["an overlong form", [0xc0, 0xaf]],
    ["half a surrogate pair", [0xed, 0xa0, 0x80]],
    ["a character that is cut off", [0xe2, 0x82]],
  ])("the relay refuses a body that is not UTF-8: %s", async (_, bytes) => {
    const body = Uint8Array.from([0x22, ...bytes, 0x22]);
    expect(await readBodyText(requestOf(body))).toMatchObject({ code: "request.malformed_json" });
  });

  test("an incomplete body is refused as too late, and no failure is logged", async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("socket hang up")),
    });
    expect(await readBodyText(requestOf(broken))).toMatchObject({ code: "request.timeout" });
  });
});

describe("a body's text", () => {
  test.each(["", " ", "\n\t "])("the text %j is parsed as the empty object", (text) => {
    expect(parseJsonObject(text)).toEqual({ ok: true, value: {} });
  });

  test.each(["[]", "[{}]", '"x"', "1", "null", "true"])(
    "the parser refuses %s, which is not an object",
    (text) => {
      expect(parseJsonObject(text)).toMatchObject({ code: "request.invalid" });
    },
  );

  test("objects and arrays may be up to 64 levels deep", () => {
    expect(parseJsonObject(nested(64))).toMatchObject({ ok: true });
    expect(parseJsonObject(nested(65))).toMatchObject({ code: "request.too_deep" });
    const inArray = (levels: number) => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    expect(parseJsonObject(inArray(63))).toMatchObject({ ok: true });
    expect(parseJsonObject(inArray(64))).toMatchObject({ code: "request.too_deep" });
    expect(parseJsonObject(nested(200_000))).toMatchObject({ code: "request.too_deep" });
  });

  test("members of any name are kept, and the last one of two with the same name counts", () => {
    const parsed = parseJsonObject('{"__proto__":{"polluted":true},"a":1,"a":2}');
    expect(parsed.ok && Object.keys(parsed.value)).toEqual(["__proto__", "a"]);
    expect(parsed).toMatchObject({ value: { a: 2 } });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("the published JSON test cases are accepted or refused as they state, byte for byte", async () => {
    const wrong: string[] = [];
    for (const { name, bytes, expect: verdict } of loadJsonVectors()) {
      const read = await readBodyText(requestOf(Uint8Array.from(bytes)));
      const parsed = read.ok ? parseJsonObject(`{"member":${read.text}}`) : read;
      const taken = parsed.ok || parsed.code === "request.too_deep";
      if (verdict !== "any" && taken !== (verdict === "accept")) wrong.push(name);
    }
    expect(wrong).toEqual([]);
  });
});
