import { canonicalize, sha256Hex } from "@agent/crypto";
import { describe, expect, test } from "vitest";
import { hashArgs, redactToolCall } from "./index.ts";

describe("arguments", () => {
  test("the arguments of a call are replaced by the SHA-256 of their canonical JSON", () => {
    expect(hashArgs({ b: 1, a: [true] })).toBe(sha256Hex('{"a":[true],"b":1}'));
    expect(hashArgs({ a: [true], b: 1 })).toBe(hashArgs({ b: 1, a: [true] }));
    expect(hashArgs({ a: [true], b: 2 })).not.toBe(hashArgs({ b: 1, a: [true] }));
  });

  test("the arguments of a call must have a canonical JSON", () => {
    expect(() => hashArgs({ a: NaN })).toThrow("not finite");
    expect(() => hashArgs(undefined)).toThrow("not JSON");
  });
});

describe("redacted calls of tools", () => {
  const call = { tool: "search", args: { q: "s3cret" }, call_id: "c" };

  test("a redacted call of a tool keeps only the hash of its arguments", () => {
    const payload = redactToolCall(call);
    expect(payload).toEqual({ tool: "search", args_hash: hashArgs(call.args), call_id: "c" });
    expect(canonicalize(payload)).not.toContain("s3cret");
  });

  test("a redacted call of a tool keeps its step and no unknown members", () => {
    const more = { ...call, step_id: "s", result: "s3cret" };
    expect(redactToolCall(more)).toEqual({ ...redactToolCall(call), step_id: "s" });
  });
});
