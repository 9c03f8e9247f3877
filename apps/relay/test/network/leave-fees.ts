import type { TestAgent } from "@agent/testkit";
import { createReceipt } from "../test-relay.ts";
import type { TestSite } from "./network.ts";

/**
 * Lets a payer buy tasks for 1 USD at its relay, each of which leaves the fees within which one failed task
 * counts for strangers. The payer is given the money, so its balance does not change.
 */
export async function leaveFees(site: TestSite, payer: TestAgent, times = 1): Promise<void> {
  const seller = await site.createWorker(1, "other");
  await site.deposit(payer, times);
  const path = `/agent/${seller.agentId}/task`;
  for (let done = 0; done < times; done += 1) {
    const { body } = await site.as(payer, "POST", path, { prompt: "work" });
    const task = {
      task_id: String(body["task_id"]),
      prompt: "work",
      submitted_at: site.clock.now(),
    };
    const receipt = createReceipt(seller, task);
    const result = await site.as(seller, "POST", `${path}/${task.task_id}/result`, receipt);
    if (result.status !== 200) throw new Error(`a task was not paid: ${result.status}`);
  }
}
