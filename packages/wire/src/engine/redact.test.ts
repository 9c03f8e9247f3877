import { expect, test } from "vitest";
import { createRedactor, REDACTED } from "./redact.ts";

const redact = createRedactor(["my-own-secret"]);

test.each([
  ["failed with my-own-secret", `failed with ${REDACTED}`],
  ["Authorization: Bearer abc", `Authorization: Bearer ${REDACTED}`],
  ["GET /x?access_token=abc&page=2", `GET /x?access_token=${REDACTED}&page=2`],
  ["password=hunter2", `password=${REDACTED}`],
  ["GITHUB_TOKEN=ghp_1, HOME=/root", `GITHUB_TOKEN=${REDACTED}, HOME=/root`],
  ['{"api_key": "k1", "page": 2}', `{"api_key": "${REDACTED}", "page": 2}`],
  ["the token ghp_0123456789abcdef is wrong", `the token ${REDACTED} is wrong`],
  ["token: ghp_0123456789abcdef", `token: ${REDACTED}`],
])("H7: the secret of %s is redacted", (text, clean) => {
  expect(redact(text)).toBe(clean);
});

test.each([
  "the token expired",
  "token: is required",
  "Unexpected token internationalization",
  "auth.unknown_token for /agent/01890000-0000-7000-8000-000000000001/task",
  "max_tokens 20000000000000000000",
])("H7: a text without a secret is not changed: %s", (text) => {
  expect(redact(text)).toBe(text);
});

test.each(["token ", "token=", 'token"', "token:\t", "a", "eyJ", "bearer "])(
  "H7: a hostile text of many %j is redacted in linear time",
  (piece) => {
    const text = piece.repeat(1_000_000 / piece.length);
    const start = process.threadCpuUsage();
    redact(text);
    const { user, system } = process.threadCpuUsage(start);
    expect((user + system) / 1_000).toBeLessThan(2_000);
  },
);

// The forms without surrounding words: each character that distinguishes a secret from an id.
test.each([
  ["bearer\u00a0abc", `bearer ${REDACTED}`],
  ["eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl", REDACTED],
  ["token=abc", `token=${REDACTED}`],
  ["'secret':'abc'", `'secret':'${REDACTED}'`],
  ['"secret":"abc"', `"secret":"${REDACTED}"`],
  ["cookie\t0123456789abcdef", `cookie\t${REDACTED}`],
])("H7: a secret without surrounding words is redacted: %s", (text, clean) => {
  expect(redact(text)).toBe(clean);
});
