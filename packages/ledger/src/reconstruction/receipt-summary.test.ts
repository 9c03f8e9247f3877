import { expect, test } from "vitest";
import { summarizeReceipt } from "../index.ts";

test("a receipt is summarized by its agent, its task and the first 16 characters of its signature", () => {
  const summary = {
    task_id: "task",
    agent_id: "agent",
    device_id: "device",
    status: "completed",
    tools_used: ["search"],
  };
  const receipt = { ...summary, result: "s3cret", signature: "IWMiGta5gSiusivb-and-so-on" };
  expect(summarizeReceipt(receipt)).toEqual({ ...summary, signature_prefix: "IWMiGta5gSiusivb" });
});
