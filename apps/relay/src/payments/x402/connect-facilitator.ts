import type { Services } from "../../services.ts";

/** Connects in the background, because a facilitator that is down must not delay the start. */
export async function connectFacilitator({
  facilitator,
}: Pick<Services, "facilitator">): Promise<void> {
  void facilitator?.connect();
}
