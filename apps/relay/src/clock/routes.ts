import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";

export function clockHandlers({
  clock,
  runtime,
}: Pick<Services, "clock" | "runtime">): Pick<Handlers, "acceptClock"> {
  return {
    acceptClock() {
      const moved_ms = clock.accept();
      return { status: 200, body: { now: runtime.now(), moved_ms } };
    },
  };
}
