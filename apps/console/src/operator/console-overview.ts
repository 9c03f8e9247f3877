import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { BodyOf } from "../shared/relay/call-relay.ts";
import type { LoadedAnswer } from "../shared/relay/use-answer.ts";

/** The overview of the relay, which the frame reads once for itself and the views. */
export const ConsoleOverview = createContext<LoadedAnswer<BodyOf<"getOverview">> | null>(null);

export function useOverview(): LoadedAnswer<BodyOf<"getOverview">> {
  const overview = useContext(ConsoleOverview);
  if (overview === null) throw new Error("the view is outside of the console");
  return overview;
}
