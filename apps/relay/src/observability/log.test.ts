import { expect, test } from "vitest";
import fc from "fast-check";
import { createLog, type Log, type LogLevel, type LogOptions } from "./log.ts";

const time = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

function collect(options: Partial<LogOptions> = {}) {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const log = createLog({
    level: "debug",
    now: () => time,
    write: { stdout: (line) => stdout.push(line), stderr: (line) => stderr.push(line) },
    ...options,
  });
  return { log, stdout, stderr };
}

/** Parses the single line that `write` causes. */
function lineOf(write: (log: Log) => void, secrets: readonly string[] = []): unknown {
  const { log, stdout, stderr } = collect({ secrets });
  write(log);
  const lines = [...stdout, ...stderr];
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? "");
}

test("a line is one JSON object with ts, level, msg, service, correlationId and the event's fields", () => {
  const { log, stdout } = collect();
  log.info("settlement.created", { correlationId: "task-1", net: 1.9, fee: 0.1 });
  expect(stdout).toEqual([
    '{"ts":"2026-01-02T03:04:05.678Z","level":"info","msg":"settlement.created",' +
      '"service":"relay","correlationId":"task-1","net":1.9,"fee":0.1}',
  ]);
});

test("debug, info and warn are written to stdout and errors to stderr", () => {
  const { log, stdout, stderr } = collect();
  for (const level of ["debug", "info", "warn", "error"] as const) log[level](`at.${level}`);
  expect(stdout.map((line) => JSON.parse(line).level)).toEqual(["debug", "info", "warn"]);
  expect(stderr.map((line) => JSON.parse(line).level)).toEqual(["error"]);
});

test.each<[LogLevel, number]>([
  ["debug", 4],
  ["info", 3],
  ["warn", 2],
  ["error", 1],
])("the level %s writes %i of the four levels", (level, count) => {
  const { log, stdout, stderr } = collect({ level });
  for (const each of ["debug", "info", "warn", "error"] as const) log[each]("x");
  expect(stdout.length + stderr.length).toBe(count);
});

test("a child logger's fields are added to its lines, but a line's own fields take precedence", () => {
  const child = (log: Log) => log.child({ service: "federation", correlationId: "a", peer: "p" });
  expect(lineOf((log) => child(log).info("x"))).toMatchObject({
    service: "federation",
    correlationId: "a",
    peer: "p",
  });
  expect(lineOf((log) => child(log).info("x", { correlationId: "b" }))).toMatchObject({
    service: "federation",
    correlationId: "b",
  });
  expect(lineOf((log) => log.info("x"))).toMatchObject({ service: "relay", correlationId: "-" });
});

test("any text of a caller stays in one line, from which the same text can be parsed", () => {
  const text = fc.string({ unit: "binary", maxLength: 50 });
  fc.assert(
    fc.property(text, text, (id, value) => {
      const { log, stdout } = collect();
      log.info("x", { correlationId: id, value, nested: { [value]: [value] } });
      const line = stdout[0] ?? "";
      expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      const parsed: unknown = JSON.parse(line);
      // Text in the form of a credential is the subject of other tests.
      fc.pre(!line.includes("[redacted]"));
      expect(parsed).toMatchObject({ correlationId: id, value });
    }),
  );
});

test.each(["\n", "\r", "\u0085", "\u2028", "\u2029", "\u001b[2J", "\u009b2J", "\u007f"])(
  "the control sequence %j is escaped",
  (control) => {
    const { log, stdout } = collect();
    log.warn(`msg${control}`, { prompt: `a${control}b` });
    expect(stdout[0]).not.toContain(control);
    expect(JSON.parse(stdout[0] ?? "")).toMatchObject({ prompt: `a${control}b` });
  },
);

const jws = "eyJhbGciOiJFZERTQSJ9.eyJpc3MiOiJhIn0.c2lnbmF0dXJl";

test.each([
  ["authorization", "Basic abc"],
  ["Authorization", "abc"],
  ["token", "abc"],
  ["access_token", "abc"],
  ["apiToken", "abc"],
  ["passphrase", "abc"],
  ["secret", "abc"],
  ["webhook_secret", "abc"],
  ["private_key", "abc"],
  ["privateKeyHex", "abc"],
  ["secretKey", new Uint8Array(32)],
  ["seed", "abc"],
  ["cookie", "abc"],
])("the value of the member %s is never shown", (name, value) => {
  const hidden = { [name]: "[redacted]" };
  expect(lineOf((log) => log.info("x", { [name]: value }))).toMatchObject(hidden);
  expect(lineOf((log) => log.info("x", { in: [{ [name]: value }] }))).toMatchObject({
    in: [hidden],
  });
});

test.each(["token_id", "public_key", "task_id", "secrets_found", "signature"])(
  "the member %s shows its value",
  (name) => {
    expect(lineOf((log) => log.info("x", { [name]: "abc" }))).toMatchObject({ [name]: "abc" });
  },
);

test("a known secret is never shown in a message, a name, an error or within a text", () => {
  const secret = 'm4ster"\\\n';
  const { log, stdout, stderr } = collect({ secrets: [secret, ""] });
  log.info(`a${secret}b`, { correlationId: secret, path: `/x?y=${secret}&z`, [`p`]: [secret] });
  log.error("x", { error: new Error(`bad ${secret}`, { cause: secret }), at: { [secret]: 1 } });
  log.child({ bound: secret }).info("x");
  const lines = [...stdout, ...stderr];
  expect(lines).toHaveLength(3);
  for (const line of lines) {
    expect(line).not.toContain("m4ster");
    expect(line).toContain("[redacted]");
    expect(() => JSON.parse(line)).not.toThrow();
  }
});

test("a secret that contains a shorter one is redacted completely", () => {
  const line = lineOf((log) => log.info("x", { value: "abc-long" }), ["abc", "abc-long"]);
  expect(line).toMatchObject({ value: "[redacted]" });
});

test("the start of a secret is not shown where a long text is cut off", () => {
  const line = lineOf((log) => log.info("x", { value: `${"x".repeat(1_997)}s3cret` }), ["s3cret"]);
  expect(JSON.stringify(line)).not.toContain("s3c");
});

test.each([
  ["a bearer", "got Bearer abc.def~1 here", "got Bearer [redacted] here"],
  ["a signed token", `token ${jws}, refused`, "token [redacted], refused"],
])("%s within a text is redacted", (_, text, shown) => {
  expect(lineOf((log) => log.info("x", { text }))).toMatchObject({ text: shown });
});

test.each(["eyJ-", "eyJ.", "bearer ", "a.eyJ-.", "\u0085"])(
  "a megabyte of %j is logged in linear time",
  (unit) => {
    const text = unit.repeat(1_048_576 / unit.length);
    // Processor time, because other processes can delay this one.
    const start = process.threadCpuUsage();
    lineOf((log) => log.info("x", { text }));
    const { user, system } = process.threadCpuUsage(start);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  },
);

test("long texts, long lists, wide objects, deep nesting and cycles are cut", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  const { log, stdout } = collect();
  log.info("x", {
    text: "y".repeat(1_000_000),
    list: Array.from({ length: 10_000 }, () => "y"),
    wide: Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`m${n}`, n])),
    cycle,
  });
  expect(stdout[0]?.length).toBeLessThan(5_000);
  expect(JSON.parse(stdout[0] ?? "").cycle).toEqual({ self: { self: { self: "[nested]" } } });
});

test.each([
  [
    "an error",
    new RangeError("r", { cause: "c" }),
    { name: "RangeError", message: "r", cause: "c" },
  ],
  ["a system error", Object.assign(new Error("e"), { code: "EIO", secret: 1 }), { code: "EIO" }],
  ["bytes", new Uint8Array(32), "[32 bytes]"],
  ["a bigint", 10n, "10"],
  ["a number that JSON lacks", Number.NaN, "NaN"],
  ["a function", () => 1, "[function]"],
  ["a date", new Date(time), "2026-01-02T03:04:05.678Z"],
  ["a map", new Map([["a", 1]]), "[object]"],
  ["null", null, null],
  ["a boolean", false, false],
])("%s is logged as plain JSON", (_, value, shown) => {
  expect(lineOf((log) => log.info("x", { value }))).toMatchObject({ value: shown });
});

test("members of an error except name, message, code, stack and cause are left out", () => {
  const error = Object.assign(new Error("e"), { config: { headers: "h" } });
  expect(JSON.stringify(lineOf((log) => log.error("x", { error })))).not.toContain("config");
});

test("an undefined field is left out", () => {
  expect(lineOf((log) => log.info("x", { a: undefined, b: { c: undefined } }))).toEqual(
    lineOf((log) => log.info("x", { b: {} })),
  );
});
