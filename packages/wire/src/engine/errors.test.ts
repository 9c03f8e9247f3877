import { describe, expect, test } from "vitest";
import { buildErrorBody, errors, refuse, type Code } from "./errors.ts";

const codes = Object.keys(errors) as Code[];

describe("the specification's errors", () => {
  test.each<[number, Code, string]>([
    [400, "request.invalid", "Invalid request"],
    [400, "agent.succession_invalid", "Invalid key succession"],
    [400, "receipt.malformed", "Invalid receipt structure"],
    [400, "receipt.span", "timestamp out of range"],
    [400, "receipt.task_mismatch", "relay_task_id"],
    [401, "auth.missing", "Missing authorization"],
    [401, "auth.malformed_token", "Invalid token"],
    [401, "auth.expired_token", "Invalid token"],
    [401, "auth.verification_failed", "Token verification failed"],
    [
      402,
      "budget.insufficient",
      "Insufficient funds: deposit to the account or pay via the service",
    ],
    [403, "auth.unknown_token", "Invalid token"],
    [403, "auth.device_not_authorized", "Device not authorized for this agent"],
    [403, "receipt.signature_invalid", "signature verification failed"],
    [403, "receipt.suite", "suite"],
    [404, "agent.not_found", "not found"],
    [404, "device.not_found", "not found"],
    [404, "listing.not_found", "not found"],
    [404, "task.not_found", "not found or expired"],
    [409, "agent.key_changed", "Public key changed - succession record required"],
    [429, "rate.exceeded", "Rate limit exceeded"],
  ])("%i %s: %s", (status, code, text) => {
    expect(errors[code].status).toBe(status);
    expect(errors[code].text).toContain(text);
  });
});

describe("the table of errors", () => {
  test.each(codes)("%s is noun.reason with a client's or a server's status and a text", (code) => {
    expect(code).toMatch(/^[a-z]+\.[a-z]+(_[a-z]+)*$/);
    const { status, text } = errors[code];
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect(text).not.toBe("");
  });
});

describe("the body of an error", () => {
  test("says one text twice, with code, status and request id", () => {
    expect(buildErrorBody(refuse("task.not_found"), "r-1")).toEqual({
      error: "Task not found or expired",
      message: "Task not found or expired",
      code: "task.not_found",
      status: 404,
      request_id: "r-1",
    });
  });

  test("appends the detail, and names issues and the seconds to wait where there are any", () => {
    const issues = [{ path: "limit", message: "has to be a whole number from 1 to 200" }];
    const refusal = { ...refuse("request.invalid", "limit"), issues, retryAfterSeconds: 7 };
    expect(buildErrorBody(refusal, "r-1")).toMatchObject({
      error: "Invalid request: limit",
      message: "Invalid request: limit",
      issues,
      retry_after: 7,
    });
  });
});
