import type { ReadonlySignal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { createEnvironment } from "@agent/client";
import type { RelayEvent } from "@agent/wire";
import type { HashRoute } from "../routing/hash-route.ts";
import type { RelayCaller } from "./call-relay.ts";
import type { EventFeed } from "./event-feed.ts";

/** Everything that a component needs to use the page's relay. */
export interface PageContext {
  readonly relay: RelayCaller;
  /** Absent if the page may not follow events. */
  readonly feed: EventFeed | undefined;
  readonly route: ReadonlySignal<HashRoute>;
  /** Whether the page may act now; otherwise it is read-only. */
  readonly mayAct: ReadonlySignal<boolean>;
}

/** The clock and the timers of the browser. */
export const browserEnvironment = createEnvironment({});

const Context = createContext<PageContext | null>(null);
export const PageContextProvider = Context.Provider;

export function usePageContext(): PageContext {
  const context = useContext(Context);
  if (context === null) throw new Error("the part is outside of a page");
  return context;
}

/** Returns the time in ms, and renders again at this interval. */
export function useNow(intervalMs: number): number {
  const [now, setNow] = useState(browserEnvironment.now());
  useEffect(
    () => browserEnvironment.schedule(intervalMs, () => setNow(browserEnvironment.now())),
    [now, intervalMs],
  );
  return now;
}

/** Calls a function for events whose type begins with one of these words; the words must not change. */
export function useRelayEvents(
  prefixes: readonly string[],
  listener: (event: RelayEvent) => void,
): void {
  const { feed } = usePageContext();
  const words = prefixes.join(" ");
  useEffect(
    () =>
      feed?.listen((event) => {
        if (words.split(" ").some((word) => word !== "" && event.type.startsWith(word)))
          listener(event);
      }),
    [feed, words, listener],
  );
}
