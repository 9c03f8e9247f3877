import { expect, test } from "vitest";
import { summarizeReceipt } from "../index.ts";

test("a receipt is summarized by its agent, its task and the first 16 characters of its signature", () => {
  const told = {
    task_id: "task",
    agent_id: "agent",
    device_id: "device",
    status: "completed",
    tools_used: ["search"],
  };
  const receipt = { ...told, result: "s3cret", signature: "IWMiGta5gSiusivb-and-so-on" };
  expect(summarizeReceipt(receipt)).toEqual({ ...told, signature_prefix: "IWMiGta5gSiusivb" });
});
