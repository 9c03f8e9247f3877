import { describe, expect, test } from "vitest";
import { buildErrorBody, refuse } from "./refusal.ts";

describe("the body of an error", () => {
  test("the body of an error has the same text as error and message, and the code, status and request id", () => {
    expect(buildErrorBody(refuse("task.not_found"), "r-1")).toEqual({
      error: "Task not found or expired",
      message: "Task not found or expired",
      code: "task.not_found",
      status: 404,
      request_id: "r-1",
    });
  });

  test("the body of an error has the detail, and issues and the seconds to wait where the refusal has them", () => {
    const issues = [{ path: "limit", message: "must be a whole number from 1 to 200" }];
    const refusal = { ...refuse("request.invalid", "limit"), issues, retryAfterSeconds: 7 };
    expect(buildErrorBody(refusal, "r-1")).toMatchObject({
      error: "Invalid request: limit",
      message: "Invalid request: limit",
      issues,
      retry_after: 7,
    });
  });
});
