import { describe, expect, test } from "vitest";
import { errors, type Code } from "./errors.ts";

const codes = Object.keys(errors) as Code[];

describe("the errors of the specification", () => {
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
  ])("the error of status %i for %s has a text about %s", (status, code, text) => {
    expect(errors[code].status).toBe(status);
    expect(errors[code].text).toContain(text);
  });
});

describe("the table of errors", () => {
  test.each(codes)("%s is named noun.reason and has an error status and a text", (code) => {
    expect(code).toMatch(/^[a-z]+\.[a-z]+(_[a-z]+)*$/);
    const { status, text } = errors[code];
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect(text).not.toBe("");
  });
});
