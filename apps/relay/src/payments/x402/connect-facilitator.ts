import type { Services } from "../../services.ts";

/** Nobody waits for it: a facilitator that is down must not hold up a start. */
export async function connectFacilitator({
  facilitator,
}: Pick<Services, "facilitator">): Promise<void> {
  void facilitator?.connect();
}
